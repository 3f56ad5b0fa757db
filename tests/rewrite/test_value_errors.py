"""What PyTorch raises because of a tensor's values, the program raises too."""

import fractions
from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import dycl
from dycl.backends.onnx.lowerings import LOWERINGS
from dycl.hcfg.nodes import Check
from tests.comparison import Calls, CallsWithTwo

Snippet = Callable[[Tensor, Tensor], Any]

INDEXED: dict[str, Snippet] = {
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding_bag": lambda x, i: F.embedding_bag(i, x, torch.tensor([0])),
    "gather": lambda x, i: x.gather(0, i.reshape(1, 1)),
    "index_select": lambda x, i: x.index_select(0, i),
    "take": lambda x, i: x.take(i),
    "take_along_dim": lambda x, i: x.take_along_dim(i.reshape(1, 1), 0),
    "scatter": lambda x, i: x.scatter(0, i.reshape(1, 1), 1.0),
    "scatter in place": lambda x, i: (x + 1).scatter_(0, i.reshape(1, 1), x),
    "scatter_add": lambda x, i: x.scatter_add(0, i.reshape(1, 1), x),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i.reshape(1, 1), x, "amax"),
    "index_add": lambda x, i: x.index_add(0, i, x[:1]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:1]),
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "index": lambda x, i: x[i],
    "two indices": lambda x, i: x[i, i * 0],
    "index_put": lambda x, i: x.index_put((i,), torch.tensor(1.0)),
    "put": lambda x, i: x.put(i, torch.ones(1)),
    "one_hot": lambda x, i: F.one_hot(i, 3),
    "one_hot of the greatest": lambda x, i: F.one_hot(i),
    "nll_loss": lambda x, i: F.nll_loss(x[:1], i),
    "cross_entropy": lambda x, i: F.cross_entropy(x[:1], i, reduction="none"),
    "ignored class": lambda x, i: F.cross_entropy(x[:1], i, ignore_index=-1),
    "bincount": lambda x, i: torch.bincount(i),
    "repeat_interleave": lambda x, i: torch.repeat_interleave(x, i, 0),
    "floor_divide": lambda x, i: 7 // (i + 1),
    "remainder": lambda x, i: torch.tensor([7]) % (i + 1),
    "fmod": lambda x, i: torch.fmod(torch.tensor([7]), i + 1),
    "div": lambda x, i: torch.div(torch.tensor([7]), i + 1, rounding_mode="trunc"),
}


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the kind of error."""
    try:
        return function(*args)
    except Exception as error:
        return next(kind for kind in (IndexError, ValueError, RuntimeError) if isinstance(error, kind))


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.filterwarnings("ignore")
def test_an_index_or_divisor_that_pytorch_refuses(name: str) -> None:
    snippet = INDEXED[name]
    x = torch.arange(6.0).reshape(3, 2)
    program = dycl.compile(CallsWithTwo(snippet).eval(), (x, torch.tensor([1])))
    for number in (0, 1, 2, -1, -3, -4, 3, 100, -100):
        index = torch.tensor([number])
        expected = _outcome(snippet, x, index)
        found = _outcome(program, x, index)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected, equal_nan=True)
        else:
            assert found is expected, f"{name} of {number}"


_FACTORS, _PIVOTS = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
OF_ELEMENTS: dict[str, Callable[[Tensor], Any]] = {
    "quantile": lambda x: torch.quantile(torch.arange(3.0), x),
    "nanquantile": lambda x: torch.nanquantile(torch.arange(3.0), x),
    "histc": lambda x: torch.histc(x, 3),
    "histogram": lambda x: torch.histogram(x, 3)[0],
    "histogramdd": lambda x: torch.histogramdd(torch.stack([x, x], 1), [2, 2])[0],
    "sorter": lambda x: torch.searchsorted(torch.tensor([1.0, 2.0]), x, sorter=x.nan_to_num().long()),
    "lengths": lambda x: torch.segment_reduce(torch.ones(2), "sum", lengths=x.nan_to_num().long()),
    "offsets": lambda x: torch.segment_reduce(
        torch.ones(2), "sum", offsets=F.pad(x.nan_to_num().long().clamp(max=2), (1, 0)), axis=0
    ),
    "pivots": lambda x: torch.lu_unpack(_FACTORS, x.nan_to_num().int())[0],
    "pivots of a solution": lambda x: torch.linalg.lu_solve(_FACTORS, x.nan_to_num().int(), torch.ones(2, 1)),
    "inverse of a factor": lambda x: torch.cholesky_inverse(torch.diag(x.nan_to_num(1.0))),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
@pytest.mark.filterwarnings("ignore")
def test_elements_that_pytorch_refuses(name: str) -> None:
    snippet = OF_ELEMENTS[name]
    program = dycl.compile(Calls(snippet).eval(), torch.ones(2))
    failed = 0
    for numbers in ([1.0, 1.0], [0.0, 1.0], [1.0, 2.0], [-1.0, 3.0], [0.5, 0.25], [nan, 1.0], [9.0, 0.0], [inf, 1.0]):
        x = torch.tensor(numbers)
        expected, found = _outcome(snippet, x), _outcome(program, x)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected, equal_nan=True)
        else:
            failed += 1
            assert found is expected, f"{name} of {numbers}"
    assert failed


def test_an_error_of_a_value_can_be_caught() -> None:
    def looked_up(x: Tensor, i: Tensor) -> Tensor:
        try:
            return F.embedding(i, x)
        except IndexError:
            return x * 2

    x = torch.arange(6.0).reshape(3, 2)
    program = dycl.compile(CallsWithTwo(looked_up).eval(), (x, torch.tensor([1])))
    for number in (1, -1):
        torch.testing.assert_close(program(x, torch.tensor([number])), looked_up(x, torch.tensor([number])))


def _looked_at(x: Tensor) -> Tensor:
    torch._check(x.sum().item() > -5, lambda: "much too small")
    torch._check_index(x[x > 0].shape[0] > 1)
    try:
        torch._check_value(bool(x[0] > 0), lambda: "begins badly")
    except ValueError:
        return x - 1
    torch._check_tensor_all(x < 3)
    return x + 1


def test_the_checks_that_pytorch_offers() -> None:
    program = dycl.compile(Calls(_looked_at).eval(), torch.ones(3))
    for numbers in ([1.0, 1, 1], [-1.0, 2, 2], [-1.0, -1, 2], [-9.0, 1, 1], [5.0, 1, 1]):
        expected, found = (_outcome(function, torch.tensor(numbers)) for function in (_looked_at, program))
        assert torch.equal(found, expected) if isinstance(expected, Tensor) else found is expected


def test_an_error_of_linear_algebra_is_pytorchs_own_where_it_is_caught() -> None:
    def inverse(x: Tensor) -> Tensor:
        try:
            found: Tensor = torch.linalg.inv(x)
        except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
            found = x - 1
        return found

    program = dycl.compile(Calls(inverse).eval(), torch.eye(3))
    for x in (torch.eye(3), torch.zeros(3, 3)):
        torch.testing.assert_close(program(x), inverse(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.interpolate(x[None, None], size=int(x[0])),
        lambda x: F.interpolate(x[x > 0][None, None], scale_factor=0.5),
        lambda x: F.interpolate(x[x > 0][None, :, None].expand(1, -1, 2), scale_factor=2),
        lambda x: F.pad(x, (-int(x[0]), int(x[0]))),
        lambda x: torch.stack([x, x])[:, x > 0].unique(dim=0),
    ],
)
def test_nothing_where_pytorch_wants_something(function: Callable[[Tensor], Tensor]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1.0, 2.0, 3.0]))
    for numbers in ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [-1.0, -2.0, 5.0], [5.0, 6.0, 7.0], [-1.0, -1.0, -1.0]):
        x = torch.tensor(numbers)
        try:
            expected = function(x)
        except RuntimeError:
            with pytest.raises(RuntimeError):
                program(x)
        else:
            torch.testing.assert_close(program(x), expected)


def _rows_by_place(x: Tensor) -> Tensor:
    rows, columns = torch.where(x > 0)
    kept = x[x.sum(1) > 0]
    row = (kept > 0).nonzero()[:, 0]
    return x[rows].sum() + x[rows, columns].sum() + kept[row].sum() + kept.index_add(0, row, kept[row]).sum()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.gather(1, x.argmax(1, keepdim=True)) + x.gather(1, x.topk(1).indices),
        lambda x: F.one_hot((x > 0).sum(1), 5),
        _rows_by_place,
    ],
)
def test_places_that_were_found_are_not_checked(function: Callable[[Tensor], Tensor]) -> None:
    program = dycl.compile(Calls(function).eval(), (torch.randn(3, 4),))
    assert not any(isinstance(step, Check) for block in program.hcfg.blocks.values() for step in block.steps)
    for x in (torch.randn(3, 4), torch.zeros(3, 4), -torch.rand(3, 4)):
        torch.testing.assert_close(program(x), function(x))


NARROW: dict[str, Callable[[Tensor], Tensor]] = {
    "int8": lambda x: F.embedding(x.argmax().to(torch.int8).long(), torch.arange(600.0).reshape(300, 2)),
    "uint8": lambda x: F.one_hot((x.argmax().to(torch.uint8) - 100).long(), 256),
    "int32": lambda x: F.one_hot((x.argmax().to(torch.int32) * 2**24).long() // 2**22, 1200),
    "not a number": lambda x: F.one_hot(x[0].clamp(0, 1).mul(5).long(), 6),
    "the smaller of what is not a number": lambda x: F.one_hot(x[0].minimum(x[1]).clamp(0, 5).long(), 6),
    "up": lambda x: F.one_hot(x[0].nan_to_num().clamp(0.0, 2.5).ceil().long(), 3),
    "rounded": lambda x: F.one_hot((x[0].nan_to_num() % 4).round().long(), 4),
    "down": lambda x: F.one_hot((-x[0].nan_to_num().clamp(0.0, 2.5)).floor().long() + 2, 4),
    "a third": lambda x: F.one_hot((x[0].nan_to_num().clamp(0.0, 0.3) * 10).ceil().long(), 4),
    "a column": lambda x: F.one_hot(x.reshape(3, 100).nonzero()[:, 0], 3),
    "another column": lambda x: F.one_hot(x.reshape(3, 100).nonzero().t()[1], 3),
    "a row": lambda x: F.one_hot(x.reshape(3, 100).nonzero()[0], 3),
}


@pytest.mark.parametrize("name", NARROW)
def test_bounds_of_places_are_those_of_their_type(name: str) -> None:
    function = NARROW[name]
    program = dycl.compile(Calls(function).eval(), torch.eye(300)[1])
    for x in (*torch.eye(300)[[0, 1, 3, 99, 127, 128, 255, 299]], *(torch.full((300,), v) for v in (3.9, 2.4, nan))):
        expected, found = _outcome(function, x), _outcome(program, x)
        if isinstance(expected, Tensor):
            torch.testing.assert_close(found, expected)
        else:
            assert found is expected


def test_a_number_of_classes_that_the_input_determines() -> None:
    def marked(x: Tensor, n: Tensor) -> Tensor:
        return F.one_hot(x, int(n))

    program = dycl.compile(CallsWithTwo(marked).eval(), (torch.tensor([0, 2]), torch.tensor(3)))
    for classes in ([0, 2], [1, 0], [-1, 0]):
        for number in (3, 5, -1, 1, 0, -2):
            x, n = torch.tensor(classes), torch.tensor(number)
            expected, found = _outcome(marked, x, n), _outcome(program, x, n)
            assert (found is expected) if isinstance(expected, type) else torch.equal(found, expected)


def _stored(x: Tensor) -> tuple[Tensor, ...]:
    first, second, third = x * 1, x.sum(), x * 2
    first[x.sum() > 0] = 5.0
    second[second > 0] = 3.0
    third[:, x.sum() > 0, 0] = x[:, :1]
    return first, second, third


FLAGS: dict[str, Callable[[Tensor], Any]] = {
    "tensor": lambda x: (x[x.sum() > 0], x[1, x.sum() > 0], x[..., x.sum() > 0], x[None, x.sum() > 0, 1:]),
    "before a number": lambda x: x[:, x.sum() > 0, 1],
    "of Python": lambda x: (x[bool(x.sum() > 0)], x[True, int(x.sum() > 0)]),
    "narrow": lambda x: x[(x.sum() > 0).to(torch.uint8)],
    "of one number": lambda x: x[0, 0][x[0, 0] > 0],
    "of a constant": lambda x: torch.ones(3)[x.sum() > 0],
    "written": _stored,
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.filterwarnings("ignore")
def test_a_flag_as_an_index_is_a_mask(name: str) -> None:
    program = dycl.compile(Calls(FLAGS[name]).eval(), (torch.ones(3, 2),))
    for x in (torch.ones(3, 2), -torch.ones(3, 2), torch.arange(6.0).reshape(3, 2)):
        torch.testing.assert_close(program(x), FLAGS[name](x))


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
        expected, found = _outcome(snippet, number), _outcome(program, torch.tensor(number, dtype=dtype))
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
        expected, found = (_outcome(function, x) for function in (EMPTY[name], program))
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
        expected, found = (_outcome(function, x) for function in (snippet, program))
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
            expected, found = (_outcome(function, *pair) for function in (snippet, program))
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
        expected = _outcome(snippet, x, torch.tensor(weights))
        found = _outcome(program, x, torch.tensor(weights))
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
        expected, found = (_outcome(function, x, torch.tensor(labels)) for function in (snippet, program))
        assert (found is expected) if isinstance(expected, type) else torch.allclose(found, expected)


def test_unique_parts_are_not_looked_for_among_nan() -> None:
    def unique(x: Tensor) -> Tensor:
        return torch.unique(x + 1 if x.sum() > 0 else x, dim=0)  # type: ignore[no-any-return]

    program = dycl.compile(Calls(unique).eval(), torch.ones(3, 2))
    x = torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    torch.testing.assert_close(program(x), unique(x))
    with pytest.raises(ValueError, match="among NaN"):
        program(torch.tensor([[nan, 2.0], [0.0, 1.0], [1.0, 2.0]]))
