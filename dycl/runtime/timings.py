"""How long a compilation took."""


class Timings(dict[str, float]):
    """How many seconds each stage of a compilation took, by its name; empty for a program from a file."""

    def __init__(self) -> None:
        super().__init__()
        self.explorations: list[str] = []
        """How often the model was explored: for each time, how many blocks ran, and what was learnt."""

    def __str__(self) -> str:
        lines = [f"{stage:<10} {seconds:8.2f} s" for stage, seconds in self.items()]
        if self.explorations:
            times = f"explored {len(self.explorations)} time{'' if len(self.explorations) == 1 else 's'}"
            lines.append(f"{times}: {'; '.join(self.explorations)}")
        return "\n".join(lines)
