"""Writes the conformance cases anew: `python -m tests.conformance.make`."""

import json
import math
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dycl.hcfg.nodes import Hcfg, Return, Run
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Structure, Table
from dycl.hcfg.types import carrier
from dycl.runtime.artefact import write
from dycl.runtime.weight_store import Array, array_dtype
from tests.conformance import control_cases, value_cases  # noqa: F401  They add their cases to the list.
from tests.conformance.building import CASES
from tests.conformance.case import Breaks, Call, Fails, Raises, Refused, Reset, Returns
from tests.hand_built import span

FOLDER = Path(__file__).parent / "cases"
PAGE = Path(__file__).parents[2] / "docs" / "artefact.md"
EXAMPLE = re.compile(r"(?<=<!-- example -->\n).*(?=<!-- end of example -->)", re.DOTALL)
WIDTH = 118


def main() -> None:
    """Nothing; the cases are in their folder afterwards, and one of them in the specification."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    write_cases(FOLDER)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(EXAMPLE.sub(lambda _: example(), page), encoding="utf-8")


def write_cases(folder: Path) -> None:
    """Nothing; each case is in a folder of its own inside `folder` afterwards."""
    for make in CASES:
        case = make()
        own = folder / case.name
        own.mkdir(parents=True)
        write(case.artefact, own / "model.dycl")
        calls = [_described(call, number, case.artefact.hcfg, own) for number, call in enumerate(case.calls)]
        (own / "calls.json").write_text(laid_out({"about": case.about, "calls": calls}) + "\n", encoding="utf-8")


def example() -> str:
    """The JSON members of the case `branch` as the specification shows them."""
    with zipfile.ZipFile(FOLDER / "branch" / "model.dycl") as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name.endswith(".json")}
    return "\n".join(f"`{name}`:\n\n```json\n{laid_out(json.loads(data))}\n```\n" for name, data in members.items())


def _described(call: Call, number: int, hcfg: Hcfg, folder: Path) -> dict[str, Any]:
    """A call as `calls.json` has it; its arrays are in files of their own afterwards."""
    if isinstance(call, Reset):
        return {"reset": True}
    dtypes = [carrier(parameter.type).dtype for parameter in hcfg.inputs]
    arrays = [
        np.asarray(value) if isinstance(value, np.ndarray | np.generic) else np.array(value, array_dtype(dtype))
        for value, dtype in zip(call.inputs, dtypes, strict=True)
    ]
    made = {"inputs": _saved(arrays, f"{number}.input", folder)}
    match call:
        case Returns(outputs=outputs, path=path):
            results = [np.asarray(value) for value in outputs]
            visits = [visit.partition("=") for visit in path.split()]
            end = hcfg.blocks[visits[-1][0]].terminator
            assert isinstance(end, Return)
            files = _saved(results, f"{number}.output", folder)
            return {**made, "outputs": files, "result": _result(end.structure, results), "trace": _trace(visits, hcfg)}
        case Raises(error=error, message=message, line=line):
            return {**made, "raises": {"error": error, "message": message, "place": str(span(line))}}
        case Fails(subnet=subnet):
            return {**made, "fails": subnet}
        case Breaks():
            return {**made, "breaks": True}
        case Refused():
            return {**made, "refused": True}


def _saved(arrays: Sequence[Array], name: str, folder: Path) -> list[str]:
    files = [f"{name}{index}.npy" for index in range(len(arrays))]
    for file, array in zip(files, arrays, strict=True):
        np.save(folder / file, array, allow_pickle=False)
    return files


def _trace(visits: list[tuple[str, str, str]], hcfg: Hcfg) -> dict[str, Any]:
    blocks = [hcfg.blocks[block] for block, _, _ in visits]
    return {
        "blocks": [block.id for block in blocks],
        "decisions": [
            {"block": block.id, "outcome": json.loads(outcome), "place": str(block.terminator.span)}
            for block, (_, _, outcome) in zip(blocks, visits, strict=True)
            if outcome
        ],
        "subnet_calls": sum(isinstance(step, Run) for block in blocks for step in block.steps),
    }


def _result(structure: Structure, outputs: Sequence[Array], row: int | None = None) -> Any:
    """The arranged result in the words of `calls.json`."""

    def inside(items: Sequence[Structure]) -> list[Any]:
        return [_result(item, outputs, row) for item in items]

    match structure:
        case Slot(index=index, kind="tensor"):
            return {"output": index} if row is None else {"output": index, "row": row}
        case Slot(index=index, kind=("array" | "scalar") as kind):
            return {"output": index, "as": kind} if row is None else {"output": index, "row": row, "as": kind}
        case Slot(index=index, kind=kind):
            return {kind: _json((outputs[index] if row is None else outputs[index][row]).item())}
        case Static(value=value):
            return {"static": _json(value)}
        case Items(kind=kind, items=items):
            return {kind: inside(items)}
        case Table(type_name=type_name, keys=keys, items=items):
            return {"table": type_name, "items": [list(pair) for pair in zip(keys, inside(items), strict=True)]}
        case Record(kind=kind, type_name=type_name, fields=fields, items=items):
            pairs = [list(pair) for pair in zip(fields, inside(items), strict=True)]
            return {"record": kind, "type": type_name, "items": pairs}
        case Named(name=name):
            return {"named": name}
        case Rows(length=length, item=item):
            return {"list": [_result(item, outputs, number) for number in range(len(outputs[length]))]}


def _json(value: Any) -> Any:
    return {"float": str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def laid_out(value: Any, indent: int = 0) -> str:
    """A JSON text in which everything that fits a line is on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {laid_out(item, indent + 2)}" for key, item in value.items()]
    else:
        items = [laid_out(item, indent + 2) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(inner + item for item in items) + "\n" + " " * indent + closing


if __name__ == "__main__":
    main()
