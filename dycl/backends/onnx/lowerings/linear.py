"""Lowerings of matrix products and what is built from them."""

from itertools import combinations

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.lowerings.arithmetic import scaled
from dycl.backends.onnx.pieces import (
    expand,
    filled,
    gather,
    reduce,
    reshape,
    squeeze,
    sum_over,
    transpose,
    unless_empty,
    unsqueeze,
)
from dycl.backends.onnx.table import in_single_precision, lowers
from dycl.backends.onnx.values import Number, Size, Value, broadcast, is_float, static_shape
from dycl.hcfg.types import Dimension

Shape = tuple[Dimension, ...]


@lowers("aten.linear.default")
def linear(b: Builder, a: Arguments) -> Value:
    return affine(b, a.tensor("input"), a.tensor("weight"), a.optional("bias"))


def affine(b: Builder, x: Value, weight: Value, bias: Value | None) -> Value:
    """`x @ weight.T + bias`."""
    if weight.rank == 1:
        product = matmul(b, x, weight)
        return product if bias is None else b.node("Add", product, bias)
    if x.rank == 2 and is_float(x.dtype):
        return b.node("Gemm", x, weight, bias, shape=(x.shape[0], weight.shape[0]), transB=1)
    product = matmul(b, x, transpose(b, weight, [1, 0]))
    return product if bias is None else b.node("Add", product, bias)


def matmul(b: Builder, x: Value, y: Value) -> Value:
    """The matrix product with PyTorch's, which are NumPy's, rules for ranks."""
    batch = broadcast((x.shape[:-2], y.shape[:-2]))
    shape = batch + (x.shape[-2:-1] if x.rank > 1 else ()) + (y.shape[-1:] if y.rank > 1 else ())
    if static_shape(y.shape) is not None and isinstance(x.shape[-1], int):
        return _matmul(b, x, y, batch, shape)

    def nothing() -> list[Value]:
        # ONNX Runtime crashes on some empty matrices, and gives what happens to be in memory for others.
        sizes = [*_batch_sizes(b, x, y), *b.sizes_of(x)[-2:-1], *(b.sizes_of(y)[-1:] if y.rank > 1 else [])]
        return [filled(b, 0, x.dtype, sizes)]

    return unless_empty(b, [x, y], lambda: [_matmul(b, x, y, batch, shape)], nothing)[0]


def _batch_sizes(b: Builder, x: Value, y: Value) -> list[Size]:
    """The sizes of the batch axes of a product, broadcast."""
    rank = max(x.rank, y.rank) - 2
    sizes: list[Size] = []
    for place in range(-rank - 2, -2):
        known: list[Size] = [b.size_of(value, value.rank + place) for value in (x, y) if value.rank >= -place]
        known = [size for size in known if size != 1] or [1]
        first, *rest = known
        for size in rest:
            left = b.number(first, "int64")
            first = b.node("Where", b.node("Equal", left, b.constant(1)), b.number(size, "int64"), left)
        sizes.append(first)
    return sizes


def _matmul(b: Builder, x: Value, y: Value, batch: Shape, shape: Shape) -> Value:
    if x.dtype == "float64":
        return _double_matmul(b, x, y, batch, shape)
    if x.rank == y.rank or (x.rank > 1 and y.rank > 1):
        return b.node("MatMul", x, y, shape=shape)
    # ONNX Runtime forgets to transpose a matrix that a vector is multiplied with.
    vector_last = y.rank == 1
    x, y = (x, unsqueeze(b, y, [1])) if vector_last else (unsqueeze(b, x, [0]), y)
    wide = (*batch, *x.shape[-2:-1], *y.shape[-1:])
    return squeeze(b, b.node("MatMul", x, y, shape=wide), [-1 if vector_last else -2])


def _double_matmul(b: Builder, x: Value, y: Value, batch: Shape, shape: Shape) -> Value:
    """The matrix product in double precision, without the operator `MatMul`.

    ONNX Runtime fuses that with a constant factor next to it, which it rounds to single precision.
    """
    x, y = (_with_batch(b, value, batch) for value in (x, y))
    left, right = "i" * (x.rank > 1), "k" * (y.rank > 1)
    outer = ["..." * (value.rank > 2) for value in (x, y)]
    equation = f"{outer[0]}{left}j,{outer[1]}j{right}->{max(outer)}{left}{right}"
    return b.node("Einsum", x, y, shape=shape, equation=equation)


def _with_batch(b: Builder, value: Value, batch: Shape) -> Value:
    """The value with all batch axes in full, which `Einsum` wants of those it is given at all."""
    if value.rank <= 2 or value.shape[:-2] == batch:
        return value
    sizes = static_shape(batch)
    if sizes is None:
        b.refuse("a batch of float64 products whose sizes are only known at run time")
    return expand(b, value, [*sizes, *b.sizes_of(value)[-2:]], (*batch, *value.shape[-2:]))


@lowers("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def product(b: Builder, a: Arguments) -> Value:
    second = {"matmul": "other", "mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor"}[a.target.split(".")[1]]
    return matmul(b, a.tensor("self"), a.tensor(second))


@lowers("aten.addmm.default", "aten.addmv.default", "aten.baddbmm.default", "aten.addbmm.default")
@in_single_precision
def added_product(b: Builder, a: Arguments) -> Value:
    names = {
        "addmm": ("mat1", "mat2"),
        "addmv": ("mat", "vec"),
        "baddbmm": ("batch1", "batch2"),
        "addbmm": ("batch1", "batch2"),
    }
    name = a.target.split(".")[1]
    x, y, extra = (a.tensor(argument) for argument in (*names[name], "self"))
    alpha, beta = a.number("alpha"), a.number("beta")
    if name == "addmm" and is_float(x.dtype) and alpha == beta == 1:
        return b.node("Gemm", x, y, extra, shape=(x.shape[0], y.shape[1]))
    total = matmul(b, x, y)
    if name == "addbmm":
        total = sum_over(b, total, [0], keepdim=False)
    return _with_extra(b, scaled(b, total, alpha), extra, beta)


def _with_extra(b: Builder, product: Value, extra: Value, beta: Number) -> Value:
    """`product + beta * extra`, where beta 0 hides even a NaN."""
    if not isinstance(beta, Value) and beta == 0:
        return product
    return b.node("Add", product, scaled(b, extra, beta))


@lowers("aten.outer.default", "aten.ger.default")
def outer(b: Builder, a: Arguments) -> Value:
    second = "vec2"
    x, y = b.cast(a.tensor("self"), a.result.dtype), b.cast(a.tensor(second), a.result.dtype)
    return b.node("Mul", unsqueeze(b, x, [1]), unsqueeze(b, y, [0]))


@lowers("aten._cdist_forward.default", "aten.cdist.default")
def cdist(b: Builder, a: Arguments) -> Value:
    x, y = a.tensor("x1"), a.tensor("x2")
    return _length(b, b.node("Sub", unsqueeze(b, x, [x.rank - 1]), unsqueeze(b, y, [y.rank - 2])), a.real("p"))


@lowers("aten._pdist_forward.default")
def pdist(b: Builder, a: Arguments) -> Value:
    x = a.tensor("self")
    count = b.size_of(x, 0)
    if not isinstance(count, int):
        b.refuse("distances of a number of rows that is only known at run time")
    pairs = list(combinations(range(count), 2))
    first, second = (gather(b, x, b.constant(list(places)), 0) for places in zip(*pairs, strict=True))
    return _length(b, b.node("Sub", first, second), a.real("p"))


def _length(b: Builder, difference: Value, p: float) -> Value:
    """The norm of order `p` over the last axis."""
    last = [difference.rank - 1]
    if p == 2:
        return reduce(b, "ReduceL2", difference, last, keepdim=False)
    if p == 1:
        return reduce(b, "ReduceL1", difference, last, keepdim=False)
    size = b.node("Abs", difference)
    if p == float("inf"):
        # PyTorch starts from 0, than which NaN is not greater.
        parts = b.node("Where", b.node("IsNaN", size), b.number(0, size.dtype), size)
        return reduce(b, "ReduceMax", parts, last, keepdim=False)
    if p == 0:
        far = b.cast(b.cast(size, "bool"), size.dtype)
        parts = b.node("Where", b.node("IsNaN", size), size, far)
        return reduce(b, "ReduceSum", parts, last, keepdim=False)
    total = reduce(b, "ReduceSum", b.node("Pow", size, b.number(p, size.dtype)), last, keepdim=False)
    return b.node("Pow", total, b.number(1 / p, size.dtype))


@lowers("aten.bilinear.default")
def bilinear(b: Builder, a: Arguments) -> Value:
    x, y, weight = a.tensor("input1"), a.tensor("input2"), a.tensor("weight")
    outputs, _, columns = b.sizes_of(weight)
    # [..., i] @ [i, o * j] is a row for each output, to be multiplied with [..., 1, j].
    flat = reshape(b, transpose(b, weight, [1, 0, 2]), [b.size_of(weight, 1), b.size("Mul", outputs, columns)])
    rows = reshape(b, matmul(b, x, flat), [*b.sizes_of(x)[:-1], outputs, columns], (*x.shape[:-1], *weight.shape[::2]))
    pairs = b.node("Mul", rows, unsqueeze(b, y, [y.rank - 1]))
    result = reduce(b, "ReduceSum", pairs, [pairs.rank - 1], keepdim=False)
    bias = a.optional("bias")
    return result if bias is None else b.node("Add", result, bias)
