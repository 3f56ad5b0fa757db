"""A program takes what runs its graph from a host, and asks it for arrays only."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from dycl.hcfg.nodes import Block, Hcfg, Parameter, Return, Target
from dycl.hcfg.structure import Items, Slot
from dycl.hcfg.types import HostType
from dycl.runtime import Artefact, CallResult, Host, Program, PythonHost, Visit, load
from dycl.runtime.weight_store import Array
from tests.hand_built import ROW, artefact_of, call_of, counting_loop, gated, span

ONES = np.ones((2, 3), np.float32)


class RecitingProgram:
    """A program that knows its lines: it gives one result after the other, whatever comes."""

    def __init__(self, results: Sequence[CallResult]) -> None:
        self.results = list(results)
        self.asked: list[tuple[Sequence[Array], object]] = []

    def run(self, inputs: Sequence[Array], kept: object | None = None, path: list[Visit] | None = None) -> CallResult:
        self.asked.append((inputs, kept))
        result = self.results.pop(0)
        if path is not None:
            path += (Visit("b0", True), Visit(result.block, None))
        return result


class RecitingHost:
    def __init__(self, *results: CallResult) -> None:
        self.program = RecitingProgram(results)
        self.threads = 0

    def open(self, artefact: Artefact, threads: int) -> RecitingProgram:
        self.threads = threads
        return self.program


def test_a_program_runs_on_the_host_it_is_given(tmp_path: Path) -> None:
    Program(gated()).save(tmp_path / "model.dycl")
    host = RecitingHost(CallResult("b1", [ONES * 9], None), CallResult("b2", [ONES, ONES[0], np.array(4)], None))
    assert isinstance(host, Host)
    program = load(tmp_path / "model.dycl", threads=3, host=host)
    assert host.threads == 3
    np.testing.assert_array_equal(program(ONES), ONES * 9)
    trace = program.trace(torch.ones(2, 3))
    assert isinstance(trace.outputs["row"], torch.Tensor)
    assert trace.outputs["count"] == 4
    assert trace.path.blocks == ("b0", "b2")
    assert [(taken.outcome, taken.span.line) for taken in trace.path.decisions] == [(True, 14)]
    assert trace.subnet_calls == 2


def test_a_host_needs_no_backend() -> None:
    artefact = gated()
    program = Program(artefact, host=RecitingHost(CallResult("b1", [ONES], None)))
    assert program.artefact is artefact
    np.testing.assert_array_equal(program(ONES), ONES)


def keeping() -> Artefact:
    """A program that returns what came in the call before, and first what comes."""
    x, before = Parameter("x", ROW), Parameter("before", ROW)
    whole = Slot(0, "tensor")
    first = Block("b0", (x,), (), Return(("x",), whole, span(1), Target("b1", ("x",))), span(1))
    later = Block("b1", (x, before), (), Return(("before",), whole, span(2), Target("b1", ("x",))), span(2))
    return artefact_of(Hcfg("Keeping", call_of(whole), (x,), "b0", {"b0": first, "b1": later}, {}), {})


def test_what_a_host_keeps_goes_back_to_it_until_it_says_otherwise() -> None:
    results = [CallResult("b0", [ONES], kept) for kept in ("one", None, "two")]
    host = RecitingHost(*results, *results)
    program = Program(keeping(), host=host)
    for _ in range(4):
        program(ONES)
    assert [kept for _, kept in host.program.asked] == [None, "one", "one", "two"]
    program.reset()
    program(ONES)
    assert host.program.asked[-1][1] is None


class TestPythonHost:
    def test_runs_share_nothing(self) -> None:
        hosted = PythonHost().open(keeping(), 1)
        first = hosted.run([ONES])
        second = hosted.run([ONES * 2], first.kept)
        for _ in range(2):  # What one call kept can begin any number of others.
            again = hosted.run([ONES * 3], first.kept)
            np.testing.assert_array_equal(again.outputs[0], ONES)
            again.outputs[0][:] = 7
        np.testing.assert_array_equal(hosted.run([ONES], second.kept).outputs[0], ONES * 2)

    def test_a_host_value_is_an_array_of_no_dimensions(self) -> None:
        path: list[Visit] = []
        result = PythonHost().open(counting_loop(), 1).run([np.array(2)], path=path)
        assert [(array.dtype, array.shape, array.item()) for array in result.outputs] == [
            (np.dtype("int64"), (), 3),
            (np.dtype("int64"), (), 0),
        ]
        assert (result.block, result.kept) == ("b2", None)
        assert path == [Visit("b0", True), Visit("b1", True), Visit("b1", False), Visit("b2", None)]

    @pytest.mark.parametrize(
        "array",
        [
            np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
            np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
            np.broadcast_to(np.float32(3), (2, 3)),
            np.frombuffer(b"x" + np.arange(6, dtype=np.float32).tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
        ],
        ids=["columns first", "strided", "broadcast", "unaligned"],
    )
    def test_inputs_may_lie_in_memory_as_they_like(self, array: Array) -> None:
        scaled = Program(gated())(array)
        np.testing.assert_array_equal(scaled, array * np.array([1, 2, 3], np.float32))

    def test_inputs_are_neither_changed_nor_held(self) -> None:
        x = ONES.copy()
        x.flags.writeable = False
        program = Program(keeping())
        first = program(x)
        first[:] = 5
        program(ONES * 2)[:] = 6
        np.testing.assert_array_equal(program(x), ONES * 2)
        np.testing.assert_array_equal(x, ONES)


def test_numbers_come_back_as_python_has_them() -> None:
    flag, count = Parameter("flag", HostType("bool")), Parameter("count", HostType("int"))
    pair = Items("tuple", (Slot(0, "bool"), Slot(1, "int")))
    block = Block("b0", (flag, count), (), Return(("flag", "count"), pair, span(1)), span(1))
    hcfg = Hcfg("Numbers", call_of(Slot(0, "bool"), Slot(1, "int")), (flag, count), "b0", {"b0": block}, {})
    result = Program(artefact_of(hcfg, {}))(True, -(2**63))
    assert result == (True, -(2**63))
    assert [type(item) for item in result] == [bool, int]
