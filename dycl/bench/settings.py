"""What one run of the benchmark is to do."""

from dataclasses import dataclass

from dycl.zoo import Size


@dataclass(frozen=True, slots=True)
class Settings:
    """How one network is measured, in one process.

    `inputs` are compared with eager PyTorch, of which the first `timed` are run in every way, in turns, for `seconds`
    or three rounds, whichever is longer. A way that takes more than `patience` seconds to get ready is given up.
    """

    network: str
    size: Size = "small"
    threads: int = 1
    backend: str = "onnxruntime"
    inputs: int = 1000
    timed: int = 50
    seconds: float = 15.0
    patience: float = 200.0
    seed: int = 1

    @property
    def label(self) -> str:
        """A name for files."""
        return f"{self.network}-{self.size}-{self.backend}-{self.threads}"
