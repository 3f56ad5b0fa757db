"""Numbers, weights, labels and empty tensors that PyTorch refuses, the program refuses too."""

import fractions
from collections.abc import Callable
from math import nan
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import dycl
from dycl.backends.onnx.lowerings import LOWERINGS
from tests.comparison import Calls, CallsWithTwo, outcome_of

Snippet = Callable[[Tensor, Tensor], Any]


def _set(number: float) -> Tensor:
    values = torch.ones(2, dtype=torch.int8)
    values[0] = number
    return values


NUMBERS: dict[str, tuple[Callable[[Any], Any], type]] = {
    "narrow from": (lambda n: torch.arange(6).narrow(0, n, 1), int),
    "narrow length": (lambda n: torch.arange(6).narrow(0, 0, n), int),
    "end": (lambda n: torch.arange(n * 0.5), int),
    "step": (lambda n: torch.arange(0, 5, n), int),
    "floating step": (lambda n: torch.arange(0, 5, n), float),
    "floating end": (lambda n: torch.arange(2.0, n, 0.5), float),
    "exponent": (lambda n: torch.arange(3) ** n, int),
    "bins": (lambda n: torch.bincount(torch.tensor([1]), minlength=n), int),
    "shrunk": (lambda n: F.softshrink(torch.arange(-3.0, 3.0), n), float),
    "fill": (lambda n: torch.ones(2).fill_(n), float),
    "fill whole": (lambda n: torch.ones(2, dtype=torch.int8).fill_(n), int),
    "full": (lambda n: torch.full((2,), n), float),
    "full of bytes": (lambda n: torch.full((2,), n, dtype=torch.uint8), int),
    "masked_fill": (lambda n: torch.ones(2).masked_fill(torch.tensor([True, False]), n), float),
    "clamp": (lambda n: torch.ones(2).clamp(max=n), float),
    "index_fill": (lambda n: torch.ones(2, dtype=torch.int32).index_fill(0, torch.tensor([1]), n), int),
    "scatter": (lambda n: torch.ones(2, dtype=torch.int16).scatter(0, torch.tensor([1]), n), int),
    "where": (lambda n: torch.where(torch.tensor([True]), torch.ones(2, dtype=torch.int8), n), int),
    "stored": (_set, int),
}
_TRIED: dict[type, list[Any]] = {
    int: [1, 2, 5, 0, -1, -9, 9, 200, -200, 2**40],
    float: [1.0, 0.5, 4.0, 0.0, -1.0, 1e39, -1e300, float("inf"), float("nan")],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_pytorch_refuses(name: str) -> None:
    snippet, kind = NUMBERS[name]
    dtype = torch.float64 if kind is float else torch.int64
    program = dycl.compile(Calls(lambda x: snippet(x.item())).eval(), (torch.tensor(1, dtype=dtype),))
    for number in _TRIED[kind]:
        if name in ("exponent", "bins", "end", "floating end") and number > 200:
            continue
        expected, found = outcome_of(snippet, number), outcome_of(program, torch.tensor(number, dtype=dtype))
        if isinstance(expected, type):
            assert found is expected, f"{name} of {number}"
        else:
            torch.testing.assert_close(found, expected, equal_nan=True)


EMPTY: dict[str, Callable[[Tensor], Any]] = {
    "median": lambda x: x[x > 0].median(),
    "nanmedian": lambda x: x[x > 0].nanmedian(),
    "greatest size": lambda x: torch.linalg.vector_norm(x[x > 0], float("inf")),
    "least size": lambda x: torch.linalg.vector_norm(x[x > 0], float("-inf"), dim=0),
    "negative order": lambda x: x[x > 0].norm(-2),
    "usual norm": lambda x: x[x > 0].norm(),
    "extremes": lambda x: tuple(torch.aminmax(x[x > 0])),
    "extremes along": lambda x: tuple(torch.aminmax(x[x > 0], dim=0)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_is_found_among_nothing(name: str) -> None:
    program = dycl.compile(Calls(EMPTY[name]).eval(), (torch.ones(3),))
    for x in (torch.ones(3), torch.tensor([1.0, -2.0, 3.0]), -torch.ones(3)):
        expected, found = (outcome_of(function, x) for function in (EMPTY[name], program))
        if isinstance(expected, type):
            assert found is expected
        else:
            torch.testing.assert_close(found, expected, equal_nan=True)


def test_a_fraction_of_a_number_that_the_input_determines_is_refused() -> None:
    with pytest.raises(dycl.CompileError, match=r"DY008.*a fraction"):
        dycl.compile(Calls(lambda x: fractions.Fraction(int(x), 2) > 1).eval(), (torch.tensor(3),))


def test_a_result_written_through_a_view_of_open_size() -> None:
    def raised(x: Tensor) -> Tensor:
        whole = x * 1
        view = whole[None].squeeze()
        if x.sum() > 0:
            torch.add(view, 1, out=view)
        return whole

    model = Calls(raised).eval()
    program = dycl.compile(model, (torch.ones(3),), dynamic_shapes=[{0: torch.export.Dim("n")}])
    for x in (torch.ones(3), -torch.ones(2), torch.ones(1), torch.ones(0)):
        torch.testing.assert_close(program(x), raised(x))


def test_a_source_of_another_size_than_its_open_target() -> None:
    snippet: Callable[[Tensor], Tensor] = lambda x: x.masked_scatter(x > 0, torch.ones(3))  # noqa: E731
    program = dycl.compile(Calls(snippet).eval(), (torch.ones(2),), dynamic_shapes=[{0: torch.export.Dim("n")}])
    for x in (torch.ones(2), -torch.ones(5), torch.ones(4), torch.ones(0), torch.tensor([1.0, -1.0, 2.0, -3.0])):
        expected, found = (outcome_of(function, x) for function in (snippet, program))
        assert (found is expected) if isinstance(expected, type) else torch.equal(found, expected)


def test_a_bilinear_layer_of_no_rows() -> None:
    snippet: Callable[[Tensor], Tensor] = lambda x: F.bilinear(x, x, torch.ones(3, 2, 2))  # noqa: E731
    program = dycl.compile(Calls(snippet).eval(), (torch.ones(2, 2),), dynamic_shapes=[{0: torch.export.Dim("n")}])
    for rows in (2, 0, 1, 5):
        torch.testing.assert_close(program(torch.ones(rows, 2)), snippet(torch.ones(rows, 2)))


def test_probabilities_that_a_loss_takes() -> None:
    snippet: Snippet = lambda x, y: F.binary_cross_entropy(x, y)  # noqa: E731
    program = dycl.compile(CallsWithTwo(snippet).eval(), (torch.ones(2), torch.ones(2)))
    for values in ([0.5, 1.0], [0.0, 1.5], [-0.5, 0.5], [float("nan"), 0.5]):
        for pair in ((torch.tensor(values), torch.ones(2)), (torch.full((2,), 0.5), torch.tensor(values))):
            expected, found = (outcome_of(function, *pair) for function in (snippet, program))
            assert (found is expected) if isinstance(expected, type) else torch.allclose(found, expected)


def test_a_decomposition_in_terms_of_itself_is_no_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(LOWERINGS, "aten.igamma.default")
    with pytest.raises(dycl.CompileError, match=r"DY004.*no translation for `aten\.igamma\.default`"):
        dycl.compile(Calls(lambda x: torch.igamma(x, x)).eval(), (torch.ones(3),))


def test_a_complex_condition() -> None:
    def turned(x: Tensor) -> Tensor:
        return x * 2 if torch.complex(x * 0, x).sum() else x

    program = dycl.compile(Calls(turned).eval(), (torch.ones(3),))
    for x in (torch.ones(3), torch.zeros(3)):
        torch.testing.assert_close(program(x), turned(x))


def test_a_complex_number_of_python_is_refused() -> None:
    with pytest.raises(dycl.CompileError, match=r"DY004.*complex number"):
        dycl.compile(Calls(lambda x: torch.complex(x, x).sum().item()).eval(), (torch.ones(3),))


def test_places_to_cut_at_that_the_input_determines() -> None:
    def cut(x: Tensor, places: Tensor) -> tuple[Tensor, ...]:
        return (*x.tensor_split(places), *torch.tensor_split(x, places, 1))

    x = torch.arange(20.0).reshape(5, 4)
    program = dycl.compile(CallsWithTwo(cut).eval(), (x, torch.tensor([1, 3])))
    for places in ((1, 3), (0, 2), (3, 1), (-1, 2), (2, 9)):
        torch.testing.assert_close(program(x, torch.tensor(places)), cut(x, torch.tensor(places)))


WEIGHTED: dict[str, Snippet] = {
    "aweights": lambda x, w: torch.cov(x, aweights=w),
    "fweights": lambda x, w: x.cov(fweights=w.to(torch.int64)),
    "both": lambda x, w: torch.cov(x, correction=0, fweights=w.to(torch.int64), aweights=w),
    "one row": lambda x, w: torch.cov(x[0], correction=3, aweights=w),
}


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.filterwarnings("ignore")
def test_weights_that_a_covariance_takes(name: str) -> None:
    snippet = WEIGHTED[name]
    model = CallsWithTwo(snippet).eval()
    x = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
    program = dycl.compile(model, (x, torch.ones(4)))
    for weights in ([1.0, 2.0, 1.0, 3.0], [0.0, 0.0, 2.0, 1.0], [1.0, -1.0, 2.0, 3.0], [0.0] * 4):
        expected = outcome_of(snippet, x, torch.tensor(weights))
        found = outcome_of(program, x, torch.tensor(weights))
        if isinstance(expected, type):
            assert found is expected
        else:
            torch.testing.assert_close(found, expected, equal_nan=True)


def test_labels_that_a_loss_takes() -> None:
    """Those behind the first negative one are checked too."""
    snippet: Snippet = lambda x, i: F.multilabel_margin_loss(x, i)  # noqa: E731
    x = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
    program = dycl.compile(CallsWithTwo(snippet).eval(), (x, torch.zeros(2, 3, dtype=torch.int64)))
    for labels in (
        [[0, 2, -1], [1, -1, 0]],
        [[0, 3, -1], [1, -1, 0]],
        [[0, -2, 1], [1, -1, 0]],
        [[-1, 0, 7], [1, -1, 0]],
    ):
        expected, found = (outcome_of(function, x, torch.tensor(labels)) for function in (snippet, program))
        assert (found is expected) if isinstance(expected, type) else torch.allclose(found, expected)


def test_unique_parts_are_not_looked_for_among_nan() -> None:
    def unique(x: Tensor) -> Tensor:
        return torch.unique(x + 1 if x.sum() > 0 else x, dim=0)  # type: ignore[no-any-return]

    program = dycl.compile(Calls(unique).eval(), torch.ones(3, 2))
    x = torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    torch.testing.assert_close(program(x), unique(x))
    with pytest.raises(ValueError, match="among NaN"):
        program(torch.tensor([[nan, 2.0], [0.0, 1.0], [1.0, 2.0]]))
