"""The layers of ncnn that sub-DNNs are made of: what each gives for maps of known sizes, or that it takes no such maps.

A map has one to three sizes, the innermost last, as in a tensor without its batch of one. Parameters are numbered as
ncnn numbers them. ncnn checks little of what it is given, so nothing reaches it that has not been checked here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Sizes = tuple[int, ...]
Parameters = Mapping[int, int | float]


class Unfit(Exception):
    """A layer does not take these maps, parameters or weights."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What a kind of layer gives, how many elements its weights have, and which of these carry ncnn's type tag."""

    sizes: Callable[[Parameters, Sequence[Sizes]], Sizes]
    weights: Callable[[Parameters, Sequence[Sizes]], tuple[int, ...]] = lambda parameters, inputs: ()
    tagged: tuple[int, ...] = ()
    parameters: frozenset[int] = frozenset()


def whole(parameters: Parameters, number: int, default: int | None = None, least: int = 0) -> int:
    """A parameter that is a whole number of at least `least`."""
    value = parameters.get(number, default)
    if type(value) is not int or not least <= value < 2**24:
        raise Unfit(f"parameter {number} is {value!r}")
    return value


def _one(inputs: Sequence[Sizes]) -> Sizes:
    if len(inputs) != 1:
        raise Unfit(f"{len(inputs)} inputs in the place of one")
    return inputs[0]


def _map(inputs: Sequence[Sizes]) -> tuple[int, int, int]:
    sizes = _one(inputs)
    if len(sizes) != 3:
        raise Unfit(f"a map of sizes {sizes} in the place of channels, height and width")
    return sizes


def _same(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    return _one(inputs)


def _along(size: int, pads: int, kernel: int, dilation: int, stride: int) -> int:
    found = (size + pads - dilation * (kernel - 1) - 1) // stride + 1
    if found < 1:
        raise Unfit("the window is larger than the map")
    return found


def _convolved(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    _, height, width = _map(inputs)
    pads = [whole(parameters, number, 0) for number in (14, 16, 4, 15)]
    rows = _along(height, pads[0] + pads[1], *_window(parameters, 11, 12, 13))
    columns = _along(width, pads[2] + pads[3], *_window(parameters, 1, 2, 3))
    if whole(parameters, 9, 0) not in (0, 1):
        raise Unfit("an activation other than ReLU")
    return whole(parameters, 0, least=1), rows, columns


def _window(parameters: Parameters, *numbers: int) -> tuple[int, int, int]:
    kernel, dilation, stride = (whole(parameters, number, least=1) for number in numbers)
    return kernel, dilation, stride


def _kernels(parameters: Parameters, inputs: Sequence[Sizes]) -> tuple[int, ...]:
    channels, outputs, groups = _map(inputs)[0], whole(parameters, 0, least=1), whole(parameters, 7, 1, least=1)
    if channels % groups or outputs % groups or whole(parameters, 5) != 1:
        raise Unfit("channels that do not make these groups, or no bias")
    size = outputs * (channels // groups) * whole(parameters, 1, least=1) * whole(parameters, 11, least=1)
    if whole(parameters, 6) != size:
        raise Unfit("another number of weights")
    return size, outputs


def _product(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    sizes = _one(inputs)
    if len(sizes) > 2:
        raise Unfit("a map of more than two sizes")
    return (*sizes[:-1], whole(parameters, 0, least=1))


def _matrix(parameters: Parameters, inputs: Sequence[Sizes]) -> tuple[int, ...]:
    outputs = whole(parameters, 0, least=1)
    size = outputs * _one(inputs)[-1]
    if whole(parameters, 2) != size or whole(parameters, 1) != 1:
        raise Unfit("another number of weights, or no bias")
    return size, outputs


def _pooled(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    channels, height, width = _map(inputs)
    if whole(parameters, 0) not in (0, 1):
        raise Unfit("neither the largest nor the average")
    if whole(parameters, 4, 0):
        return (channels,)
    if whole(parameters, 7, 0):
        return channels, whole(parameters, 18, least=1), whole(parameters, 8, least=1)
    if whole(parameters, 5) != 1:
        raise Unfit("windows that are not all inside")
    top, bottom, left, right = (whole(parameters, number, 0) for number in (13, 15, 3, 14))
    kernels = whole(parameters, 11, least=1), whole(parameters, 1, least=1)
    if max(top, bottom) >= kernels[0] or max(left, right) >= kernels[1]:
        raise Unfit("windows that see nothing")
    rows = _along(height, top + bottom, kernels[0], 1, whole(parameters, 12, least=1))
    return channels, rows, _along(width, left + right, kernels[1], 1, whole(parameters, 2, least=1))


def _combined(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    if whole(parameters, 0) not in range(4):
        raise Unfit("neither a sum, a difference, a product nor a quotient")
    if whole(parameters, 1, 0):
        if not isinstance(parameters.get(2), float) or not math.isfinite(parameters[2]):
            raise Unfit("no number to combine with")
        return _one(inputs)
    if len(inputs) != 2 or inputs[0] != inputs[1]:
        raise Unfit("maps of different sizes")
    return inputs[0]


def _joined(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    axis = whole(parameters, 0)
    ranks = {len(sizes) for sizes in inputs}
    if len(ranks) != 1 or axis >= min(ranks):
        raise Unfit("maps with different numbers of sizes")
    if len({(*sizes[:axis], *sizes[axis + 1 :]) for sizes in inputs}) != 1:
        raise Unfit("maps of different sizes")
    first = inputs[0]
    return (*first[:axis], sum(sizes[axis] for sizes in inputs), *first[axis + 1 :])


def _reshaped(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    found = tuple(whole(parameters, number, least=1) for number in (2, 1, 0) if number in parameters)
    if math.prod(found) != math.prod(_one(inputs)):
        raise Unfit("another number of elements")
    return found


def _resized(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    if whole(parameters, 0) not in (1, 2) or whole(parameters, 6, 0) not in (0, 1):
        raise Unfit("another way to find what lies between")
    return _map(inputs)[0], whole(parameters, 3, least=1), whole(parameters, 4, least=1)


def _normalised(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    sizes = _one(inputs)
    if whole(parameters, 0) >= len(sizes) or whole(parameters, 1) != 1:
        raise Unfit("an axis that is not there")
    return sizes


def _scaled(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    sizes = _one(inputs)
    if whole(parameters, 0) != sizes[0] or whole(parameters, 1) != 1:
        raise Unfit("another number of channels, or no shift")
    return sizes


def _per_channel(parameters: Parameters, inputs: Sequence[Sizes]) -> tuple[int, ...]:
    return _one(inputs)[0], _one(inputs)[0]


def _largest(parameters: Parameters, inputs: Sequence[Sizes]) -> Sizes:
    _one(inputs)
    if whole(parameters, 0) != 4 or whole(parameters, 1) != 1:
        raise Unfit("a reduction other than the largest of all")
    return (1,)


_CONVOLUTION = frozenset((0, 1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 14, 15, 16))
_POOLING = frozenset((0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 18))

LAYERS: dict[str, Layer] = {
    "Convolution": Layer(_convolved, _kernels, (0,), _CONVOLUTION),
    "ConvolutionDepthWise": Layer(_convolved, _kernels, (0,), _CONVOLUTION | {7}),
    "InnerProduct": Layer(_product, _matrix, (0,), frozenset((0, 1, 2))),
    "Pooling": Layer(_pooled, parameters=_POOLING),
    "ReLU": Layer(_same),
    "Sigmoid": Layer(_same),
    "TanH": Layer(_same),
    "Softmax": Layer(_normalised, parameters=frozenset((0, 1))),
    "BinaryOp": Layer(_combined, parameters=frozenset((0, 1, 2))),
    "Concat": Layer(_joined, parameters=frozenset((0,))),
    "Reshape": Layer(_reshaped, parameters=frozenset((0, 1, 2))),
    "Interp": Layer(_resized, parameters=frozenset((0, 3, 4, 6))),
    "Scale": Layer(_scaled, _per_channel, (), frozenset((0, 1))),
    "Reduction": Layer(_largest, parameters=frozenset((0, 1))),
}
