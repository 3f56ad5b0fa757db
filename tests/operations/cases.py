"""Check lowerings against PyTorch: record a snippet, translate it, run it, and compare with the eager result.

A case is a snippet and the makers of its inputs. It is translated as recorded, and then once more with every size in
the recorded types replaced by a name, as if only the input determined it. The second translation may be refused, but
where it goes through its numbers must be right. With `symbolic=True` the case is also recorded with named sizes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import torch

from dycl.backends.onnx import Untranslatable, supports, translate
from dycl.hcfg.subnet import SubnetGraph
from dycl.hcfg.types import Dimension, Span, TensorType
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.semantics.numpy.calls import ARRAY_OPERATIONS
from dycl.rewrite.tensor_types import dtype_name

SPAN = Span("snippet.py", 1, 1, 1, 1, "snippet")
Maker = Callable[[torch.Generator], Any]


@dataclass(frozen=True)
class Host:
    """A number that the host program holds: the snippet sees a symbol."""

    value: bool | int | float

    @property
    def dtype(self) -> torch.dtype:
        """The element type that carries the number."""
        if isinstance(self.value, bool):
            return torch.bool
        return torch.int64 if isinstance(self.value, int) else torch.float64


@dataclass(frozen=True)
class Case:
    """A snippet whose recording must hold `target`."""

    target: str
    snippet: Callable[..., Any]
    makers: tuple[Maker, ...]
    symbolic: bool
    names: tuple[tuple[Dimension, ...], ...]
    tolerance: float

    def __str__(self) -> str:
        return self.target

    def inputs(self) -> list[Any]:
        """The inputs, the same every time."""
        generator = torch.Generator().manual_seed(20)
        return [maker(generator) for maker in self.makers]


def case(
    target: str,
    snippet: Callable[..., Any],
    *makers: Maker,
    symbolic: bool = False,
    names: tuple[tuple[Dimension, ...], ...] = (),
    tolerance: float = 1.0,
) -> Case:
    """A case; `names` are the inputs' shapes if not every size should have a name, `tolerance` multiplies the usual."""
    return Case(f"aten.{target}", snippet, makers, symbolic or bool(names), names, tolerance)


# Makers of inputs.


def normal(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> Maker:
    """Normally distributed numbers."""
    return lambda generator: (torch.randn(shape, generator=generator, dtype=torch.float64) * scale).to(dtype)


def between(low: float, high: float, *shape: int, dtype: torch.dtype = torch.float32) -> Maker:
    """Evenly distributed numbers."""
    span = high - low
    return lambda generator: (torch.rand(shape, generator=generator, dtype=torch.float64) * span + low).to(dtype)


def integers(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> Maker:
    """Whole numbers, `high` not included."""
    return lambda generator: torch.randint(low, high, shape, generator=generator).to(dtype)


def flags(*shape: int) -> Maker:
    """True and False."""
    return lambda generator: torch.randint(0, 2, shape, generator=generator).to(torch.bool)


def these(numbers: Any, dtype: torch.dtype | None = None) -> Maker:
    """Exactly these numbers."""
    return lambda generator: torch.tensor(numbers, dtype=dtype)


def host(value: bool | int | float) -> Maker:
    """A number that only the input determines."""
    return lambda generator: Host(value)


NAN, INF = float("nan"), float("inf")
SPECIAL = these([NAN, INF, -INF, 0.0, -0.0, 1.5, -1.5, 2.5, 1e-30])
SPECIAL64 = these([NAN, INF, -INF, 0.0, -0.0, 1.5, -1.5, 2.5, 1e-300], torch.float64)
WIDTHS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


# Recording, running, comparing.


def record(
    snippet: Callable[..., Any], inputs: Sequence[Any], shapes: Sequence[tuple[Dimension, ...]]
) -> tuple[SubnetGraph, tuple[torch.Tensor, ...]]:
    """The sub-DNN of a snippet for inputs of these shapes, and its weights."""
    recorder = Recorder(supports, lambda: SPAN, ARRAY_OPERATIONS)
    with torch.inference_mode():
        recorder.start()
        stand_ins = [_stand_in(recorder, *pair) for pair in zip(inputs, shapes, strict=True)]
        with recorder:
            result = snippet(*stand_ins)
        results = [item for item in _flat(result) if isinstance(item, torch.Tensor)]
        outputs = tuple(recorder.ref(item) for item in results)
    recording = recorder.recording
    captured = (*recording.captured, *recording.weights.values())
    graph = SubnetGraph(
        tuple(recording.inputs),
        tuple(item.ref for item in captured),
        tuple(recording.operations),
        outputs,
        tuple(recording.types),
    )
    return graph, tuple(item.value for item in captured)


def _stand_in(recorder: Recorder, value: Any, shape: tuple[Dimension, ...]) -> Any:
    if isinstance(value, Host):
        return recorder.symbols.of_host_value(recorder.parameter(TensorType(dtype_name(value.dtype), ())))
    return recorder.parameter(TensorType(dtype_name(value.dtype), shape))


def named(shape: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """The shape with every size above 1 a name, equal sizes the same one."""
    return tuple(f"n{size}" if isinstance(size, int) and size > 1 else size for size in shape)


def run(graph: SubnetGraph, weights: Sequence[torch.Tensor], inputs: Sequence[Any]) -> list[Any]:
    """What ONNX Runtime computes, as OrtValues."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    # ONNX Runtime reads these arrays where they are, so they must live as long as the session.
    arrays = [_array(weight) for weight in weights]
    if weights:
        names = [f"w{index}" for index in range(len(weights))]
        options.add_external_initializers(names, [_ort_value(*pair) for pair in zip(arrays, weights, strict=True)])
    session = onnxruntime.InferenceSession(translate(graph), options, providers=["CPUExecutionProvider"])
    values = [torch.tensor(v.value, dtype=v.dtype) if isinstance(v, Host) else v for v in inputs]
    fed = [_array(value) for value in values]
    feed = {f"i{i}": _ort_value(array, value) for i, (array, value) in enumerate(zip(fed, values, strict=True))}
    return list(session.run_with_ort_values([f"o{i}" for i in range(len(graph.outputs))], feed))


_BFLOAT16 = 16


def _array(tensor: torch.Tensor) -> Any:
    tensor = tensor.contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _ort_value(array: Any, tensor: torch.Tensor) -> Any:
    if tensor.dtype == torch.bfloat16:
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, _BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def _torch_tensor(value: Any, like: torch.Tensor) -> torch.Tensor:
    assert value.data_type() == f"tensor({_ORT_NAMES.get(like.dtype, str(like.dtype).removeprefix('torch.'))})"
    if like.dtype == torch.bfloat16:
        return torch.utils.dlpack.from_dlpack(value._ortvalue.to_dlpack()).clone()
    return torch.from_numpy(np.array(value.numpy()))


_ORT_NAMES = {torch.float32: "float", torch.float64: "double"}


def _flat(tree: Any) -> list[Any]:
    if isinstance(tree, list | tuple):
        return [leaf for item in tree for leaf in _flat(item)]
    return [tree]


_TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-13, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def _compare(case: Case, expected: torch.Tensor, actual: torch.Tensor) -> None:
    assert actual.dtype == expected.dtype
    assert tuple(actual.shape) == tuple(expected.shape)
    if not expected.dtype.is_floating_point:
        assert torch.equal(actual, expected), f"{actual} is not {expected}"
        return
    rtol = _TOLERANCES[expected.dtype] * case.tolerance
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=rtol, equal_nan=True)


def check(case: Case) -> None:
    """Run a case as recorded, and again with names for its sizes."""
    inputs = case.inputs()
    shapes = [() if isinstance(value, Host) else tuple(value.shape) for value in inputs]
    graph, weights = record(case.snippet, inputs, shapes)
    targets = [operation.target for operation in graph.operations]
    assert case.target in targets, f"recorded {targets}"
    expected = _eager(case, inputs)
    _check(case, graph, weights, inputs, expected)
    try:
        _check(case, _with_names(graph), weights, inputs, expected)
    except Untranslatable as problem:
        assert problem.reason


def check_named(case: Case) -> None:
    """Run a case that is recorded with names for its sizes."""
    inputs = case.inputs()
    shapes = case.names or [() if isinstance(value, Host) else named(value.shape) for value in inputs]
    graph, weights = record(case.snippet, inputs, shapes)
    assert case.target in [operation.target for operation in graph.operations]
    _check(case, graph, weights, inputs, _eager(case, inputs))


def _eager(case: Case, inputs: Sequence[Any]) -> list[torch.Tensor]:
    with torch.inference_mode():
        plain = [value.value if isinstance(value, Host) else value.clone() for value in inputs]
        return [item for item in _flat(case.snippet(*plain)) if isinstance(item, torch.Tensor)]


def _check(
    case: Case,
    graph: SubnetGraph,
    weights: Sequence[torch.Tensor],
    inputs: Sequence[Any],
    expected: Sequence[torch.Tensor],
) -> None:
    results = run(graph, weights, inputs)
    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected, strict=True):
        _compare(case, wanted, _torch_tensor(actual, wanted))


def _with_names(graph: SubnetGraph) -> SubnetGraph:
    """The same graph with names in its types; a weight's shape stays, since it is always known."""
    known = {ref.index for ref in graph.weights}
    types = (
        value_type if index in known else TensorType(value_type.dtype, named(value_type.shape))
        for index, value_type in enumerate(graph.types)
    )
    return replace(graph, types=tuple(types))
