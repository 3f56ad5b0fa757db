"""Virtual environments, one for each pair of versions, and what is run in them."""

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.versions.matrix import Pair, constraints_for

ROOT = Path(__file__).parents[2]
GIBIBYTE = 2**30
ROOM = 10 * GIBIBYTE
"""What an environment may take while it is made: most builds of PyTorch bring those of CUDA's libraries."""


class NotRun(Exception):
    """Why a pair of versions could not be tried."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one pair of versions; `problem` says why if it failed by more than tests."""

    python: str
    torch: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    problem: str | None = None

    @property
    def good(self) -> bool:
        """Whether something ran and nothing failed."""
        return self.problem is None and self.failed == 0 and self.passed > 0


def find_python(version: str) -> Path:
    """An interpreter of this version that can make virtual environments."""
    for candidate in _interpreters(version):
        asked = subprocess.run(
            [candidate, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == version:
            return candidate
    raise NotRun(f"no Python {version} with venv on the PATH, nor among those of pyenv and uv")


def _interpreters(version: str) -> Iterator[Path]:
    yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    yield from sorted(uv.glob(f"cpython-{version}.*/bin/python{version}"))


def set_up(pair: Pair, folder: Path) -> Path:
    """The programs of an environment with this pair's versions, and with this checkout installed in it."""
    programs = folder / "bin"
    if not (programs / "python").exists():
        python = find_python(pair.python)
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if free < ROOM:
            raise NotRun(f"{free / GIBIBYTE:.0f} GiB are free, an environment may take {ROOM / GIBIBYTE:.0f}")
        _do(python, "-m", "venv", folder)
    constraints = folder / "constraints.txt"
    constraints.write_text(constraints_for(pair, (ROOT / "constraints.txt").read_text("utf-8")), "utf-8")
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--progress-bar", "off")
    _do(programs / "python", *install, "-c", constraints, "-e", ".[dev]")
    return programs


def _do(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        said = done.stdout.strip().splitlines()
        raise NotRun(f"`{' '.join(map(str, command[1:4]))}` failed: {said[-1] if said else done.returncode}")


def run_tests(programs: Path, tests: Sequence[str]) -> Outcome:
    """What pytest says of these tests, or of all and of the demo if there are none; what it prints is shown."""
    versions = "import platform, torch; print(platform.python_version(), torch.__version__)"
    python, torch = subprocess.check_output([programs / "python", "-c", versions], text=True).split()
    report = programs.parent / "results.xml"
    report.unlink(missing_ok=True)
    start = time.monotonic()
    pytest = (programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", report)
    workers = () if tests else ("-n", "auto", "--maxprocesses", "4")
    code = subprocess.run([*pytest, *workers, *tests], cwd=ROOT, check=False).returncode
    passed, failed, skipped = read_counts(report) if report.exists() else (0, 0, 0)
    problem = f"pytest ended with exit code {code}" if code != 0 and not failed else None
    if not tests:
        demo = subprocess.run([programs / "dycl", "demo"], cwd=ROOT, check=False).returncode
        if demo != 0 and problem is None:
            problem = f"`dycl demo` ended with exit code {demo}"
    return Outcome(python, torch, passed, failed, skipped, time.monotonic() - start, problem)


def read_counts(report: Path) -> tuple[int, int, int]:
    """How many tests passed, failed and were skipped, by pytest's report."""
    (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
    total, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    return total - failed - skipped, failed, skipped
