"""Measures network after network, each in a process of its own, and keeps what is done.

A result is a file of its own, named after its settings; what is there with the same settings is not measured again.
The weights of a network are made once, for all processes that measure it in this size.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dycl.bench.machine import description
from dycl.bench.settings import Settings

Progress = Callable[[Settings, str, int, int], None]
Record = dict[str, Any]


def run(plan: Sequence[Settings], folder: Path, progress: Progress) -> list[Record]:
    """The figures of all networks of the plan, measured now or before."""
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    with tempfile.TemporaryDirectory() as weights:
        for settings in plan:
            file = folder / f"{settings.label}.json"
            record = _known(file, settings)
            if record is None:
                record = measured(settings, Path(weights), progress) | {"machine": description()}
                unfinished = file.with_suffix(".new")
                unfinished.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
                unfinished.replace(file)
            records.append(record)
    return records


def _known(file: Path, settings: Settings) -> Record | None:
    if not file.exists():
        return None
    record: Record = json.loads(file.read_text(encoding="utf-8"))
    return record if record["settings"] == asdict(settings) else None


def measured(settings: Settings, weights: Path, progress: Progress) -> Record:
    """The figures of one network, from a new process; one that dies is a result, too."""
    file = weights / f"{settings.network}-{settings.size}.pt"
    command = [sys.executable, "-W", "ignore", "-m", "dycl.bench.trial", json.dumps(asdict(settings)), str(file)]
    environment = os.environ | {
        "OMP_NUM_THREADS": str(settings.threads),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    said: list[str] = []
    # PyTorch's exporter prints on standard output, too, and more than a pipe holds.
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        subprocess.Popen(command, stdout=printed, stderr=subprocess.PIPE, text=True, env=environment) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
                progress(settings, parts[0], int(parts[1]), int(parts[2]))
            else:
                said.append(line)
        process.wait()
        printed.seek(0)
        output = printed.read()
    if process.returncode != 0:
        last = said[-1].strip() if said else "no message"
        return {"settings": asdict(settings), "failed": f"exit code {process.returncode}: {last}"}
    record: Record = json.loads(output.splitlines()[-1])
    return record
