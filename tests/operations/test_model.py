"""The ONNX model as a whole: names, weights, outputs, and what is refused."""

import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dycl.backends.onnx import Untranslatable, supports, translate
from dycl.hcfg.subnet import Operation, Ref, SubnetGraph
from dycl.hcfg.types import TensorType
from tests.operations.cases import SPAN, record, run
from tests.operations.linalg import OLD_CHOLESKY

_X, _W = Ref(0), Ref(1)
_FLOATS = TensorType("float32", (2, 3))


def _model(graph: SubnetGraph) -> onnx.ModelProto:
    model = onnx.ModelProto()
    model.ParseFromString(translate(graph))
    return model


def _copying(*outputs: Ref) -> SubnetGraph:
    relu = Operation("aten.relu.default", {"self": _X}, (Ref(2),), SPAN)
    return SubnetGraph((_X,), (_W,), (relu,), outputs, (_FLOATS, _FLOATS, _FLOATS))


def test_the_same_graph_gives_the_same_bytes() -> None:
    graph, _ = record(nn.LSTM(3, 4, 2, bidirectional=True).eval(), [torch.zeros(5, 2, 3)], [(5, 2, 3)])
    assert translate(graph) == translate(graph)


def test_inputs_weights_and_outputs_are_named_by_their_places() -> None:
    graph, weights = record(nn.Linear(3, 4), [torch.zeros(2, 3)], [("n", 3)])
    body = _model(graph).graph
    assert [value.name for value in body.input] == ["i0"]
    assert [value.name for value in body.output] == ["o0"]
    assert [value.name for value in body.initializer] == ["w0", "w1"]
    assert body.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    assert [tuple(value.dims) for value in body.initializer] == [tuple(weight.shape) for weight in weights]


def test_weights_are_not_in_the_file() -> None:
    graph, _ = record(nn.Linear(300, 400), [torch.zeros(2, 300)], [(2, 300)])
    model = _model(graph)
    assert len(translate(graph)) < 1000
    for weight in model.graph.initializer:
        assert weight.data_location == onnx.TensorProto.EXTERNAL
        assert {entry.key: entry.value for entry in weight.external_data} == {"location": "weights"}


def test_the_declared_versions() -> None:
    model = _model(_copying(Ref(2)))
    assert model.ir_version == 10
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 20)]


def test_outputs_may_be_inputs_weights_or_twice_the_same() -> None:
    x, weight = torch.randn(2, 3), torch.randn(2, 3)
    results = run(_copying(_X, Ref(2), _W, Ref(2), _X), [weight], [x])
    expected = [x, x.relu(), weight, x.relu(), x]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.numpy(), wanted.numpy())


def test_a_weight_that_nothing_reads_can_still_be_bound() -> None:
    x = torch.randn(2, 3)
    (result,) = run(_copying(Ref(2)), [torch.randn(2, 3)], [x])
    np.testing.assert_array_equal(result.numpy(), x.relu().numpy())


def test_a_size_may_come_from_the_input() -> None:
    """Padding by a number that only the input determines, which PyTorch's own shape rules refuse."""
    pad = Operation("aten.constant_pad_nd.default", {"self": _X, "pad": (0, Ref(1)), "value": 0.5}, (Ref(2),), SPAN)
    types = (_FLOATS, TensorType("int64", ()), TensorType("float32", (2, "n")))
    graph = SubnetGraph((_X, Ref(1)), (), (pad,), (Ref(2),), types)
    x = torch.randn(2, 3)
    (result,) = run(graph, [], [x, torch.tensor(2)])
    np.testing.assert_array_equal(result.numpy(), F.pad(x, (0, 2), value=0.5).numpy())


@pytest.mark.parametrize(
    ("snippet", "example", "reason"),
    [
        (lambda x: F.avg_pool1d(x, 2), torch.zeros(1, 2, 5, dtype=torch.int64), "no AveragePool for int64"),
        (nn.LSTM(3, 4).double().eval(), torch.zeros(5, 2, 3, dtype=torch.float64), "no LSTM for float64"),
        (
            lambda x: F.max_pool2d(x, 2, return_indices=True),
            torch.zeros(1, 4, 4, dtype=torch.int64),
            "no MaxPool for int64",
        ),
        (lambda x: x.mode(), torch.zeros(17), "not determined"),
        (
            lambda x: F.interpolate(x, size=(3, 1), mode="bilinear", antialias=True),
            torch.zeros(1, 1, 4, 4),
            "a single column",
        ),
        (torch.ops.aten.log_sigmoid_forward, torch.zeros(2), "result 1 is used"),
        (
            lambda x: F.interpolate(x, size=3, mode="bilinear"),
            torch.zeros(1, 1, 2, 2, dtype=torch.uint8),
            "fixed-point",
        ),
        (lambda x: x << 70, torch.zeros(2, dtype=torch.int64), "shifted by 70 places"),
    ],
)
def test_what_has_no_translation_is_refused(snippet: Any, example: torch.Tensor, reason: str) -> None:
    graph, _ = record(snippet, [example], [tuple(example.shape)])
    with pytest.raises(Untranslatable) as caught:
        translate(graph)
    assert reason in caught.value.reason
    assert caught.value.span == SPAN
    assert str(SPAN) in str(caught.value)


def test_an_unknown_operation_is_refused() -> None:
    unknown = Operation("aten.svd.default", {"self": _X}, (Ref(1),), SPAN)
    with pytest.raises(Untranslatable, match="no translation"):
        translate(SubnetGraph((_X,), (), (unknown,), (Ref(1),), (_FLOATS, _FLOATS)))
    assert not supports("aten.svd.default")
    assert supports("aten.conv2d.default")


def test_a_factor_that_is_checked_by_the_operation_itself_is_refused() -> None:
    matrix = TensorType("float32", (2, 2))
    checked = Operation("aten.linalg_inv_ex.default", {"A": _X, "check_errors": True}, (Ref(1), None), SPAN)
    with pytest.raises(Untranslatable, match="`check_errors` is set"):
        translate(SubnetGraph((_X,), (), (checked,), (Ref(1),), (matrix, matrix)))


def test_the_backend_does_not_need_torch() -> None:
    program = "import sys; import dycl.backends.onnx; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("snippet", "good", "bad"),
    [
        (lambda x: torch.histc(x, 3), torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")])),
        (lambda x: torch.histc(x, 3), torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("inf")])),
        *((function, torch.eye(2), -torch.eye(2)) for _, function in OLD_CHOLESKY),
        (lambda n: torch.segment_reduce(torch.ones(3), "sum", lengths=n), torch.tensor([1, 2]), torch.tensor([1, 1])),
    ],
)
def test_where_pytorch_raises_an_error_the_translation_fails_too(
    snippet: Any, good: torch.Tensor, bad: torch.Tensor
) -> None:
    graph, weights = record(snippet, [good], [tuple(good.shape)])
    (result,) = run(graph, weights, [good])
    np.testing.assert_allclose(result.numpy(), snippet(good).numpy())
    with pytest.raises(RuntimeError):
        snippet(bad)
    with pytest.raises(Exception, match="out of data bounds"):
        run(graph, weights, [bad])
