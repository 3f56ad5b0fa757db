"""Programs whose sub-DNNs run on several backends: values cross between them, each in the form it was made in."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from dycl.hcfg.nodes import Block, Branch, Hcfg, Let, Literal, Parameter, Return, Run, Subnet, Target, Weight
from dycl.hcfg.structure import Items, Slot, Structure
from dycl.hcfg.text import to_text
from dycl.hcfg.types import DType, HostType, TensorType
from dycl.runtime import Artefact, ArtefactError, CompiledSubnet, ModelError, Program, SubnetSignature, load
from dycl.runtime.backend import SubnetCall
from dycl.runtime.backend_registry import _registered
from dycl.runtime.onnxruntime.engine import OnnxRuntimeEngine
from dycl.runtime.weight_store import array_dtype
from examples.toy_backend import ToyBackend
from tests.hand_built import FLAG, ROW, artefact_of, call_of, onnx_code, span

ONES = np.ones((2, 3), np.float32)
SCALE = TensorType("float32", (3,))
SCALES = np.array([1, 2, 3], np.float32)
WHOLE = Slot(0, "tensor")


@dataclasses.dataclass(frozen=True)
class Packed:
    """A tensor as only `PackingBackend` understands it: back to front."""

    reversed: Any


class PackingBackend(ToyBackend):
    """The toy backend, with values of a form of its own between its sub-DNNs."""

    value_types = (Packed,)

    def __init__(self, subnets: Sequence[CompiledSubnet] = (), log: list[str] | None = None) -> None:
        super().__init__(subnets)
        self.log: list[str] = [] if log is None else log

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "PackingBackend":
        return PackingBackend(subnets, self.log)

    def subnet(self, subnet: str, inputs: Sequence[int]) -> SubnetCall:
        call = super().subnet(subnet, range(len(inputs)))

        def packed(slots: list[Any]) -> list[Packed]:
            given = [slots[position] for position in inputs]
            assert all(type(value) is Packed for value in given)
            return [Packed(output[::-1].copy()) for output in call([value.reversed[::-1] for value in given])]

        return packed

    def put(self, array: Any, dtype: DType) -> Packed:
        self.log.append("put")
        return Packed(array[::-1].copy() if array.ndim else array)

    def take(self, value: Any, dtype: DType) -> Any:
        self.log.append("take")
        return value.reversed[::-1] if value.reversed.ndim else value.reversed


@pytest.fixture(autouse=True)
def packing(monkeypatch: pytest.MonkeyPatch) -> PackingBackend:
    """The backends `toy` and `packing`, registered."""
    backend = PackingBackend()
    monkeypatch.setitem(_registered, "toy", ToyBackend())
    monkeypatch.setitem(_registered, "packing", backend)
    return backend


def toy_code(*lines: Any) -> bytes:
    return json.dumps(lines).encode()


def alternating(other: str) -> Artefact:
    """A program on ONNX Runtime and another backend.

    while (x * scale).sum() < 100: x = relu(x + x) + scale       # `x * scale` and the sum by ONNX Runtime
    return {"x": x, "scale": scale, "product": x * scale}
    """
    x = Parameter("x", ROW)
    gate = onnx_code(
        [
            helper.make_node("Mul", ["i0", "w0"], ["o1"]),
            helper.make_node("ReduceSum", ["o1"], ["sum"], keepdims=0),
            helper.make_node("Constant", [], ["limit"], value_float=100.0),
            helper.make_node("Less", ["sum", "limit"], ["o0"]),
        ],
        [ROW],
        [FLAG, ROW],
        [SCALE],
    )
    double = toy_code(["add", [0, 0]], ["relu", [1]], [2])
    shift = toy_code(["add", [0, 1]], [2])
    blocks = [
        Block(
            "test",
            (x,),
            (Run("gate", ("x",), ("more", "product"), span(2)), Let("scale", Weight("scale"), span(3))),
            Branch("more", Target("grow", ("x", "scale")), Target("end", ("x", "scale", "product")), span(2)),
            span(1),
        ),
        Block(
            "grow",
            (x, Parameter("scale", SCALE)),
            (
                Run("double", ("x",), ("doubled",), span(4)),
                Run("shift", ("doubled", "scale"), ("shifted",), span(4)),
                Run("gate", ("shifted",), ("more", "product"), span(2)),
            ),
            Branch(
                "more", Target("grow", ("shifted", "scale")), Target("end", ("shifted", "scale", "product")), span(2)
            ),
            span(4),
        ),
        Block(
            "end",
            (x, Parameter("scale", SCALE), Parameter("product", ROW)),
            (),
            Return(("x", "scale", "product"), Items("tuple", (WHOLE, Slot(1, "tensor"), Slot(2, "tensor"))), span(5)),
            span(5),
        ),
    ]
    hcfg = Hcfg(
        "Alternating",
        call_of(WHOLE),
        (x,),
        "test",
        {block.id: block for block in blocks},
        {
            "gate": Subnet("gate", (ROW,), (FLAG, ROW), "onnxruntime", "gate", ("scale",)),
            "double": Subnet("double", (ROW,), (ROW,), other, "double", ()),
            "shift": Subnet("shift", (ROW, SCALE), (ROW,), other, "shift", ()),
        },
        {"scale": SCALE},
    )
    return artefact_of(hcfg, {"gate": gate, "double": double, "shift": shift}, {"scale": SCALES})


def expected(x: Any) -> tuple[Any, int]:
    """What `alternating` gives for x, and how often it goes round."""
    rounds = 0
    while (x * SCALES).sum() < 100:
        x, rounds = np.maximum(x + x, 0) + SCALES, rounds + 1
    return x, rounds


def saved(artefact: Artefact, folder: Path) -> Path:
    Program(artefact).save(folder / "model.dycl")
    return folder / "model.dycl"


@pytest.mark.parametrize("backend", ["toy", "packing"])
def test_values_cross_between_backends(backend: str, tmp_path: Path) -> None:
    program = load(saved(alternating(backend), tmp_path))
    for factor in (-5, 0, 1, 3, 100):
        trace = program.trace(ONES * factor)
        x, scale, product = trace.outputs
        wanted, rounds = expected(ONES * factor)
        np.testing.assert_array_equal(x, wanted)
        np.testing.assert_array_equal(scale, SCALES)
        np.testing.assert_array_equal(product, wanted * SCALES)
        assert trace.path.blocks == ("test", *["grow"] * rounds, "end")
        assert trace.subnet_calls == 1 + 3 * rounds


def test_results_share_nothing_with_what_the_program_needs() -> None:
    program = Program(alternating("toy"))
    x = ONES * 100
    for result in program(x):
        result[:] = -1
    np.testing.assert_array_equal(x, ONES * 100)
    np.testing.assert_array_equal(program(x)[1], SCALES)


def test_an_engine_keeps_its_own_form_between_its_sub_dnns(packing: PackingBackend) -> None:
    program = Program(alternating("packing"))
    packing.log.clear()
    program(ONES * 3)  # One round: x and scale go in for `double` and `shift`, the sum comes out for `gate`.
    assert packing.log == ["put", "put", "take", "take"]


def test_the_backend_is_shown_where_there_are_several() -> None:
    assert "gate(float32[2, 3]) with scale on onnxruntime -> bool[], float32[2, 3]\n" in to_text(
        alternating("toy").hcfg
    )
    assert "double(float32[2, 3]) on toy -> float32[2, 3]\n" in to_text(alternating("toy").hcfg)


def one_net(backend: str, code: bytes, kept: bool = False, weights: tuple[str, ...] = ()) -> Artefact:
    """A program that runs one sub-DNN on x, and on what it kept if it keeps something: the sum of all x so far."""
    x, total = Parameter("x", ROW), Parameter("total", ROW)
    run = Run("net", ("x", "total"), ("y",), span(2))
    next_call = Target("later", ("y",)) if kept else None
    first = Block("first", (x,), (), Return(("x",), WHOLE, span(1), Target("later", ("x",))), span(1))
    later = Block("later", (x, total), (run,), Return(("y",), WHOLE, span(2), next_call), span(2))
    hcfg = Hcfg(
        "Keeping",
        call_of(WHOLE),
        (x,),
        "first",
        {"first": first, "later": later},
        {"net": Subnet("net", (ROW, ROW), (ROW,), backend, "net", weights)},
        {"scale": SCALE} if weights else {},
    )
    return artefact_of(hcfg, {"net": code}, {"scale": SCALES} if weights else {})


@pytest.mark.parametrize("backend", ["toy", "packing"])
def test_one_other_backend_alone(backend: str) -> None:
    program = Program(one_net(backend, toy_code(["add", [0, 1]], ["mul", [2, 3]], [4]), True, ("scale",)))
    x = ONES.copy()
    assert program(x) is not x
    x[:] = 7  # The program keeps the value that x had.
    np.testing.assert_array_equal(program(ONES), 2 * ONES * SCALES)
    np.testing.assert_array_equal(program(ONES), (2 * SCALES + 1) * ONES * SCALES)
    program.reset()
    np.testing.assert_array_equal(program(ONES), ONES)


def test_what_is_kept_is_not_handed_out(packing: PackingBackend) -> None:
    artefact = one_net("toy", toy_code([0]), kept=False)
    later = artefact.hcfg.blocks["later"]
    returning = dataclasses.replace(later, terminator=Return(("total",), WHOLE, span(3)))
    hcfg = dataclasses.replace(artefact.hcfg, blocks={**artefact.hcfg.blocks, "later": returning})
    program = Program(dataclasses.replace(artefact, hcfg=hcfg))
    program(ONES)
    for _ in range(3):  # `later` keeps nothing new, so each call begins with the same.
        result = program(ONES * 2)
        np.testing.assert_array_equal(result, ONES)
        result[:] = 5


def test_a_sub_dnn_that_fails_names_itself() -> None:
    program = Program(one_net("toy", toy_code(["matmul", [0, 1]], [2])))
    program(ONES)
    with pytest.raises(ModelError, match=r"sub-DNN net, made from /models/net.py:2:9, failed: matmul"):
        program(ONES)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"{}",
        b"[[0]",
        toy_code(["system", [0]], [1]),
        toy_code(["add", [0, 9]], [2]),
        toy_code(["add", [0, 1]], [3]),
        toy_code([0, 1]),
        toy_code(["add", "x"], [2]),
        b"[" * 100_000,
    ],
)
def test_a_code_that_is_not_the_backends_is_refused(code: bytes) -> None:
    with pytest.raises(ArtefactError, match="the code of a sub-DNN is not the toy backend's"):
        Program(one_net("toy", code))


class TestForms:
    def test_a_value_that_no_engine_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Careless(ToyBackend):
            def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "Careless":
                return Careless(subnets)

            def subnet(self, subnet: str, inputs: Sequence[int]) -> SubnetCall:
                return lambda slots: ["not an array"]

        monkeypatch.setitem(_registered, "careless", Careless())
        with pytest.raises(TypeError, match="a sub-DNN gave a str, which its engine does not name"):
            Program(alternating("careless"))(ONES)

    def test_engines_with_values_of_one_class_hand_them_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Strict(ToyBackend):
            def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "Strict":
                return Strict(subnets)

            def put(self, array: Any, dtype: DType) -> Any:
                raise AssertionError("an array was put, which was one already")

        monkeypatch.setitem(_registered, "twin", Strict())
        artefact = alternating("toy")
        subnets = {
            **artefact.hcfg.subnets,
            "shift": dataclasses.replace(artefact.hcfg.subnets["shift"], backend="twin"),
        }
        program = Program(dataclasses.replace(artefact, hcfg=dataclasses.replace(artefact.hcfg, subnets=subnets)))
        np.testing.assert_array_equal(program(ONES * 3)[0], expected(ONES * 3)[0])

    @pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64"])
    @pytest.mark.parametrize("shape", [(), (0, 2), (2, 1), (2, 3)])
    def test_onnx_runtime_uses_arrays_where_they_lie(self, dtype: DType, shape: tuple[int, ...]) -> None:
        engine = OnnxRuntimeEngine((), 1)
        array = np.ones(shape, dtype)
        array.flags.writeable = False
        again = engine.take(engine.put(array, dtype), dtype)
        assert (again.dtype, again.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(again, array)
        assert array.size == 0 or np.shares_memory(again, array)

    @pytest.mark.parametrize("dtype", ["bool", "int64", "bfloat16", "float32"])
    def test_a_release_of_onnx_runtime_without_dlpack_copies(
        self, dtype: DType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = OnnxRuntimeEngine((), 1)
        monkeypatch.setattr(engine._values, "_from_dlpack", None)
        array = np.ones((2, 3), array_dtype(dtype))
        again = engine.take(engine.put(array, dtype), dtype)
        assert (again.dtype, again.tolist()) == (array.dtype, array.tolist())
        assert not np.shares_memory(again, array)

    def test_onnx_runtime_keeps_arrays_alive(self) -> None:
        engine = OnnxRuntimeEngine((), 1)
        taken = [engine.take(engine.put(np.full(1000, n, np.float32), "float32"), "float32") for n in range(50)]
        for number, array in enumerate(taken):
            np.testing.assert_array_equal(array, np.full(1000, number))


def test_a_signature_is_what_the_check_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[SubnetSignature] = []
    monkeypatch.setattr(ToyBackend, "check", lambda self, code, signature: seen.append(signature))
    Program(one_net("toy", toy_code(["add", [0, 1]], [2]), weights=("scale",)))
    assert seen == [SubnetSignature((ROW, ROW), (ROW,), (SCALE,))]


def test_literals_cross_too() -> None:
    structure: Structure = Slot(0, "float")
    block = Block(
        "b0",
        (),
        (
            Let("half", Literal(0.5), span(1)),
            Run("same", ("half",), ("y",), span(2)),
            Let("w", Weight("scale"), span(3)),
            Run("scaled", ("w", "w"), ("z",), span(4)),
        ),
        Return(("y", "z"), Items("tuple", (structure, Slot(1, "tensor"))), span(5)),
        span(1),
    )
    number = HostType("float").tensor
    hcfg = Hcfg(
        "Literals",
        call_of(),
        (),
        "b0",
        {"b0": block},
        {
            "same": Subnet("same", (number,), (number,), "onnxruntime", "same", ()),
            "scaled": Subnet("scaled", (SCALE, SCALE), (SCALE,), "toy", "scaled", ()),
        },
        {"scale": SCALE},
    )
    same = onnx_code([helper.make_node("Identity", ["i0"], ["o0"])], [number], [number])
    program = Program(artefact_of(hcfg, {"same": same, "scaled": toy_code(["mul", [0, 1]], [2])}, {"scale": SCALES}))
    for _ in range(2):
        half, squares = program()
        assert half == 0.5
        np.testing.assert_array_equal(squares, SCALES * SCALES)
        squares[:] = 0
