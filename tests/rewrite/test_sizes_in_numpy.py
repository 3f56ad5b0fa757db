"""NumPy's calls on sizes and numbers that only the input determines: its results and its errors, or refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import dycl
from tests.comparison import Calls, assert_same


def _second_of_those_above(x: Tensor) -> Any:
    array = x.numpy()
    above = array[array > 0]
    return float(above[1]) if above.size > 1 else 0.0


def _greatest_of_those_above(x: Tensor) -> Any:
    array = x.numpy()
    try:
        greatest = array[array > 0].max()
    except ValueError:
        greatest = -1.0
    return float(greatest) if greatest > 2 else greatest


def _those_above_and_two(x: Tensor) -> Any:
    array = x.numpy()
    try:
        return array[array > 0] + np.ones(2, np.float32)
    except ValueError:
        return "no"


@pytest.mark.parametrize("function", [_second_of_those_above, _greatest_of_those_above, _those_above_and_two])
def test_parts_of_arrays(function: Callable[[Tensor], Any]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1.0, 2, 3, 4]))
    for x in ([1.0, 2, 3, 4], [-1.0, -2, -3, -4], [1.0, -1, 2, -1], [-1.0, 3, -1, -1]):
        assert_same(function(torch.tensor(x)), program(torch.tensor(x)))


def _place(x: Tensor) -> Any:
    array = x.numpy()
    try:
        return array[1]
    except IndexError:
        return array[0]


def _places(x: Tensor) -> Any:
    array = x.numpy()
    try:
        return np.take(array, [0, 3]), array[[0, 2]]
    except IndexError:
        return "no"


def _in_two_rows(x: Tensor) -> Any:
    array = x.numpy()
    try:
        rows = array.reshape(2, -1)
    except ValueError:
        rows = array
    return rows if x.sum() > 0 else rows + 1


@pytest.mark.parametrize("function", [_place, _places, _in_two_rows])
def test_arrays_of_open_sizes(function: Callable[[Tensor], Any]) -> None:
    sizes = {"x": {0: torch.export.Dim("n", max=8)}}
    program = dycl.compile(Calls(function).eval(), torch.ones(4), dynamic_shapes=sizes)
    for count in (1, 2, 3, 4, 5):
        for x in (torch.arange(1.0, count + 1), -torch.arange(1.0, count + 1)):
            assert_same(function(x), program(x))


def test_an_axis_of_the_input_s_own_is_refused() -> None:
    with pytest.raises(dycl.CompileError, match="DY014"):
        dycl.compile(Calls(lambda x: x.numpy().mean(axis=int(x[0]))).eval(), torch.ones(4))


def _numbers(x: Tensor) -> Any:
    k = int(x[0])
    return np.arange(k).sum(), len(np.arange(k, 2)), np.arange(5, k), np.arange(0, k, 2).size


def _every_so_many(x: Tensor) -> Any:
    try:
        return np.arange(0, 4, int(x[0])).sum()
    except ZeroDivisionError:
        return "no"


def _made(x: Tensor) -> Any:
    try:
        return np.zeros(int(x[0])).size, np.ones((2, int(x[0]))).shape, np.full(int(x[0]), 2.0)
    except ValueError:
        return "no"


@pytest.mark.parametrize("function", [_numbers, _every_so_many, _made])
def test_arrays_made_of_numbers_of_the_input(function: Callable[[Tensor], Any]) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1.0, 2]))
    for number in (1, 3, 0, -1, -2, 7):
        x = torch.tensor([float(number), 0])
        assert_same(function(x), program(x))


def test_the_root_of_minus_infinity_is_numpys() -> None:
    program = dycl.compile(Calls(lambda x: (x.numpy() ** 0.5, np.power(x.numpy(), 0.25))).eval(), torch.ones(2))
    x = torch.tensor([-torch.inf, 4.0])
    with np.errstate(invalid="ignore"):
        assert_same((x.numpy() ** 0.5, np.power(x.numpy(), 0.25)), program(x))


def _fitted(x: Tensor) -> Any:
    n = int(x[0])
    array = x.numpy().astype(np.uint8)
    limited = np.clip(array, 0, 300), array.clip(-n, 2), np.where(x.numpy() > 0, array, n)
    try:
        made = np.uint8(n), np.array([n, 1], dtype=np.int8), np.full(2, n, dtype=np.int16), np.full_like(array, n)
        return [*limited, *made, array.clip(0, n)]
    except OverflowError:
        return "too large"


def _stored(x: Tensor) -> Any:
    array = x.numpy().astype(np.int8)
    try:
        array[1] = int(x[0]) * 2
    except OverflowError:
        return "too large"
    return array


def _compared(x: Tensor) -> Any:
    array, n = x.numpy().astype(np.uint8), int(x[0])
    return array < -1, array > 255, array == 256 + 1, array != 300, array < n * 100, array[0] >= -n


@pytest.mark.parametrize("function", [_fitted, _stored, _compared])
@pytest.mark.parametrize("first", [1, -1, 60, 127, 128, 300])
def test_numbers_that_do_not_fit(function: Callable[[Tensor], Any], first: int) -> None:
    program = dycl.compile(Calls(function).eval(), torch.tensor([1, 2]))
    x = torch.tensor([first, 2])
    assert_same(function(x.clone()), program(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [1, 2][x.numpy()[0] > 1],
        lambda x: float(x.numpy()[:1]),
        lambda x: (1, 2)[x.numpy()[:1].astype(int)],
    ],
)
def test_what_is_no_number(function: Callable[[Tensor], Any]) -> None:
    with pytest.raises(TypeError):
        function(torch.ones(2))
    with pytest.raises(dycl.CompileError, match="TypeError"):
        dycl.compile(Calls(function).eval(), torch.ones(2))


def _filled_too_much(x: Tensor) -> Any:
    array = x.numpy().astype(np.int8)
    try:
        array[0] = 300
    except OverflowError:
        array.fill(7)
    return array


def test_a_known_number_that_does_not_fit() -> None:
    x = torch.tensor([1, 2])
    assert_same(_filled_too_much(x), dycl.compile(Calls(_filled_too_much).eval(), x)(x))
