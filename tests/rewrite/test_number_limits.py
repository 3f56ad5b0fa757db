"""A number of the input that does not fit an element type: refused, wrapped around or infinite, as in PyTorch."""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dycl
from tests.comparison import Calls, CallsWithTwo

Snippet = Callable[[Tensor, Any], Any]


def _stored(y: Tensor, v: Any) -> Tensor:
    y = y.clone()
    y[1] = v
    return y


def _stored_in_a_part(y: Tensor, v: Any) -> Tensor:
    y = y.clone()
    y[1:][y[1:] > 0] = v
    return y


def _stored_or_not(y: Tensor, v: Any) -> Tensor:
    try:
        y = _stored(y, v)
    except RuntimeError:
        y = y - 1
    return y


def _added_in_place(y: Tensor, v: Any) -> Tensor:
    y = y.clone()
    y += v
    return y


TAKEN: dict[str, Snippet] = {
    "stored": _stored,
    "stored in a part": _stored_in_a_part,
    "stored or not": _stored_or_not,
    "added in place": _added_in_place,
    "added": lambda y, v: y + v,
    "multiplied": lambda y, v: y * v,
    "subtracted from": lambda y, v: v - y,
    "compared": lambda y, v: y < v,
    "added so often": lambda y, v: torch.add(y, y, alpha=v),
    "product added so often": lambda y, v: torch.addcmul(y, y, y, value=v),
    "below the threshold": lambda y, v: F.threshold(y, 1, v),
    "clipped": lambda y, v: y.clip(v, v),
    "clamped from below": lambda y, v: y.clamp(min=v),
    "filled": lambda y, v: y.clone().fill_(v),
    "masked": lambda y, v: y.masked_fill(y > 1, v),
    "filled at places": lambda y, v: y.index_fill(0, torch.tensor([1]), v),
    "scattered": lambda y, v: y.scatter(0, torch.tensor([1]), v),
    "chosen": lambda y, v: torch.where(y > 1, y, v),
    "full": lambda y, v: torch.full((2,), v, dtype=y.dtype),
    "full like": lambda y, v: torch.full_like(y, v),
    "new tensor": lambda y, v: y.new_tensor([v, 1]),
    "a tensor": lambda y, v: torch.tensor([[1], [v]], dtype=y.dtype),
}
TYPES = (torch.int8, torch.uint8, torch.int32, torch.float16, torch.bfloat16, torch.float32)
NUMBERS = (1, 3, -3, 0, 127, 128, -129, 255, 256, -300, 2**15, 65504, 65520, 10**6, 2**31 - 1, 2**31, 10**18)


def _found(snippet: Snippet, y: Tensor, v: Any) -> Any:
    try:
        return snippet(y, v)
    except (RuntimeError, OverflowError):
        return "refused"


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", TAKEN)
def test_a_whole_number_of_the_input(name: str, dtype: torch.dtype) -> None:
    _compare(lambda y, v: TAKEN[name](y, int(v)), dtype, NUMBERS)


@pytest.mark.parametrize("dtype", (torch.int8, torch.float16), ids=str)
@pytest.mark.parametrize("name", ("masked", "filled at places", "filled", "new tensor", "a tensor", "stored"))
def test_a_tensor_of_one_number(name: str, dtype: torch.dtype) -> None:
    _compare(TAKEN[name], dtype, NUMBERS[:-1])


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32), ids=str)
@pytest.mark.parametrize("name", sorted(TAKEN.keys() - {"added so often", "a tensor", "new tensor"}))
def test_a_float_of_the_input(name: str, dtype: torch.dtype) -> None:
    numbers = (1.0, -3.0, 65504.0, 1e5, -1e5, 3e38, 1e39, 1e300, float("inf"), float("nan"))
    _compare(lambda y, v: TAKEN[name](y, float(v)), dtype, numbers)


def _compare(snippet: Snippet, dtype: torch.dtype, numbers: tuple[Any, ...]) -> None:
    y = torch.arange(4).to(dtype)
    wide = torch.float64 if isinstance(numbers[0], float) else torch.int64
    program = dycl.compile(CallsWithTwo(snippet).eval(), (y, torch.tensor(1, dtype=wide)))
    for number in numbers:
        v = torch.tensor(number, dtype=wide)
        expected, found = _found(snippet, y, v), _found(program, y, v)
        if isinstance(expected, Tensor) and isinstance(found, Tensor):
            torch.testing.assert_close(found, expected, equal_nan=True, msg=f"{number}: {found} is not {expected}")
        else:
            assert found is expected, f"{number}: {found} is not {expected}"


@pytest.mark.parametrize("name", ["filled", "full like", "masked", "clamped from below"])
def test_one_element_goes_another_way(name: str) -> None:
    for y in (torch.ones(1, dtype=torch.float16), torch.ones(3, dtype=torch.float16)):
        program = dycl.compile(CallsWithTwo(lambda y, v: TAKEN[name](y, float(v))).eval(), (y, torch.tensor(1.0)))
        for number in (1.0, 1e5):
            v = torch.tensor(number)
            expected, found = _found(lambda y, v: TAKEN[name](y, float(v)), y, v), _found(program, y, v)
            assert found is expected or torch.equal(found, expected), f"{number} of {len(y)}: {found} is not {expected}"


_CORNERS = (0.0, -0.0, 1.0, -1.0, -2.0, 0.5, 3.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("power", [operator.pow, math.pow])
def test_powers_at_the_corners_are_pythons(power: Callable[[float, float], Any]) -> None:
    """Zero, infinite numbers and NaN; a complex result is the one that a program does not have."""
    program = dycl.compile(
        Calls(lambda x: power(x[0].item(), x[1].item())).eval(), (torch.ones(2, dtype=torch.float64),)
    )
    for base, exponent in itertools.product(_CORNERS, _CORNERS):
        expected = _outcome(power, base, exponent)
        found = _outcome(program, torch.tensor([base, exponent], dtype=torch.float64))
        told = f"{base} to {exponent}: {found}, not {expected}"
        if isinstance(expected, complex):
            assert found is ValueError, told
        else:
            assert found == expected or (found != found and expected != expected), told


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return type(error)


def test_a_root_by_a_number_of_the_input_is_one() -> None:
    """PyTorch takes the root where an exponent is a half, and minus infinity has none."""
    snippet: Snippet = lambda x, e: x.pow(e[0].item())  # noqa: E731
    x = torch.tensor([-math.inf, math.inf, 4.0, -1.0, 0.0])
    program = dycl.compile(CallsWithTwo(snippet).eval(), (x, torch.ones(1)))
    for exponent in (0.5, -0.5, 2.0, 1.5, -1.0):
        e = torch.tensor([exponent])
        torch.testing.assert_close(program(x, e), snippet(x, e), equal_nan=True)


@pytest.mark.parametrize("numbers", [(3.0, 4.0), (1e200, 1.0), (math.inf, math.nan), (math.nan, 1.0), (0.0, -0.0)])
def test_the_length_of_large_numbers_is_numpys(numbers: tuple[float, float]) -> None:
    program = dycl.compile(
        Calls(lambda x: np.hypot(x[0].item(), x[1].item())).eval(), (torch.ones(2, dtype=torch.float64),)
    )
    np.testing.assert_allclose(program(torch.tensor(numbers, dtype=torch.float64)), np.hypot(*numbers))


def test_degrees_without_a_limit() -> None:
    program = dycl.compile(Calls(lambda x: math.degrees(x[0].item())).eval(), (torch.ones(1, dtype=torch.float64),))
    for number in (0.5, -3.0, 1e308, -math.inf):
        assert program(torch.tensor([number], dtype=torch.float64)) == math.degrees(number)


class _FindsAgain(nn.Module):
    """Looks for a number among others, behind a decision."""

    def forward(self, x: Tensor) -> Any:
        number = x[0].item()
        items = [number, 1.0]
        if x[1] > 0:
            items.append(2.0)
        return items.count(number), number in items, max(x.tolist()) in x.tolist()


def test_whether_nan_is_among_numbers_is_not_known_behind_a_decision() -> None:
    """Python asks first whether it is the same object: equal numbers are found, NaN ends the call."""
    model = _FindsAgain().eval()
    program = dycl.compile(model, torch.ones(2))
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0]), torch.tensor([-1.0, math.nan])):
        assert program(x) == model(x)
    for x in (torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, -1.0])):
        with pytest.raises(ValueError, match="NaN"):
            program(x)


class _FindsAmongEqual(nn.Module):
    """Asks by identity for numbers that may be NaN, behind the decisions that the first question takes."""

    def forward(self, x: Tensor) -> Any:
        items = [x[1].sqrt().item(), x[0].sqrt().item(), x[1].sqrt().item()]
        return items.index(items[1]), items.count(items[2]), (items[0], items[2]).index(items[2])


def test_numbers_that_are_nan_are_not_told_apart_once_a_question_has_decided() -> None:
    """Eager PyTorch knows which object is which, a program does not any more: it stops rather than guess."""
    model = _FindsAmongEqual().eval()
    program = dycl.compile(model, torch.ones(2))
    for x in (torch.ones(2), torch.tensor([4.0, 9.0]), torch.tensor([-1.0, 4.0])):
        assert program(x) == model(x)
    for x in (-torch.ones(2), torch.tensor([4.0, -1.0])):
        model(x)
        with pytest.raises(ValueError, match="NaN"):
            program(x)
