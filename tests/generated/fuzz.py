"""Tries generated programs until the time is over or one fails, and says how many were refused and why.

The first failing program ends the search. It is shrunk, printed with its input and what differed, and saved to a file;
so is the program that was being tried if the process dies.
"""

import argparse
import faulthandler
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack, _pop_mode

from dycl import CompileError
from tests.generated.checking import check
from tests.generated.constructs import CONSTRUCTS, constructs_of
from tests.generated.programs import GeneratedProgram, programs

_BATCH = 200
_LIMIT = 10.0
_settings = settings(
    max_examples=_BATCH,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    print_blob=False,
)


class TooSlow(BaseException):
    """A program took longer than a generated one should."""


class _Over(BaseException):
    """The time is over."""


class Search:
    """A search for a program that fails, and the figures it gathers on the way."""

    def __init__(self, seconds: float, folder: Path) -> None:
        self._start = time.monotonic()
        self._seconds = seconds
        self._folder = folder
        self._next_report = 0.0
        self.tried = 0
        self.refused = 0
        self.slow = 0
        self.identifiers: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.constructs: Counter[str] = Counter()
        self.failing: GeneratedProgram | None = None

    def run(self, first_seed: int) -> Exception | None:
        """The error of the smallest failing program, or None if the time ends first."""
        batch = first_seed
        try:
            while True:
                seed(batch)(_settings(given(programs())(self._try)))()
                batch += 1
        except _Over:
            return None
        except Exception as error:
            return error

    def _try(self, program: GeneratedProgram) -> None:
        shrinking = self.failing is not None
        if not shrinking and self._elapsed() > self._seconds:
            raise _Over
        (self._folder / "running.py").write_text(_saved(program), encoding="utf-8")
        try:
            refused = _within(_LIMIT, lambda: check(program))
        except TooSlow:
            _leave_modes()
            if not shrinking:
                self.slow += 1
                (self._folder / f"slow_{self.slow}.py").write_text(_saved(program), encoding="utf-8")
            return
        except Exception:
            self.failing = program
            raise
        if not shrinking:
            self._count(program, refused)

    def _count(self, program: GeneratedProgram, refused: CompileError | None) -> None:
        self.tried += 1
        self.constructs.update(constructs_of(program.source))
        if refused is not None:
            self.refused += 1
            self.identifiers.update({problem.identifier for problem in refused.problems})
            self.reasons.update({f"{problem.identifier} {problem.reason}" for problem in refused.problems})
        if self._elapsed() > self._next_report:
            self._next_report = self._elapsed() + 30
            print(self.summary(), flush=True)

    def _elapsed(self) -> float:
        return time.monotonic() - self._start

    def summary(self) -> str:
        """One line of figures."""
        elapsed = self._elapsed()
        return (
            f"{elapsed / 60:5.1f} min  {self.tried} programs, {60 * self.tried / elapsed:.0f} a minute, "
            f"{self.refused} refused ({_percent(self.refused, self.tried)}), {self.slow} too slow"
        )

    def refusals(self) -> str:
        """How many programs were refused with each identifier, and the commonest reasons."""
        lines = [
            f"  {name}  {count:5}  {_percent(count, self.tried)}" for name, count in sorted(self.identifiers.items())
        ]
        lines += [f"  {count:5}  {reason}" for reason, count in self.reasons.most_common(20)]
        return "\n".join(lines)

    def histogram(self) -> str:
        """The share of programs that have each construct, rare ones first."""
        counts = sorted((self.constructs[name], name) for name in CONSTRUCTS)
        return "\n".join(f"  {_percent(count, self.tried):>6}  {name}" for count, name in counts)


def main() -> int:
    """The exit code: 1 if a program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long to search")
    parser.add_argument("--seed", type=int, help="where to start; the same seed tries the same programs")
    parser.add_argument("--histogram", action="store_true", help="print how many programs have each construct")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where programs are saved")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try a saved program again, nothing else")
    arguments = parser.parse_args()
    if arguments.replay is not None:
        return _replay(arguments.replay)
    first_seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    faulthandler.enable()
    sys.unraisablehook = lambda dropped: None if dropped.exc_type is TooSlow else sys.__unraisablehook__(dropped)
    torch.set_num_threads(1)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {first_seed}, programs are saved in {arguments.folder}")
    search = Search(60 * arguments.minutes, arguments.folder)
    error = search.run(first_seed)
    print(f"\n{search.summary()}")
    if search.refused:
        print(f"\nrefused\n{search.refusals()}")
    if arguments.histogram:
        print(f"\nconstructs\n{search.histogram()}")
    if error is None:
        print("\nno program failed")
        return 0
    if search.failing is None:
        raise error
    file = arguments.folder / f"failed_{first_seed}.py"
    text = _saved(search.failing) + "".join(f"# {line}\n" for line in f"{type(error).__name__}: {error}".split("\n"))
    file.write_text(text, encoding="utf-8")
    print(f"\n{text}\nsaved as {file}; try it again with --replay {file}")
    return 1


def _replay(file: Path) -> int:
    """The exit code of trying the program in a file that was saved."""
    heading, _, source = file.read_text(encoding="utf-8").partition("\n")
    try:
        refused = check(GeneratedProgram(source, int(heading.rpartition(" ")[2])))
    except AssertionError as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    print(refused or "the program does what eager PyTorch does")
    return 0


def _within(seconds: float, action: Callable[[], CompileError | None]) -> CompileError | None:
    """What the action gives; TooSlow if it takes more of the processor's time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)  # again and again, since Python drops errors inside of callbacks
    try:
        return action()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _leave_modes() -> None:
    """Switch off what a program that was stopped inside of PyTorch has left on."""
    while _get_current_dispatch_mode_stack():
        _pop_mode()


def _saved(program: GeneratedProgram) -> str:
    return f"# weights and inputs of seed {program.seed}\n{program.source}"


def _percent(count: int, total: int) -> str:
    return f"{100 * count / max(1, total):.1f}%"
