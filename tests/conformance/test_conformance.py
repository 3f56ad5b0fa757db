"""The Python host and a reader that was written from the specification alone pass every conformance case."""

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dycl.hcfg.structure import Slot
from dycl.runtime import ArtefactError, InputError, ModelError, Program, load
from dycl.runtime.results import arrange
from tests.conformance.independent_reader import Reader, Stop, headers
from tests.conformance.make import EXAMPLE, FOLDER, PAGE, example, write_cases

CASES = sorted(path.name for path in FOLDER.iterdir())


def calls_of(name: str) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = json.loads((FOLDER / name / "calls.json").read_text(encoding="utf-8"))["calls"]
    return calls


def arrays_of(name: str, files: list[str]) -> list[Any]:
    return [np.load(FOLDER / name / file, allow_pickle=False) for file in files]


def same_array(given: Any, expected: Any) -> bool:
    """Whether two arrays are equal in type, shape and every bit, but for those that tell one NaN from another."""
    if (given.dtype, given.shape) != (expected.dtype, expected.shape):
        return False
    alike = given.view(np.uint8) if given.ndim else given.reshape(1).view(np.uint8)
    wanted = expected.view(np.uint8) if expected.ndim else expected.reshape(1).view(np.uint8)
    if np.array_equal(alike, wanted):
        return True
    return given.dtype.kind == "f" and bool(np.array_equal(given, expected, equal_nan=True))


class _Inputs:
    """The arrays of a call, as the values of its signature."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays

    def value(self, slot: Slot, row: int | None) -> object:
        array = self.arrays[slot.index]
        is_number = slot.kind != "tensor" and array.ndim == 0 and array.dtype in (np.bool_, np.int64, np.float64)
        return array.item() if is_number else array

    def length(self, index: int) -> int:
        return len(self.arrays[index])


class TestPythonHost:
    @pytest.mark.parametrize("name", CASES)
    def test_it_passes(self, name: str) -> None:
        program = load(FOLDER / name / "model.dycl")
        for call in calls_of(name):
            if "reset" in call:
                program.reset()
                continue
            inputs = arrays_of(name, call["inputs"])
            arguments: Any = arrange(program.hcfg.signature, _Inputs(inputs), {})
            args, kwargs = arguments
            if "outputs" in call:
                trace = program.trace(*args, **kwargs)
                outputs = arrays_of(name, call["outputs"])
                assert is_result(trace.outputs, call["result"], outputs)
                assert list(trace.path.blocks) == call["trace"]["blocks"]
                assert trace.subnet_calls == call["trace"]["subnet_calls"]
                assert [
                    {"block": taken.block, "outcome": taken.outcome, "place": str(taken.span)}
                    for taken in trace.path.decisions
                ] == call["trace"]["decisions"]
            else:
                self._does_not_return(program, args, kwargs, call)

    def _does_not_return(self, program: Program, args: Any, kwargs: Any, call: dict[str, Any]) -> None:
        with pytest.raises(Exception) as caught:
            program(*args, **kwargs)
        error = caught.value
        match call:
            case {"raises": {"error": name, "message": message, "place": place}}:
                assert f"  --> {place} in " in error.__notes__[0]
                if hasattr(builtins, name):
                    assert (type(error).__name__, error.args) == (name, (message,))
                else:
                    assert isinstance(error, ModelError)
                    assert name in error.reason
                    assert message in error.reason
            case {"fails": subnet}:
                assert isinstance(error, ModelError)
                assert error.reason.startswith(f"sub-DNN {subnet}, made from ")
            case {"breaks": True}:
                assert isinstance(error, ArtefactError)
                assert error.identifier == "DY101"
            case {"refused": True}:
                assert isinstance(error, InputError)
            case _:
                raise AssertionError(f"the case says nothing that this test knows: {call}")


def is_result(given: Any, expected: dict[str, Any], outputs: list[Any]) -> bool:
    """Whether a program's result is what a case says, containers and kinds of numbers included."""
    match expected:
        case {"output": index}:
            wanted = outputs[index] if "row" not in expected else np.array(outputs[index][expected["row"]])
            kind = np.generic if expected.get("as") == "scalar" else np.ndarray
            return isinstance(given, kind) and same_array(np.asarray(given), wanted)
        case {"static": value} | {"bool": value} | {"int": value} | {"float": value}:
            return is_number(given, value)
        case {"tuple": items}:
            return type(given) is tuple and are_results(given, items, outputs)
        case {"list": items}:
            return type(given) is list and are_results(given, items, outputs)
        case {"table": _, "items": items}:
            keys = [key for key, _ in items]
            return type(given) is dict and list(given) == keys and are_results(given.values(), _values(items), outputs)
        case {"record": kind, "type": type_name, "items": items}:
            if type(given).__name__ != type_name.rsplit(".", 1)[-1] or (kind == "namedtuple") != isinstance(
                given, tuple
            ):
                return False
            return are_results([getattr(given, field) for field, _ in items], _values(items), outputs)
        case {"named": name}:
            return bool(str(given) == name)  # where PyTorch is loaded, an element type is PyTorch's own
    return False


def _values(pairs: list[Any]) -> list[Any]:
    return [value for _, value in pairs]


def are_results(given: Any, expected: list[Any], outputs: list[Any]) -> bool:
    return len(given) == len(expected) and all(
        is_result(item, wanted, outputs) for item, wanted in zip(given, expected, strict=True)
    )


def is_number(given: Any, expected: Any) -> bool:
    wanted = float(expected["float"]) if isinstance(expected, dict) else expected
    return type(given) is type(wanted) and repr(given) == repr(wanted)


class TestIndependentReader:
    @pytest.mark.parametrize("name", CASES)
    def test_it_passes(self, name: str) -> None:
        reader = Reader(FOLDER / name / "model.dycl")
        for call in calls_of(name):
            if "reset" in call:
                reader.reset()
                continue
            inputs = arrays_of(name, call["inputs"])
            if "outputs" not in call:
                with pytest.raises(Stop) as caught:
                    reader.call(inputs)
                kind, what = caught.value.args
                assert call == {"inputs": call["inputs"], kind: what}
                continue
            values, result, trace = reader.call(inputs)
            outputs = arrays_of(name, call["outputs"])
            assert len(values) == len(outputs)
            assert all(same_array(given, expected) for given, expected in zip(values, outputs, strict=True))
            assert trace == call["trace"]
            assert is_tagged(result, call["result"], outputs)

    def test_it_refuses_a_changed_file(self, tmp_path: Path) -> None:
        data = (FOLDER / "branch" / "model.dycl").read_bytes()
        for position in (0, 40, len(data) // 2, len(data) - 1):
            (tmp_path / "model.dycl").write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
            with pytest.raises(Stop, match="file"):
                Reader(tmp_path / "model.dycl")

    @pytest.mark.parametrize("size", [0, 2**32 - 2, 2**32 - 1, 2**40])
    @pytest.mark.parametrize("offset", [0, 2**32 - 2, 2**32 - 1, 2**40])
    @pytest.mark.parametrize("name", ["hcfg.json", "weights.bin"])
    def test_its_headers_are_those_that_dycl_writes(self, name: str, size: int, offset: int) -> None:
        from dycl.runtime.zip_records import ZIP64_LIMIT, Entry, central_header, local_header

        entry = Entry(name, size, 0x12345678, offset)
        alignment = 64 if name == "weights.bin" else 1
        assert headers(name.encode(), size, 0x12345678, offset) == (
            local_header(entry, alignment, ZIP64_LIMIT),
            central_header(entry, ZIP64_LIMIT),
        )

    def test_it_uses_nothing_of_dycl_and_is_small(self) -> None:
        text = (Path(__file__).parent / "independent_reader.py").read_text(encoding="utf-8")
        assert "import dycl" not in text
        assert "from dycl" not in text
        assert len(text.splitlines()) < 250


def is_tagged(given: Any, expected: dict[str, Any], outputs: list[Any]) -> bool:
    """Whether a result of the independent reader is what a case says."""

    def all_tagged(items: Any, wanted: Any) -> bool:
        return len(items) == len(wanted) and all(map(is_tagged, items, wanted, [outputs] * len(items)))

    match expected, given:
        case {"output": index, "as": "scalar"}, ("scalar", np.generic() as number):
            row = expected.get("row")
            return same_array(np.array(number), np.array(outputs[index] if row is None else outputs[index][row]))
        case {"output": index}, np.ndarray() if expected.get("as") != "scalar":
            row = expected.get("row")
            return same_array(given, np.array(outputs[index] if row is None else outputs[index][row]))
        case {"table": name, "items": items}, ("table", type_name, pairs):
            keys = [key for key, _ in items] == [key for key, _ in pairs]
            return name == type_name and keys and all_tagged(_values(pairs), _values(items))
        case {"record": kind, "type": name, "items": items}, ("record", record, type_name, pairs):
            keys = [key for key, _ in items] == [key for key, _ in pairs]
            return (kind, name) == (record, type_name) and keys and all_tagged(_values(pairs), _values(items))
        case {"named": name}, ("named", given_name):
            return bool(name == given_name)
        case {"tuple": items}, ("tuple", parts):
            return all_tagged(parts, items)
        case {"list": items}, ("list", parts):
            return all_tagged(parts, items)
        case _, (("static" | "bool" | "int" | "float") as kind, number) if list(expected) == [kind]:
            return is_number(number, expected[kind])
    return False


class TestMaking:
    def test_making_the_cases_anew_gives_the_same_files(self, tmp_path: Path) -> None:
        write_cases(tmp_path / "cases")
        made = {path.relative_to(tmp_path / "cases"): path.read_bytes() for path in (tmp_path / "cases").rglob("*.*")}
        kept = {path.relative_to(FOLDER): path.read_bytes() for path in FOLDER.rglob("*.*")}
        assert made.keys() == kept.keys()
        assert [path for path in made if made[path] != kept[path]] == []

    def test_models_are_small(self) -> None:
        assert all(path.stat().st_size < 20_000 for path in FOLDER.rglob("model.dycl"))

    def test_the_specification_shows_a_real_example(self) -> None:
        found = EXAMPLE.search(PAGE.read_text(encoding="utf-8"))
        assert found is not None
        assert found[0] == example()
