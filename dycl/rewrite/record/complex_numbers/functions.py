"""Functions of complex numbers as functions of their real and imaginary part."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dycl.rewrite.record.complex_numbers.rules import REAL, Call, Pair, nonzero
from dycl.rewrite.signals import Refused

aten = torch.ops.aten
Parts = tuple[Any, Any]
# Beyond, the hyperbolic tangent is 1 in every precision, and its parts would overflow.
_FAR = 40.0


def _function(compute: Callable[[Any, Any], Parts]) -> Callable[..., Pair]:
    """A function of one complex tensor, given as a function of its parts."""

    def rule(call: Call, tensor: Tensor) -> Pair:
        return call.joined(*compute(*call.parts(tensor)))

    return rule


def _precise(compute: Callable[[Any, Any], Parts]) -> Callable[..., Pair]:
    """A function whose formula loses digits: single precision is computed in double, double is refused."""

    def rule(call: Call, tensor: Tensor) -> Pair:
        if call.result_type() != torch.float32:
            raise Refused("DY004", f"`{call.func}` of complex numbers in double precision has no translation")
        return call.joined(*compute(*(part.double() for part in call.parts(tensor))))

    return rule


def _times(a: Any, b: Any, c: Any, d: Any) -> Parts:
    return a * c - b * d, a * d + b * c


def _log(a: Any, b: Any) -> Parts:
    return torch.hypot(a, b).log(), torch.atan2(b, a)


def _log_of_base(base: float) -> Callable[[Any, Any], Parts]:
    def compute(a: Any, b: Any) -> Parts:
        real, imaginary = _log(a, b)
        return real / math.log(base), imaginary / math.log(base)

    return compute


def _log1p(a: Any, b: Any) -> Parts:
    return _log(a + 1, b)


def _expm1(a: Any, b: Any) -> Parts:
    size = a.exp()
    return size * b.cos() - 1, size * b.sin()


def _sqrt(a: Any, b: Any) -> Parts:
    long = torch.sqrt((torch.hypot(a, b) + a.abs()) / 2)
    short = torch.where(torch.eq(long, 0), torch.zeros_like(long), b.abs() / (2 * long))
    left = torch.lt(a, 0)
    return torch.where(left, short, long), torch.copysign(torch.where(left, long, short), b)


def _inverse(a: Any, b: Any) -> Parts:
    scale = torch.maximum(a.abs(), b.abs())
    a, b = a / scale, b / scale
    size = (a * a + b * b) * scale
    return torch.where(torch.eq(scale, 0), 1 / scale, a / size), -b / size


def _sin(a: Any, b: Any) -> Parts:
    return a.sin() * b.cosh(), a.cos() * b.sinh()


def _cos(a: Any, b: Any) -> Parts:
    return a.cos() * b.cosh(), -a.sin() * b.sinh()


def _sinh(a: Any, b: Any) -> Parts:
    return a.sinh() * b.cos(), a.cosh() * b.sin()


def _cosh(a: Any, b: Any) -> Parts:
    return a.cosh() * b.cos(), a.sinh() * b.sin()


def _tanh(a: Any, b: Any) -> Parts:
    twice = torch.clamp(2 * a, -_FAR, _FAR)
    size = twice.cosh() + (2 * b).cos()
    return twice.sinh() / size, (2 * b).sin() / size


def _tan(a: Any, b: Any) -> Parts:
    real, imaginary = _tanh(-b, a)
    return imaginary, -real


def _sigmoid(a: Any, b: Any) -> Parts:
    size = (-a).exp()
    return _inverse(1 + size * b.cos(), -size * b.sin())


def _asinh(a: Any, b: Any) -> Parts:
    # The sum loses digits left of the axis: take the mirror image of the number on the right.
    sign = torch.where(torch.lt(a, 0), -torch.ones_like(a), torch.ones_like(a))
    a, b = a * sign, b * sign
    real, imaginary = _times(a, b, a, b)
    root = _sqrt(real + 1, imaginary)
    real, imaginary = _log(a + root[0], b + root[1])
    return real * sign, imaginary * sign


def _asin(a: Any, b: Any) -> Parts:
    real, imaginary = _asinh(-b, a)
    return imaginary, -real


def _acos(a: Any, b: Any) -> Parts:
    real, imaginary = _asin(a, b)
    return math.pi / 2 - real, -imaginary


def _acosh(a: Any, b: Any) -> Parts:
    first, second = _sqrt(a + 1, b), _sqrt(a - 1, b)
    real, imaginary = _times(*first, *second)
    return _log(a + real, b + imaginary)


def _atanh(a: Any, b: Any) -> Parts:
    first, second = _log(1 + a, b), _log(1 - a, -b)
    return (first[0] - second[0]) / 2, (first[1] - second[1]) / 2


def _atan(a: Any, b: Any) -> Parts:
    real, imaginary = _atanh(-b, a)
    return imaginary, -real


def _sign(a: Any, b: Any) -> Parts:
    size = torch.hypot(a, b)
    nothing = torch.eq(size, 0)
    size = torch.where(nothing, torch.ones_like(size), size)
    return a / size, b / size


def _equal(unequal: bool) -> Callable[..., Tensor]:
    def rule(call: Call, first: Any, second: Any) -> Tensor:
        (a, b), (c, d) = call.parts(first), call.parts(second)
        same = torch.logical_and(torch.eq(torch.as_tensor(a), c), torch.eq(torch.as_tensor(b), d))
        return torch.logical_not(same) if unequal else same

    return rule


def _any_part(test: Callable[[Any], Tensor], both: bool = False) -> Callable[..., Tensor]:
    def rule(call: Call, tensor: Tensor) -> Tensor:
        found = [test(part) for part in call.parts(tensor)]
        return torch.logical_and(*found) if both else torch.logical_or(*found)

    return rule


def _each_part(call: Call, *args: Any, **kwargs: Any) -> Pair:
    """An operation that only moves numbers, or adds them up: the same on each part."""

    def part(tree: Any, which: int) -> Any:
        if isinstance(tree, Tensor) and tree.is_complex():
            return call.parts(tree)[which]
        if isinstance(tree, Tensor) and which and tree.is_floating_point():
            return torch.zeros_like(tree)
        if isinstance(tree, torch.dtype):
            return REAL.get(tree, tree)
        return type(tree)([part(item, which) for item in tree]) if isinstance(tree, list | tuple) else tree

    if any(isinstance(value, complex) for value in (*args, *kwargs.values())):
        raise Refused("DY004", f"`{call.func}` with a complex number has no translation")
    real, imaginary = (
        call.func(*part(args, which), **{name: part(value, which) for name, value in kwargs.items()})
        for which in (0, 1)
    )
    return call.joined(real, imaginary)


def _filled(call: Call, tensor: Tensor, value: Any = 1, *, dtype: torch.dtype | None = None, **options: Any) -> Any:
    """A tensor like this one with a number everywhere."""
    if dtype is not None and not dtype.is_complex:
        return torch.full(tensor.shape, value, dtype=dtype)
    real, imaginary = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
    return call.joined(torch.full(tensor.shape, float(real)), torch.full(tensor.shape, float(imaginary)))


def _masked_fill(call: Call, tensor: Tensor, mask: Tensor, value: Any) -> Pair:
    (a, b), (c, d) = call.parts(tensor), call.parts(value)
    return call.joined(torch.where(mask, c, a), torch.where(mask, d, b))


def _power(call: Call, base: Any, exponent: Any) -> Pair:
    """By the logarithm, but for a square; zero to any power but zero is zero."""
    (a, b), (c, d) = (tuple(map(torch.as_tensor, call.parts(value))) for value in (base, exponent))
    if not isinstance(exponent, Tensor) and exponent == 2:
        return call.joined(*_times(a, b, a, b))
    if not isinstance(exponent, Tensor) and exponent == 1:
        return call.joined(a + 0, b + 0)
    if not isinstance(exponent, Tensor) and exponent == -1:
        return call.joined(*_inverse(a, b))
    real, imaginary = _times(*_log(a, b), c, d)
    size = real.exp()
    of_nothing = _power_of_zero(c, d, isinstance(exponent, Tensor), size.dtype)
    nothing = torch.logical_and(torch.eq(a, 0), torch.eq(b, 0))
    results = (size * imaginary.cos(), size * imaginary.sin())
    return call.joined(torch.where(nothing, of_nothing[0], results[0]), torch.where(nothing, of_nothing[1], results[1]))


def _power_of_zero(c: Tensor, d: Tensor, by_tensor: bool, dtype: torch.dtype) -> Parts:
    """What PyTorch gives for zero to the power of `c + di`: one to the power of zero only where that is a number."""
    nothing, unknown = torch.zeros_like(c, dtype=dtype), torch.full_like(c, math.nan, dtype=dtype)
    once = torch.logical_and(torch.logical_and(torch.eq(c, 0), torch.eq(d, 0)), torch.tensor(not by_tensor))
    real = torch.where(torch.lt(c, 0), torch.full_like(nothing, math.inf), torch.where(once, nothing + 1, unknown))
    imaginary = torch.where(once, nothing, unknown)
    return torch.where(torch.gt(c, 0), nothing, real), torch.where(torch.gt(c, 0), nothing, imaginary)


def _any(call: Call, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return torch.any(nonzero(call, tensor), *args, **kwargs)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": _function(_log),
    "log2": _function(_log_of_base(2)),
    "log10": _function(_log_of_base(10)),
    "log1p": _precise(_log1p),
    "expm1": _precise(_expm1),
    "sqrt": _function(_sqrt),
    "rsqrt": _function(lambda a, b: _inverse(*_sqrt(a, b))),
    "sin": _function(_sin),
    "cos": _function(_cos),
    "tan": _function(_tan),
    "sinh": _function(_sinh),
    "cosh": _function(_cosh),
    "tanh": _function(_tanh),
    "sigmoid": _function(_sigmoid),
    "asin": _precise(_asin),
    "acos": _precise(_acos),
    "atan": _precise(_atan),
    "asinh": _precise(_asinh),
    "acosh": _precise(_acosh),
    "atanh": _precise(_atanh),
    "sgn": _function(_sign),
    "square": _function(lambda a, b: _times(a, b, a, b)),
    "isnan": _any_part(torch.isnan),
    "isinf": _any_part(torch.isinf),
    "isfinite": _any_part(torch.isfinite, both=True),
    "logical_not": _any_part(lambda part: torch.eq(part, 0), both=True),
}
_MOVING = (
    *("gather.default", "tril.default", "triu.default", "cumsum.default", "diag_embed.default", "take.default"),
    *("index_add.default", "index_copy.default", "scatter.src", "scatter_add.default", "masked_select.default"),
    *(
        "masked_scatter.default",
        "put.default",
        "index_put.default",
        "select_scatter.default",
        "diagonal_scatter.default",
    ),
    *("slice_scatter.default", "repeat_interleave.self_int", "repeat_interleave.self_Tensor", "trace.default"),
    *("im2col.default", "col2im.default", "block_diag.default"),
)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"aten.{name}.default": rule for name, rule in _FUNCTIONS.items()},
    **{f"aten.{name}": _each_part for name in _MOVING},
    **{f"aten.eq.{form}": _equal(unequal=False) for form in ("Tensor", "Scalar")},
    **{f"aten.ne.{form}": _equal(unequal=True) for form in ("Tensor", "Scalar")},
    **{f"aten.pow.{form}": _power for form in ("Tensor_Scalar", "Tensor_Tensor", "Scalar")},
    **{f"aten.any.{form}": _any for form in ("default", "dim", "dims")},
    "aten.ones_like.default": _filled,
    "aten.full_like.default": _filled,
    "aten.masked_fill.Scalar": _masked_fill,
    "aten.masked_fill.Tensor": _masked_fill,
}
