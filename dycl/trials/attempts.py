"""Sub-DNNs tried by a backend in processes of their own: a crash or a hang costs a message, and the sub-DNN.

A process goes through them one after another. When it ends before its time, or is silent for too long, the one that it
was busy with is not for this backend, and another process goes on behind it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dycl.runtime.backend_registry import find_backend, is_registered_here
from dycl.trials.folder import Folder, Found, Task
from dycl.trials.trying import tried

_SILENT = 60.0
"""How many seconds a backend may take for one sub-DNN."""


def attempts(
    backend: str,
    tasks: Sequence[Task],
    threads: int,
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, left: None,
    silent: float = _SILENT,
    contained: bool = True,
) -> list[Found]:
    """How a backend fares with each of some sub-DNNs; calls are timed for about `seconds` each, or not at all for 0.

    A backend that only this process has registered is tried here, as is one that is not `contained`.
    """
    if not tasks:
        return []
    if not contained or is_registered_here(backend):
        return [tried(find_backend(backend), task, threads, seconds) for task in tasks]
    with tempfile.TemporaryDirectory(prefix="dycl-trial-") as path:
        folder = Folder(Path(path))
        folder.write(tasks)
        found = [Found() for _ in tasks]
        first = 0
        while first < len(tasks):
            ended = _run(folder, (backend, str(first), str(threads), str(seconds)), silent, len(tasks), progress)
            first = _read(folder, found, first, ended)
        for number, task in enumerate(tasks):
            found[number].outputs = dict(folder.outputs(number, task))
        return found


def _run(
    folder: Folder, arguments: Sequence[str], silent: float, count: int, progress: Callable[[int, int], None]
) -> str:
    """Let a process try tasks; how it ended, in words that are empty if all went well."""
    command = [sys.executable, "-m", "dycl.trials.child", str(folder.path), *arguments]
    log = folder.path / "log"
    with open(log, "wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=_environment())
    seen, since = len(folder.notes()), time.monotonic()
    try:
        while True:
            try:
                process.wait(0.02 if time.monotonic() - since < 1 else 0.2)
                break
            except subprocess.TimeoutExpired:
                notes = folder.notes()
                if len(notes) > seen:
                    seen, since = len(notes), time.monotonic()
                    progress(notes[-1].get("ended", notes[-1].get("begun", 0)), count)
                if time.monotonic() - since > silent:
                    return f"took more than {silent:g} s"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode == 0:
        return ""
    if process.returncode < 0:
        return f"crashed ({signal.Signals(-process.returncode).name})"
    last = log.read_text(errors="replace").strip().splitlines()
    return f"failed: {last[-1] if last else process.returncode}"


def _read(folder: Folder, found: list[Found], first: int, ended: str) -> int:
    """Take over what a process found; the task that another one has to begin with."""
    begun = -1
    for note in folder.notes():
        if "begun" in note:
            begun = int(note["begun"])
            continue
        number = int(note.pop("ended"))
        found[number] = Found(**{**note, "put": tuple(note["put"]), "take": tuple(note["take"])})
        begun = -1
    if not ended:
        return len(found)
    if begun < first:
        # It came to none of them, or ended badly behind all.
        for one in found[first:]:
            one.refused = one.refused or ended
        return len(found)
    found[begun].refused = ended
    return begun + 1


def _environment() -> dict[str, str]:
    """This process's environment, in which the same packages are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
