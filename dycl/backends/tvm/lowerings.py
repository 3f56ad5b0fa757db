"""ATen operations as operations on numbered values, one small function for each."""

from collections.abc import Callable, Sequence

from dycl.backends.tvm.elementwise import ELEMENTWISE
from dycl.backends.tvm.writer import Lowering, Writer
from dycl.hcfg.subnet import Operation

LOWERINGS: dict[str, Lowering] = dict(ELEMENTWISE)


def _lowers(*targets: str) -> Callable[[Lowering], Lowering]:
    def register(lowering: Lowering) -> Lowering:
        LOWERINGS.update(dict.fromkeys(targets, lowering))
        return lowering

    return register


# Convolutions, products, normalisations.


@_lowers("aten.conv2d.default")
def _convolution(w: Writer, operation: Operation) -> int:
    operands = [w.value("input"), w.weight("weight")]
    if operation.arguments["bias"] is not None:
        operands.append(w.weight("bias"))
    told = {name: list(w.pair(name)) for name in ("stride", "padding", "dilation")}
    return w.step("conv2d", operands, **told, groups=w.whole("groups"))


@_lowers("aten.linear.default")
def _linear(w: Writer, operation: Operation) -> int:
    operands = [w.value("input"), w.weight("weight")]
    if operation.arguments["bias"] is not None:
        operands.append(w.weight("bias"))
    return w.step("linear", operands)


@_lowers("aten.mm.default", "aten.bmm.default", "aten.matmul.default")
def _product(w: Writer, operation: Operation) -> int:
    left, right = w.value("self"), w.value("mat2" if "mat2" in operation.arguments else "other")
    if len(w.shape(left)) < 2 or len(w.shape(right)) < 2:
        w.refuse("a product with a vector")
    *outer, rows, inner = w.shape(left)
    *others, _, columns = w.shape(right)
    if not others:
        rows_in_all = w.reshaped(left, (1, _size(outer) * rows, inner))
        made = w.step("matmul", (rows_in_all, w.reshaped(right, (1, inner, columns))))
    elif outer == others:
        made = w.step(
            "matmul",
            (w.reshaped(left, (_size(outer), rows, inner)), w.reshaped(right, (_size(outer), inner, columns))),
        )
    else:
        w.refuse("matrices that are repeated")
    return w.reshaped(made, (*outer, rows, columns))


def _size(shape: Sequence[int]) -> int:
    found = 1
    for size in shape:
        found *= size
    return found


@_lowers("aten.addmm.default")
def _added_product(w: Writer, operation: Operation) -> int:
    if (w.real("beta"), w.real("alpha")) != (1.0, 1.0):
        w.refuse("multiples of the parts")
    return w.step("add", (_product_of(w, w.value("mat1"), w.value("mat2")), w.value("self")))


def _product_of(w: Writer, left: int, right: int) -> int:
    rows, columns = w.shape(left)[0], w.shape(right)[1]
    made = w.step("matmul", (w.reshaped(left, (1, *w.shape(left))), w.reshaped(right, (1, *w.shape(right)))))
    return w.reshaped(made, (rows, columns))


@_lowers("aten.batch_norm.default")
def _normalisation(w: Writer, operation: Operation) -> int:
    a = operation.arguments
    if a["training"] or a["running_mean"] is None:
        w.refuse("a normalisation by the statistics of its input")
    operands = [w.value("input"), w.weight("running_mean"), w.weight("running_var")]
    if (a["weight"] is None) != (a["bias"] is None):
        w.refuse("a normalisation with half of its weights")
    if a["weight"] is not None:
        operands += [w.weight("weight"), w.weight("bias")]
    return w.step("batch_norm", operands, eps=w.real("eps"))


@_lowers("aten.layer_norm.default")
def _layer_normalisation(w: Writer, operation: Operation) -> int:
    a = operation.arguments
    source, sizes = w.value("input"), w.wholes("normalized_shape")
    if (a["weight"] is None) != (a["bias"] is None):
        w.refuse("a normalisation with half of its weights")
    names = () if a["weight"] is None else ("weight", "bias")
    shape = w.shape(source)
    rows = w.reshaped(source, (*shape[: len(shape) - len(sizes)], _size(sizes)))
    scales = [w.reshaped(w.value(name), (_size(sizes),)) for name in names]
    return w.reshaped(w.step("layer_norm", (rows, *scales), eps=w.real("eps")), shape)


@_lowers("aten.lstm.input")
def _lstm(w: Writer, operation: Operation) -> Sequence[int]:
    """One layer in one direction, step by step."""
    a = operation.arguments
    hidden, params, source = a["hx"], a["params"], w.value("input")
    plain = a["num_layers"] == 1 and not a["bidirectional"] and not a["train"]
    if not plain or not isinstance(hidden, tuple) or not isinstance(params, tuple) or len(w.shape(source)) != 3:
        w.refuse("a recurrent layer of several")
    if len(params) != (4 if a["has_biases"] else 2):
        w.refuse("a recurrent layer with a projection")
    if a["batch_first"]:
        source = w.step("permute", (source,), axes=[1, 0, 2])
    length, batch, inputs = w.shape(source)
    size = w.shape(w.of(hidden[0]))[-1]
    if length > 4:
        w.refuse("a long sequence")
    weights = [w.of(param) for param in params]
    state, cell = (w.reshaped(w.of(part), (batch, size)) for part in hidden)
    outputs = []
    for place in range(length):
        row = w.reshaped(w.sliced(source, 0, place, 1), (batch, inputs))
        ways = [w.step("linear", (value, *weights[side::2])) for side, value in enumerate((row, state))]
        gates = w.step("add", ways)
        let_in, keep, new, out = (w.sliced(gates, 1, number * size, size) for number in range(4))
        kept = w.step("mul", (w.step("sigmoid", (keep,)), cell))
        fresh = w.step("mul", (w.step("sigmoid", (let_in,)), w.step("tanh", (new,))))
        cell = w.step("add", (kept, fresh))
        state = w.step("mul", (w.step("sigmoid", (out,)), w.step("tanh", (cell,))))
        outputs.append(w.reshaped(state, (1, batch, size)))
    whole = outputs[0] if length == 1 else w.step("cat", outputs, axis=0)
    if a["batch_first"]:
        whole = w.step("permute", (whole,), axes=[1, 0, 2])
    return whole, outputs[-1], w.reshaped(cell, (1, batch, size))


# Pooling and resizing.


def _images(w: Writer, name: str) -> int:
    found = w.value(name)
    if len(w.shape(found)) != 4:
        w.refuse("no images")
    return found


@_lowers("aten.max_pool2d.default", "aten.avg_pool2d.default")
def _pooling(w: Writer, operation: Operation) -> int:
    a, source = operation.arguments, _images(w, "self")
    window = list(w.pair("kernel_size"))
    told = {"window": window, "stride": list(w.pair("stride")) if a["stride"] else window}
    told["padding"] = list(w.pair("padding"))
    if operation.target == "aten.max_pool2d.default":
        if w.pair("dilation") != (1, 1):
            w.refuse("windows with holes")
        return w.step("max_pool", (source,), **told, ceil=bool(a["ceil_mode"]))
    if a["divisor_override"] is not None or a["ceil_mode"]:
        w.refuse("averages over windows that end outside")
    return w.step("avg_pool", (source,), **told, ceil=False, inside=not a["count_include_pad"])


@_lowers("aten.adaptive_avg_pool2d.default")
def _adaptive_pooling(w: Writer, operation: Operation) -> int:
    source, (rows, columns) = _images(w, "self"), w.pair("output_size")
    height, width = w.shape(source)[2:]
    if height % rows or width % columns:
        w.refuse("windows of different sizes")
    if (rows, columns) == (1, 1):
        return w.step("mean", (source,), axes=[2, 3], keep=True)
    window = [height // rows, width // columns]
    return w.step("avg_pool", (source,), window=window, stride=window, padding=[0, 0], ceil=False, inside=False)


@_lowers("aten.upsample_bilinear2d.vec")
def _resized(w: Writer, operation: Operation) -> int:
    a, source = operation.arguments, _images(w, "input")
    sizes, given, factors = w.result().shape[2:], w.shape(source)[2:], a["scale_factors"]
    if factors is not None:
        # PyTorch computes with the factors then, which the sizes tell only if they are whole.
        exact = isinstance(factors, tuple) and all(
            isinstance(factor, float | int) and size == old * factor
            for size, old, factor in zip(sizes, given, factors, strict=True)
        )
        if not exact:
            w.refuse("a scale that the sizes do not tell")
    return w.step("resize", (source,), sizes=list(sizes), corners=bool(a["align_corners"]))


# Reductions.


def _reduced(kind: str) -> Lowering:
    def lower(w: Writer, operation: Operation) -> int:
        source = w.value("self")
        wanted = w.dtype("dtype") or w.result().dtype
        if kind in ("sum", "mean"):
            source = w.cast(source, wanted)
        axes = w.axes("dim", len(w.shape(source))) if "dim" in operation.arguments else range(len(w.shape(source)))
        kept = bool(operation.arguments.get("keepdim", False))
        return w.step(kind, (source,), axes=list(axes), keep=kept)

    return lower


for _kind, _targets in {
    "mean": ("mean.dim", "mean.default"),
    "sum": ("sum.dim_IntList", "sum.default"),
    "amax": ("amax.default", "max.default"),
    "amin": ("amin.default", "min.default"),
}.items():
    LOWERINGS.update({f"aten.{_target}": _reduced(_kind) for _target in _targets})


@_lowers("aten.softmax.int", "aten.log_softmax.int")
def _softmax(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    if w.dtype("dtype") not in (None, "float32"):
        w.refuse("a softmax in another type")
    kind = "softmax" if operation.target == "aten.softmax.int" else "log_softmax"
    return w.step(kind, (source,), axis=w.axis("dim", len(w.shape(source))))


# Shapes.


@_lowers("aten.flatten.using_ints", "aten.reshape.default", "aten.view.default", "aten.unsqueeze.default")
@_lowers("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default", "aten.unflatten.int")
def _reshaped(w: Writer, operation: Operation) -> int:
    return w.reshaped(w.value("self"), w.result().shape)


@_lowers("aten.clone.default", "aten.contiguous.default", "aten.detach.default", "aten.dropout.default")
def _same(w: Writer, operation: Operation) -> int:
    if operation.arguments.get("train"):
        w.refuse("what is drawn at random")
    return w.value("input" if "input" in operation.arguments else "self")


@_lowers("aten.permute.default")
def _permuted(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    rank = len(w.shape(source))
    return w.step("permute", (source,), axes=[axis % rank for axis in w.wholes("dims")])


@_lowers("aten.transpose.int")
def _transposed(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    axes = list(range(len(w.shape(source))))
    first, second = w.axis("dim0", len(axes)), w.axis("dim1", len(axes))
    axes[first], axes[second] = axes[second], axes[first]
    return w.step("permute", (source,), axes=axes)


@_lowers("aten.t.default")
def _turned(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    return w.step("permute", (source,), axes=list(reversed(range(len(w.shape(source))))))


@_lowers("aten.select.int")
def _selected(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    axis = w.axis("dim", len(w.shape(source)))
    index = w.whole("index") % w.shape(source)[axis]
    return w.reshaped(w.sliced(source, axis, index, 1), w.result().shape)


@_lowers("aten.slice.Tensor")
def _sliced(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    axis = w.axis("dim", len(w.shape(source)))
    size, count = w.shape(source)[axis], w.result().shape[axis]
    start = w.whole("start") if operation.arguments["start"] is not None else 0
    start = max(start + size, 0) if start < 0 else min(start, size)
    return w.sliced(source, axis, start, count, w.whole("step"))


@_lowers("aten.split.Tensor", "aten.chunk.default", "aten.split_with_sizes.default", "aten.unbind.int")
def _split(w: Writer, operation: Operation) -> Sequence[int]:
    source = w.value("self")
    axis = w.axis("dim", len(w.shape(source)))
    parts, start = [], 0
    for ref in operation.outputs:
        if ref is None:
            w.refuse("a part that is no tensor")
        shape = w.told(ref).shape
        count = shape[axis] if len(shape) == len(w.shape(source)) else 1
        parts.append(w.reshaped(w.sliced(source, axis, start, count), shape))
        start += count
    return parts


@_lowers("aten.expand.default")
def _expanded(w: Writer, operation: Operation) -> int:
    return w.step("expand", (w.value("self"),), shape=list(w.result().shape))


@_lowers("aten.cat.default", "aten.stack.default")
def _joined(w: Writer, operation: Operation) -> int:
    given = operation.arguments["tensors"]
    if not isinstance(given, tuple) or not given:
        w.refuse("nothing to join")
    parts, result = [w.of(part) for part in given], w.result()
    axis = w.axis("dim", len(result.shape))
    if operation.target == "aten.stack.default":
        parts = [w.reshaped(part, (*result.shape[:axis], 1, *result.shape[axis + 1 :])) for part in parts]
    return w.step("cat", [w.cast(part, result.dtype) for part in parts], axis=axis)
