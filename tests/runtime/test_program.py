"""Programs run as their graphs say, and take and give arrays and PyTorch tensors."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
import torch
from onnx import helper

from dycl.hcfg.nodes import Block, Fail, Hcfg, Let, Literal, Parameter, Return, Run, Subnet
from dycl.hcfg.structure import Items, Slot
from dycl.hcfg.types import TensorType
from dycl.runtime import InputError, ModelError, Program
from tests.hand_built import ROW, artefact_of, call_of, counting_loop, forwarding, gated, onnx_code, routed, span

ONES = np.ones((2, 3), np.float32)


def failing(error: str, message: str) -> Program:
    block = Block("b0", (), (), Fail(error, message, span(4)), span(1))
    return Program(artefact_of(Hcfg("Failing", call_of(), (), "b0", {"b0": block}, {}), {}))


class TestRunning:
    def test_a_branch_goes_both_ways(self) -> None:
        program = Program(gated())
        np.testing.assert_array_equal(program(ONES), [[1, 2, 3], [1, 2, 3]])
        other = program(-ONES)
        assert list(other) == ["row", "why", "count"]
        np.testing.assert_array_equal(other["row"], ONES)
        assert other["count"] == 7
        assert type(other["count"]) is int

    def test_a_loop_of_many_rounds_needs_no_stack(self) -> None:
        total, left = Program(counting_loop())(n=10_000)
        assert total == 50_005_000
        assert type(left) is int
        assert left == 0

    def test_a_switch_takes_its_case_or_raises_the_users_error(self) -> None:
        program = Program(routed())
        assert program(0, True, 1.5, 2.5) == [1.5]
        assert program(1, True, 1.5, 2.5) == [2.5]
        with pytest.raises(IndexError, match=r"^list index out of range\n") as caught:
            program(2, True, 1.5, 2.5)
        assert str(caught.value) == "list index out of range"
        assert caught.value.__notes__ == ["  --> /models/net.py:8:9 in Net.forward"]

    def test_a_check_raises_the_users_error(self) -> None:
        with pytest.raises(AssertionError, match=r"^not ready\n"):
            Program(routed())(0, False, 1.5, 2.5)

    def test_a_path_that_fails_raises_the_users_error(self) -> None:
        with pytest.raises(ValueError, match=r"^no way\n"):
            failing("ValueError", "no way")()

    @pytest.mark.parametrize(
        "error", ["DecodingFailed", "SystemExit", "KeyboardInterrupt", "print", "UnicodeDecodeError", "__import__"]
    )
    def test_only_plain_built_in_exceptions_are_raised_by_name(self, error: str) -> None:
        with pytest.raises(ModelError, match=rf"^error\[DY104\]: the model raised {error} at /models/net.py:4:9: no"):
            failing(error, "no")()

    def test_a_subnet_that_fails_is_a_model_error(self) -> None:
        types = [TensorType("float32", (3,)), TensorType("int64", ())]
        code = onnx_code([helper.make_node("Gather", ["i0", "i1"], ["o0"])], types, [TensorType("float32", ())])
        x, index = Parameter("x", types[0]), Parameter("index", types[1])
        run = Run("net", ("x", "index"), ("y",), span(2))
        block = Block("b0", (x, index), (run,), Return(("y",), Slot(0, "tensor"), span(3)), span(1))
        subnet = Subnet("net", tuple(types), (TensorType("float32", ()),), "onnxruntime", "code", ())
        signature = call_of(Slot(0, "tensor"), Slot(1, "tensor"))
        hcfg = Hcfg("Gather", signature, (x, index), "b0", {"b0": block}, {"net": subnet})
        program = Program(artefact_of(hcfg, {"code": code}))
        assert program(np.arange(3, dtype=np.float32), np.array(1)) == 1
        with pytest.raises(ModelError, match=r"sub-DNN net, made from /models/net.py:2:9, failed"):
            program(np.arange(3, dtype=np.float32), np.array(5))

    def test_the_trace_tells_the_path(self) -> None:
        trace = Program(counting_loop()).trace(n=2)
        assert trace.path.blocks == ("b0", "b1", "b1", "b2")
        assert [(taken.outcome, taken.block, taken.span.line) for taken in trace.path.decisions] == [
            (True, "b0", 4),
            (True, "b1", 4),
            (False, "b1", 4),
        ]
        assert trace.subnet_calls == 3
        assert trace.outputs == (3, 0)
        assert str(trace) == (
            "path: 4 blocks, 3 decisions, 3 sub-DNN calls\n"
            "  b0 -> b1 -> b1 -> b2\n"
            "  /models/net.py:4:9: True (b0)\n"
            "  /models/net.py:4:9: True (b1)\n"
            "  /models/net.py:4:9: False (b1)"
        )

    def test_a_switch_is_traced_with_its_value(self) -> None:
        path = Program(routed()).trace(1, True, 1.5, 2.5).path
        assert path.blocks == ("b0", "b2", "b3")
        assert [taken.outcome for taken in path.decisions] == [1]

    def test_threads_may_call_at_the_same_time(self) -> None:
        program = Program(counting_loop())
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda n: program(n=n), range(100)))
        assert results == [(n * (n + 1) // 2, 0) for n in range(100)]

    def test_equal_subnets_share_a_session(self, monkeypatch: pytest.MonkeyPatch) -> None:
        artefact = gated()
        subnets = dict(artefact.hcfg.subnets)
        subnets["twin"] = dataclasses.replace(subnets["net1"], id="twin")
        opened: list[bytes] = []
        session = onnxruntime.InferenceSession

        def opening(code: bytes, *args: Any, **kwargs: Any) -> Any:
            opened.append(code)
            return session(code, *args, **kwargs)

        monkeypatch.setattr(onnxruntime, "InferenceSession", opening)
        Program(dataclasses.replace(artefact, hcfg=dataclasses.replace(artefact.hcfg, subnets=subnets)))
        assert sorted(opened) == sorted(artefact.codes.values())

    def test_the_public_calls_of_onnx_runtime_do_as_well(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dycl.runtime.onnxruntime.engine._direct_values", lambda: None)
        np.testing.assert_array_equal(Program(gated())(ONES), [[1, 2, 3], [1, 2, 3]])
        assert Program(counting_loop())(n=10) == (55, 0)
        other = Program(gated())(-ONES)
        other["why"][:] = 0


class TestMemory:
    def test_results_do_not_alias_weights(self) -> None:
        program = Program(gated())
        first = program(-ONES)
        first["why"][:] = 99
        second = program(-ONES)
        np.testing.assert_array_equal(second["why"], [1, 2, 3])
        np.testing.assert_array_equal(program(ONES), [[1, 2, 3], [1, 2, 3]])

    def test_results_do_not_alias_arguments(self) -> None:
        program = Program(forwarding(call_of(Slot(0, "tensor")), Slot(0, "tensor"), ROW))
        x = ONES.copy()
        result = program(x)
        result[:] = 5
        np.testing.assert_array_equal(x, ONES)
        tensor = torch.ones(2, 3)
        torch_result = program(tensor)
        torch_result[:] = 5
        assert torch.equal(tensor, torch.ones(2, 3))

    def test_results_outlive_the_program(self) -> None:
        results: list[Any] = [Program(gated())(ONES * index) for index in range(1, 50)]
        for index, result in enumerate(results, 1):
            np.testing.assert_array_equal(result, [[index, 2 * index, 3 * index]] * 2)

    def test_literals_are_not_handed_out(self) -> None:
        block = Block("b0", (), (Let("n", Literal(3), span(2)),), Return(("n",), Slot(0, "tensor"), span(2)), span(1))
        program = Program(artefact_of(Hcfg("Literal", call_of(), (), "b0", {"b0": block}, {}), {}))
        first = program()
        first[...] = 9
        assert program() == 3


class TestTensors:
    def test_numpy_in_numpy_out(self) -> None:
        assert isinstance(Program(gated())(ONES), np.ndarray)

    def test_torch_in_torch_out(self) -> None:
        result = Program(gated())(torch.ones(2, 3, requires_grad=True))
        assert isinstance(result, torch.Tensor)
        assert torch.equal(result, torch.tensor([[1.0, 2.0, 3.0]] * 2))

    def test_no_tensor_in_numpy_out(self) -> None:
        total, _ = Program(counting_loop())(n=3)
        assert isinstance(total, np.ndarray)

    def test_one_torch_tensor_makes_all_results_torch(self) -> None:
        pair = Items("tuple", (Slot(0, "tensor"), Slot(1, "tensor")))
        program = Program(forwarding(call_of(Slot(0, "tensor"), Slot(1, "tensor")), pair, ROW, ROW))
        assert [type(result) for result in program(torch.ones(2, 3), ONES)] == [torch.Tensor] * 2

    @pytest.mark.parametrize(
        "dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
    )
    @pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
    def test_every_element_type_goes_through(self, dtype: Any, shape: tuple[int, ...]) -> None:
        program = Program(forwarding(call_of(Slot(0, "tensor")), Slot(0, "tensor"), TensorType(dtype, shape)))
        tensor = (torch.arange(int(np.prod(shape))) % 2).reshape(shape).to(getattr(torch, dtype))
        result = program(tensor)
        assert isinstance(result, torch.Tensor)
        assert result.dtype == tensor.dtype
        assert torch.equal(result, tensor)

    def test_numpy_carries_bfloat16_as_its_bits(self) -> None:
        program = Program(forwarding(call_of(Slot(0, "tensor")), Slot(0, "tensor"), TensorType("bfloat16", (2,))))
        bits = np.array([0x3F80, 0x4000], np.uint16)
        np.testing.assert_array_equal(program(bits), bits)

    def test_any_layout_and_byte_order(self) -> None:
        program = Program(forwarding(call_of(Slot(0, "tensor")), Slot(0, "tensor"), ROW))
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        for array in (
            np.asfortranarray(values),
            values.astype(">f4"),
            np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
        ):
            np.testing.assert_array_equal(program(array), array)
        np.testing.assert_array_equal(program(torch.arange(6.0).reshape(3, 2).T), torch.arange(6.0).reshape(3, 2).T)

    def test_tensors_without_elements_to_read_are_refused(self) -> None:
        program = Program(gated())
        with pytest.raises(InputError, match="x is a tensor whose elements cannot be read"):
            program(torch.ones(2, 3).to_sparse())
        with pytest.raises(InputError, match="x is a tensor whose elements cannot be read"):
            program(torch.ones(2, 3, device="meta"))
