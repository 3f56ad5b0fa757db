"""ATen operations as layers of ncnn, one small function an operation."""

import math
import struct
from collections.abc import Callable
from typing import Any

from dycl.backends.ncnn.writer import Constant, Flag, Given, Lowering, Map, Weight, Writer
from dycl.hcfg.subnet import DTypeArgument, Operation, Ref

LOWERINGS: dict[str, Lowering] = {}


def _lowers(*targets: str) -> Callable[[Lowering], Lowering]:
    def register(lowering: Lowering) -> Lowering:
        LOWERINGS.update(dict.fromkeys(targets, lowering))
        return lowering

    return register


@_lowers("aten.conv2d.default")
def _convolution(w: Writer, operation: Operation) -> Given:
    """A convolution, with a normalisation and a ReLU behind it that nobody else sees the input of."""
    image, (output,) = w.image(operation.arguments["input"]), operation.outputs
    weight, bias = w.weight(operation.arguments["weight"]), w.weight(operation.arguments["bias"])
    assert output is not None
    outputs, _, rows, columns = w.shape(operation.arguments["weight"])
    groups, (top, left) = w.whole("groups"), w.pair("padding")
    (down, across), (row_step, column_step) = w.pair("stride"), w.pair("dilation")
    size = outputs * (image.sizes[0] // groups) * rows * columns
    parameters = {0: outputs, 1: columns, 11: rows, 2: column_step, 12: row_step, 3: across, 13: down, 4: left}
    parameters |= {15: left, 14: top, 16: top, 5: 1, 6: size} | ({} if groups == 1 else {7: groups})
    recipes: list[Any] = [["plain", weight, None], ["plain", bias, None]]
    if (norm := w.only_reader(output, "aten.batch_norm.default", "input")) is not None:
        w.operation = norm
        statistics = _statistics(w, norm)
        recipes = [["folded", weight, statistics], ["shift", bias, statistics]]
        output = w.fuse(norm)
    if (relu := w.only_reader(output, "aten.relu.default", "self")) is not None:
        parameters[9] = 1
        output = w.fuse(relu)
    made = w.layer("Convolution" if groups == 1 else "ConvolutionDepthWise", [image], parameters, recipes)
    w.give(output, made)
    return made


def _statistics(w: Writer, operation: Operation) -> list[int | float | None]:
    a = operation.arguments
    if a["training"] or a["running_mean"] is None or not isinstance(a["eps"], float):
        w.refuse("a normalisation by the statistics of its input")
    return [*(w.weight(a[name]) for name in ("weight", "bias", "running_mean", "running_var")), a["eps"]]


@_lowers("aten.batch_norm.default")
def _normalisation(w: Writer, operation: Operation) -> Given:
    found, statistics = w.map(operation.arguments["input"]), _statistics(w, operation)
    if w.rank(operation.arguments["input"]) < 2 or w.shape(operation.arguments["input"])[0] != 1:
        w.refuse("more than one sample at a time")
    recipes = [["folded", None, statistics], ["shift", None, statistics]]
    return w.layer("Scale", [found], {0: found.sizes[0], 1: 1}, recipes)


@_lowers("aten.linear.default")
def _linear(w: Writer, operation: Operation) -> Given:
    rows = w.map(operation.arguments["input"])
    weight, bias = w.weight(operation.arguments["weight"]), w.weight(operation.arguments["bias"])
    outputs, inputs = w.shape(operation.arguments["weight"])
    recipes = [["plain", weight, None], ["plain", bias, None]]
    return w.layer("InnerProduct", [rows], {0: outputs, 1: 1, 2: outputs * inputs}, recipes)


def _activation(kind: str) -> Lowering:
    return lambda w, operation: w.layer(kind, [w.map(operation.arguments["self"])], {})


LOWERINGS["aten.relu.default"] = _activation("ReLU")
LOWERINGS["aten.sigmoid.default"] = _activation("Sigmoid")
LOWERINGS["aten.tanh.default"] = _activation("TanH")


@_lowers("aten.max_pool2d.default", "aten.avg_pool2d.default")
def _pooling(w: Writer, operation: Operation) -> Given:
    a = operation.arguments
    is_average = operation.target == "aten.avg_pool2d.default"
    image, (rows, columns), (top, left) = w.image(a["self"]), w.pair("kernel_size"), w.pair("padding")
    down, across = w.pair("stride") if a["stride"] else (rows, columns)
    if a["ceil_mode"] or (not is_average and w.pair("dilation") != (1, 1)) or a.get("divisor_override") is not None:
        w.refuse("windows that ncnn does not have")
    parameters = {0: int(is_average), 1: columns, 11: rows, 2: across, 12: down, 3: left, 14: left, 13: top, 15: top}
    parameters |= {5: 1, 6: int(bool(a.get("count_include_pad")))}
    return w.layer("Pooling", [image], parameters)


@_lowers("aten.adaptive_avg_pool2d.default")
def _adaptive_pooling(w: Writer, operation: Operation) -> Given:
    image, (rows, columns) = w.image(operation.arguments["self"]), w.pair("output_size")
    if (rows, columns) == (1, 1):
        return w.layer("Pooling", [image], {0: 1, 4: 1})
    if image.sizes[1] % rows or image.sizes[2] % columns:
        w.refuse("windows of different sizes")
    down, across = image.sizes[1] // rows, image.sizes[2] // columns
    return w.layer("Pooling", [image], {0: 1, 1: across, 11: down, 2: across, 12: down, 5: 1})


@_lowers("aten.mean.dim")
def _mean(w: Writer, operation: Operation) -> Given:
    a = operation.arguments
    image = w.image(a["self"])
    axes = a["dim"] if isinstance(a["dim"], tuple) else ()
    if sorted(axis % 4 for axis in axes if isinstance(axis, int)) != [2, 3] or a["dtype"] is not None:
        w.refuse("a mean over other than height and width")
    return w.layer("Pooling", [image], {0: 1, 4: 1})


@_lowers("aten.upsample_bilinear2d.vec")
def _upsampled(w: Writer, operation: Operation) -> Given:
    a = operation.arguments
    image, (output,) = w.image(a["input"]), operation.outputs
    assert output is not None
    rows, columns = w.shape(output)[2:]
    if a["scale_factors"] is not None and (
        rows != image.sizes[1] * _factor(a["scale_factors"], 0)
        or columns != image.sizes[2] * _factor(a["scale_factors"], 1)
    ):
        w.refuse("a scale that the sizes do not tell")
    return w.layer("Interp", [image], {0: 2, 3: rows, 4: columns, 6: int(bool(a["align_corners"]))})


def _factor(factors: object, place: int) -> float:
    return float(factors[place]) if isinstance(factors, tuple) else math.nan


@_lowers("aten.flatten.using_ints", "aten.reshape.default", "aten.view.default", "aten.unsqueeze.default")
def _reshaped(w: Writer, operation: Operation) -> Given:
    return w.given(operation.arguments["self"])


@_lowers("aten.softmax.int")
def _softmax(w: Writer, operation: Operation) -> Given:
    source = operation.arguments["self"]
    found, rank = w.map(source), w.rank(source)
    axis = w.whole("dim") % max(rank, 1) - (rank - len(found.sizes))
    if operation.arguments["dtype"] is not None or axis < 0 or rank == 0:
        w.refuse("a softmax over the batch, or in another type")
    return w.layer("Softmax", [found], {0: axis, 1: 1})


@_lowers("aten.cat.default")
def _joined(w: Writer, operation: Operation) -> Given:
    parts = operation.arguments["tensors"]
    if not isinstance(parts, tuple) or not parts:
        w.refuse("nothing to join")
    found, rank = [w.map(part) for part in parts], w.rank(parts[0])
    axis = w.whole("dim") % rank - (rank - len(found[0].sizes))
    if axis < 0 or any(w.rank(part) != rank for part in parts):
        w.refuse("parts that are joined along the batch")
    return w.layer("Concat", found, {0: axis})


def _combined(number: int) -> Lowering:
    def combine(w: Writer, operation: Operation) -> Given:
        a = operation.arguments
        left, right = w.given(a["self"]), w.given(a["other"])
        if a.get("alpha", 1) != 1:
            w.refuse("a multiple of the other side")
        if isinstance(left, Constant) and isinstance(right, Map) and number in (0, 2):
            left, right = right, left
        if isinstance(left, Map) and isinstance(right, Constant):
            return w.layer("BinaryOp", [left], {0: number, 1: 1, 2: right.number})
        if not isinstance(left, Map) or not isinstance(right, Map) or w.shape(a["self"]) != w.shape(a["other"]):
            w.refuse("sides of different shapes, or weights among them")
        return w.layer("BinaryOp", [left, right], {0: number})

    return combine


for _number, _name in enumerate(("add", "sub", "mul", "div")):
    LOWERINGS[f"aten.{_name}.Tensor"] = _combined(_number)


@_lowers("aten.max.default")
def _largest(w: Writer, operation: Operation) -> Given:
    return w.layer("Reduction", [w.map(operation.arguments["self"])], {0: 4, 1: 1})


# A number and what it is compared with: these stay outside of ncnn, in double precision.


@_lowers("aten.full.default")
def _constant(w: Writer, operation: Operation) -> Given:
    number = operation.arguments["fill_value"]
    if operation.arguments["size"] != () or not isinstance(number, int | float) or not math.isfinite(number):
        w.refuse("a tensor that is filled with a number")
    return Constant(float(number))


@_lowers("aten.to.dtype")
def _converted(w: Writer, operation: Operation) -> Given:
    found, wanted = w.given(operation.arguments["self"]), operation.arguments["dtype"]
    assert isinstance(wanted, DTypeArgument)
    is_number = isinstance(found, Map) and math.prod(found.sizes) == 1 and wanted.dtype in ("float32", "float64")
    is_same = isinstance(operation.arguments["self"], Ref) and w.dtype(operation.arguments["self"]) == wanted.dtype
    if not is_same and not is_number:
        w.refuse("another element type")
    return found


def _compared(comparison: str) -> Lowering:
    def compare(w: Writer, operation: Operation) -> Given:
        a = operation.arguments
        left, right = w.given(a["self"]), w.given(a["other"])
        if not isinstance(left, Map) or math.prod(left.sizes) != 1 or not isinstance(right, Constant | Weight):
            w.refuse("a comparison of more than one number")
        if isinstance(right, Weight) and (w.dtype(a["other"]) != "float32" or math.prod(w.shape(a["other"])) != 1):
            w.refuse("a comparison with more than one number")
        if isinstance(right, Constant) and w.dtype(a["self"]) == "float32":
            right = Constant(struct.unpack("f", struct.pack("f", right.number))[0])
        return Flag(left.value, comparison, right)

    return compare


for _name in ("gt", "ge", "lt", "le"):
    for _form in ("Tensor", "Scalar"):
        LOWERINGS[f"aten.{_name}.{_form}"] = _compared(_name)
