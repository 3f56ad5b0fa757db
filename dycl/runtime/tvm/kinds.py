"""The operations that a code may name: what each takes and gives for tensors of known sizes, or that it takes no such.

Kernels are built from these and trust them, so nothing reaches those that has not been checked here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dycl.hcfg.types import TensorType

Shape = tuple[int, ...]
Attributes = Mapping[str, Any]

FLOATS = ("float32", "float64")
NUMBERS = ("int32", "int64", *FLOATS)
DTYPES = ("bool", *NUMBERS)
MOST_ELEMENTS, MOST_RANK = 2**28, 8

OF_FLOATS = (
    *("sigmoid", "tanh", "gelu", "gelu_tanh", "silu", "hardswish", "hardsigmoid"),
    *("exp", "log", "sqrt", "rsqrt", "reciprocal"),
)
OF_NUMBERS = ("relu", "neg", "abs")
COMPARED = ("gt", "ge", "lt", "le", "eq", "ne")
LOGICAL = ("and", "or")


class Unfit(Exception):
    """An operation does not take these tensors or attributes."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The element type and the sizes of a value."""

    dtype: str
    shape: Shape

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Kind:
    """What an operation gives, how many operands it takes, its attributes, and from where on they are weights."""

    gives: Callable[[Sequence[Tensor], Attributes], Tensor]
    takes: range
    attributes: frozenset[str] = frozenset()
    weights_from: int | None = None
    elementwise: bool = False


def tensor_of(told: TensorType) -> Tensor:
    """A tensor of known sizes, none of which is 0."""
    shape = tuple(size for size in told.shape if isinstance(size, int))
    if told.dtype not in DTYPES or len(shape) != len(told.shape):
        raise Unfit(f"{told} is not of known sizes, or of a type that is not computed with")
    return bounded(Tensor(told.dtype, shape))


def bounded(tensor: Tensor) -> Tensor:
    """The tensor itself, if it is not too large and not empty."""
    if len(tensor.shape) > MOST_RANK or not 0 < tensor.size < MOST_ELEMENTS or min(tensor.shape, default=1) < 1:
        raise Unfit(f"a tensor of sizes {tensor.shape}")
    return tensor


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise Unfit(reason)


def _whole(value: Any, least: int = 0) -> int:
    _require(type(value) is int and least <= value < MOST_ELEMENTS, f"{value!r} is no whole number in range")
    return int(value)


def _wholes(value: Any, least: int = 0) -> Shape:
    _require(isinstance(value, list | tuple) and len(value) <= MOST_RANK, f"{value!r} is no list of whole numbers")
    return tuple(_whole(item, least) for item in value)


def _pair(value: Any, least: int = 0) -> tuple[int, int]:
    found = _wholes(value, least)
    _require(len(found) == 2, f"{value!r} is not two whole numbers")
    return found[0], found[1]


def _number(value: Any) -> float:
    _require(type(value) in (int, float) and math.isfinite(value), f"{value!r} is no number")
    return float(value)


def _flag(value: Any) -> bool:
    _require(type(value) is bool, f"{value!r} is no flag")
    return bool(value)


def _epsilon(a: Attributes) -> None:
    _require(0 <= _number(a["eps"]) < 1, "no small number")


def _axis(value: Any, rank: int) -> int:
    axis = _whole(value)
    _require(axis < rank, f"there is no axis {axis}")
    return axis


def _axes(value: Any, rank: int) -> Shape:
    axes = tuple(_axis(axis, rank) for axis in _wholes(value))
    _require(len(set(axes)) == len(axes), "an axis that is named twice")
    return axes


def _single(*tensors: Tensor) -> None:
    _require(all(tensor.dtype == "float32" for tensor in tensors), "not in single precision")


def _along(size: int, padding: int, window: int, dilation: int, stride: int, ceil: bool = False) -> int:
    room = size + 2 * padding - dilation * (window - 1) - 1
    _require(room >= 0, "the window is larger than the image")
    count = -(-room // stride) + 1 if ceil else room // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= size + padding else count


def _convolved(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    image, weight = given[0].shape, given[1].shape
    _require(len(image) == 4 and len(weight) == 4, "no images, or no windows")
    groups, stride, dilation = _whole(a["groups"], 1), _pair(a["stride"], 1), _pair(a["dilation"], 1)
    padding = _pair(a["padding"])
    _require(image[1] == weight[1] * groups and weight[0] % groups == 0, "channels that do not make these groups")
    _require(len(given) < 3 or given[2].shape == (weight[0],), "a bias of another size")
    rows, columns = (_along(image[2 + i], padding[i], weight[2 + i], dilation[i], stride[i]) for i in (0, 1))
    return Tensor("float32", (image[0], weight[0], rows, columns))


def _linear(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    rows, weight = given[0].shape, given[1].shape
    _require(len(weight) == 2 and bool(rows) and rows[-1] == weight[1], "rows of another length")
    _require(len(given) < 3 or given[2].shape == (weight[0],), "a bias of another size")
    return Tensor("float32", (*rows[:-1], weight[0]))


def _product(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    left, right = (tensor.shape for tensor in given)
    _require(len(left) == len(right) == 3, "no matrices")
    _require(left[0] == right[0] and left[2] == right[1], "matrices that do not fit")
    return Tensor("float32", (left[0], left[1], right[2]))


def _normalised(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    _epsilon(a)
    _require(len(given[0].shape) in (2, 3, 4) and len(given) != 4, "nothing with channels")
    _require(all(tensor.shape == given[0].shape[1:2] for tensor in given[1:]), "another number of channels")
    return given[0]


def _layer_normalised(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    _epsilon(a)
    _require(bool(given[0].shape), "a number")
    _require(
        all(tensor.shape == given[0].shape[-1:] for tensor in given[1:]) and len(given) != 2, "rows of other sizes"
    )
    return given[0]


def _pooled(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    _require(len(given[0].shape) == 4, "no images")
    window, stride, padding, ceil = _pair(a["window"], 1), _pair(a["stride"], 1), _pair(a["padding"]), _flag(a["ceil"])
    _require(all(2 * padding[i] <= window[i] for i in (0, 1)), "windows that see nothing")
    if "inside" in a:
        _flag(a["inside"])
        _require(not ceil, "averages over windows that end outside")
    images, channels, *sizes = given[0].shape
    rows, columns = (_along(sizes[i], padding[i], window[i], 1, stride[i], ceil) for i in (0, 1))
    return Tensor("float32", (images, channels, rows, columns))


def _resized(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    _require(len(given[0].shape) == 4, "no images")
    _flag(a["corners"])
    return Tensor("float32", (*given[0].shape[:2], *_pair(a["sizes"], 1)))


def _reduced(given: Sequence[Tensor], a: Attributes) -> Tensor:
    tensor, keep = given[0], _flag(a["keep"])
    _require(tensor.dtype in NUMBERS, "not of numbers")
    axes = _axes(a["axes"], len(tensor.shape))
    sizes = enumerate(tensor.shape)
    return Tensor(tensor.dtype, tuple(1 if axis in axes else size for axis, size in sizes if keep or axis not in axes))


def _mean(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _require(given[0].dtype in FLOATS, "a mean of what is no float")
    return _reduced(given, a)


def _softmax(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _single(*given)
    _axis(a["axis"], len(given[0].shape))
    return given[0]


def _joined(given: Sequence[Tensor], a: Attributes) -> Tensor:
    first = given[0]
    axis = _axis(a["axis"], len(first.shape))

    def others(shape: Shape) -> Shape:
        return (*shape[:axis], *shape[axis + 1 :])

    for tensor in given:
        same = tensor.dtype == first.dtype and len(tensor.shape) == len(first.shape)
        _require(same and others(tensor.shape) == others(first.shape), "parts of other sizes")
    length = sum(tensor.shape[axis] for tensor in given)
    return Tensor(first.dtype, (*first.shape[:axis], length, *first.shape[axis + 1 :]))


def _reshaped(given: Sequence[Tensor], a: Attributes) -> Tensor:
    shape = _wholes(a["shape"], 1)
    _require(math.prod(shape) == given[0].size, "another number of elements")
    return Tensor(given[0].dtype, shape)


def _permuted(given: Sequence[Tensor], a: Attributes) -> Tensor:
    axes = _axes(a["axes"], len(given[0].shape))
    _require(len(axes) == len(given[0].shape), "an axis that is left out")
    return Tensor(given[0].dtype, tuple(given[0].shape[axis] for axis in axes))


def _sliced(given: Sequence[Tensor], a: Attributes) -> Tensor:
    shape = given[0].shape
    axis, start, count, step = (
        _axis(a["axis"], len(shape)),
        _whole(a["start"]),
        _whole(a["count"], 1),
        _whole(a["step"], 1),
    )
    _require(start + (count - 1) * step < shape[axis], "a slice that ends outside")
    return Tensor(given[0].dtype, (*shape[:axis], count, *shape[axis + 1 :]))


def _expanded(given: Sequence[Tensor], a: Attributes) -> Tensor:
    shape = _wholes(a["shape"], 1)
    _require(broadcast(given[0].shape, shape) == shape, "sizes that nothing is repeated to")
    return Tensor(given[0].dtype, shape)


def broadcast(*shapes: Shape) -> Shape:
    """The shape of an elementwise operation on these shapes."""
    rank = max(map(len, shapes))
    sizes = []
    for column in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        larger = set(column) - {1}
        _require(len(larger) < 2, "sizes that do not go together")
        sizes.append(larger.pop() if larger else 1)
    return tuple(sizes)


def _constant(given: Sequence[Tensor], a: Attributes) -> Tensor:
    value, dtype = a["value"], a["dtype"]
    _require(dtype in DTYPES, f"{dtype!r} is no element type")
    if dtype in FLOATS:
        _require(type(value) is float and math.isfinite(value), f"{value!r} is no float")
    elif dtype == "bool":
        _flag(value)
    else:
        bits = 31 if dtype == "int32" else 63
        _require(type(value) is int and -(2**bits) <= value < 2**bits, f"{value!r} is no {dtype}")
    return Tensor(dtype, ())


def _cast(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _require(a["dtype"] in DTYPES, f"{a['dtype']!r} is no element type")
    return Tensor(a["dtype"], given[0].shape)


def _clamped(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _require(given[0].dtype in FLOATS, "limits of what is no float")
    for name in ("low", "high"):
        if a[name] is not None:
            _number(a[name])
    return given[0]


def _chosen(given: Sequence[Tensor], a: Attributes) -> Tensor:
    _require(given[0].dtype == "bool" and given[1].dtype == given[2].dtype, "a choice between different types")
    return Tensor(given[1].dtype, broadcast(*(tensor.shape for tensor in given)))


def _of(dtypes: Sequence[str], result: str | None = None) -> Callable[[Sequence[Tensor], Attributes], Tensor]:
    """What an elementwise operation gives that takes operands of one type, which is one of these."""

    def gives(given: Sequence[Tensor], a: Attributes) -> Tensor:
        dtype = given[0].dtype
        _require(dtype in dtypes and all(tensor.dtype == dtype for tensor in given), f"not for {dtype}")
        return Tensor(result or dtype, broadcast(*(tensor.shape for tensor in given)))

    return gives


def _elementwise(
    names: Sequence[str], operands: int, dtypes: Sequence[str], result: str | None = None
) -> dict[str, Kind]:
    kind = Kind(_of(dtypes, result), range(operands, operands + 1), elementwise=True)
    return dict.fromkeys(names, kind)


_POOLING = frozenset(("window", "stride", "padding", "ceil"))
_REDUCTION = frozenset(("axes", "keep"))

KINDS: dict[str, Kind] = {
    "conv2d": Kind(_convolved, range(2, 4), frozenset(("stride", "padding", "dilation", "groups")), 1),
    "linear": Kind(_linear, range(2, 4), weights_from=1),
    "matmul": Kind(_product, range(2, 3)),
    "batch_norm": Kind(_normalised, range(3, 6), frozenset(("eps",)), 1),
    "layer_norm": Kind(_layer_normalised, range(1, 4), frozenset(("eps",))),
    "max_pool": Kind(_pooled, range(1, 2), _POOLING),
    "avg_pool": Kind(_pooled, range(1, 2), _POOLING | {"inside"}),
    "resize": Kind(_resized, range(1, 2), frozenset(("sizes", "corners"))),
    "sum": Kind(_reduced, range(1, 2), _REDUCTION),
    "mean": Kind(_mean, range(1, 2), _REDUCTION),
    "amax": Kind(_reduced, range(1, 2), _REDUCTION),
    "amin": Kind(_reduced, range(1, 2), _REDUCTION),
    "softmax": Kind(_softmax, range(1, 2), frozenset(("axis",))),
    "log_softmax": Kind(_softmax, range(1, 2), frozenset(("axis",))),
    "cat": Kind(_joined, range(1, 129), frozenset(("axis",))),
    "reshape": Kind(_reshaped, range(1, 2), frozenset(("shape",))),
    "permute": Kind(_permuted, range(1, 2), frozenset(("axes",))),
    "slice": Kind(_sliced, range(1, 2), frozenset(("axis", "start", "count", "step"))),
    "expand": Kind(_expanded, range(1, 2), frozenset(("shape",))),
    "constant": Kind(_constant, range(1), frozenset(("value", "dtype"))),
    "cast": Kind(_cast, range(1, 2), frozenset(("dtype",)), elementwise=True),
    "clamp": Kind(_clamped, range(1, 2), frozenset(("low", "high")), elementwise=True),
    "where": Kind(_chosen, range(3, 4), elementwise=True),
    **_elementwise(OF_FLOATS, 1, FLOATS),
    **_elementwise(OF_NUMBERS, 1, NUMBERS),
    **_elementwise(("add", "sub", "mul", "maximum", "minimum"), 2, NUMBERS),
    **_elementwise(("div", "pow"), 2, FLOATS),
    **_elementwise(COMPARED, 2, DTYPES, "bool"),
    **_elementwise(LOGICAL, 2, ("bool",)),
    **_elementwise(("not",), 1, ("bool",)),
}
