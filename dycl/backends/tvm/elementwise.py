"""Elementwise ATen operations, in the element types in which PyTorch computes them."""

from collections.abc import Callable

from dycl.backends.tvm.writer import Lowering, Writer
from dycl.hcfg.subnet import Argument, Operation, Ref
from dycl.runtime.tvm.kinds import FLOATS

ELEMENTWISE: dict[str, Lowering] = {}


def _lowers(*targets: str) -> Callable[[Lowering], Lowering]:
    def register(lowering: Lowering) -> Lowering:
        ELEMENTWISE.update(dict.fromkeys(targets, lowering))
        return lowering

    return register


def _of_one(kind: str) -> Lowering:
    return lambda w, operation: w.step(kind, (w.cast(w.value("self"), w.result().dtype),))


for _kind in ("relu", "sigmoid", "tanh", "silu", "hardswish", "hardsigmoid"):
    ELEMENTWISE[f"aten.{_kind}.default"] = _of_one(_kind)
for _kind in ("exp", "log", "sqrt", "rsqrt", "reciprocal", "neg", "abs"):
    ELEMENTWISE[f"aten.{_kind}.default"] = _of_one(_kind)


@_lowers("aten.gelu.default")
def _gelu(w: Writer, operation: Operation) -> int:
    kind = {"none": "gelu", "tanh": "gelu_tanh"}.get(str(operation.arguments["approximate"]))
    if kind is None:
        w.refuse("another approximation")
    return w.step(kind, (w.value("self"),))


@_lowers("aten.relu6.default")
def _relu6(w: Writer, operation: Operation) -> int:
    return w.step("clamp", (w.value("self"),), low=0.0, high=6.0)


@_lowers("aten.hardtanh.default")
def _hardtanh(w: Writer, operation: Operation) -> int:
    return w.step("clamp", (w.value("self"),), low=w.real("min_val"), high=w.real("max_val"))


@_lowers("aten.clamp.default")
def _clamped(w: Writer, operation: Operation) -> int:
    limits = [None if operation.arguments[name] is None else w.real(name) for name in ("min", "max")]
    return w.step("clamp", (w.value("self"),), low=limits[0], high=limits[1])


@_lowers("aten.leaky_relu.default")
def _leaky(w: Writer, operation: Operation) -> int:
    source = w.value("self")
    dtype = w.tensor(source).dtype
    below = w.step("mul", (source, w.number(w.real("negative_slope"), dtype)))
    return w.step("where", (w.step("gt", (source, w.number(0, dtype))), source, below))


@_lowers("aten.to.dtype", "aten._to_copy.default")
def _converted(w: Writer, operation: Operation) -> int:
    return w.cast(w.value("self"), w.result().dtype)


@_lowers("aten.full.default")
def _full(w: Writer, operation: Operation) -> int:
    value, result = operation.arguments["fill_value"], w.result()
    if not isinstance(value, bool | int | float):
        w.refuse("a number that is only known at run time")
    made = w.number(value, result.dtype)
    return made if not result.shape else w.step("expand", (made,), shape=list(result.shape))


@_lowers("aten.zeros_like.default", "aten.ones_like.default")
def _filled(w: Writer, operation: Operation) -> int:
    result = w.result()
    made = w.number(int(operation.target == "aten.ones_like.default"), result.dtype)
    return made if not result.shape else w.step("expand", (made,), shape=list(result.shape))


def _side(w: Writer, argument: Argument, dtype: str) -> int:
    """One side of an operation, in the type in which it is computed."""
    if isinstance(argument, Ref):
        return w.cast(w.of(argument), dtype)
    if not isinstance(argument, bool | int | float):
        w.refuse("an argument that is no tensor")
    return w.number(argument, dtype)


def _combined(kind: str) -> Lowering:
    def combine(w: Writer, operation: Operation) -> int:
        a, dtype = operation.arguments, w.result().dtype
        if a.get("rounding_mode") is not None:
            w.refuse("a quotient that is rounded")
        left, right = _side(w, a["self"], dtype), _side(w, a["other"], dtype)
        if a.get("alpha", 1) != 1:
            right = w.step("mul", (right, w.number(w.real("alpha"), dtype)))
        return w.step(kind, (left, right))

    return combine


for _kind in ("add", "sub", "mul", "div"):
    for _form in ("Tensor", "Scalar"):
        ELEMENTWISE[f"aten.{_kind}.{_form}"] = _combined(_kind)
ELEMENTWISE |= {"aten.maximum.default": _combined("maximum"), "aten.minimum.default": _combined("minimum")}
ELEMENTWISE |= {"aten.logical_and.default": _combined("and"), "aten.logical_or.default": _combined("or")}


@_lowers("aten.rsub.Scalar")
def _taken_from(w: Writer, operation: Operation) -> int:
    dtype = w.result().dtype
    if operation.arguments["alpha"] != 1:
        w.refuse("a multiple of the other side")
    return w.step("sub", (_side(w, operation.arguments["other"], dtype), _side(w, operation.arguments["self"], dtype)))


@_lowers("aten.pow.Tensor_Scalar")
def _power(w: Writer, operation: Operation) -> int:
    source, exponent = w.value("self"), operation.arguments["exponent"]
    if w.tensor(source).dtype not in FLOATS:
        w.refuse("a power of whole numbers")
    if exponent == 2:
        return w.step("mul", (source, source))
    if exponent == 0.5:
        return w.step("sqrt", (source,))
    return w.step("pow", (source, w.number(w.real("exponent"), w.tensor(source).dtype)))


def _compared(kind: str) -> Lowering:
    def compare(w: Writer, operation: Operation) -> int:
        left, right = w.value("self"), operation.arguments["other"]
        dtype = w.tensor(left).dtype
        if isinstance(right, Ref):
            other = w.tensor(w.of(right))
            if other.dtype != dtype and (other.shape or (other.dtype in FLOATS) != (dtype in FLOATS)):
                w.refuse("a comparison of different types")
        elif isinstance(right, float) and dtype not in FLOATS:
            w.refuse("a comparison of whole numbers with a fraction")
        elif isinstance(right, int) and not isinstance(right, bool) and dtype == "bool":
            w.refuse("a comparison of a flag with a number")
        return w.step(kind, (left, _side(w, right, dtype)))

    return compare


for _kind in ("gt", "ge", "lt", "le", "eq", "ne"):
    for _form in ("Tensor", "Scalar"):
        ELEMENTWISE[f"aten.{_kind}.{_form}"] = _compared(_kind)


@_lowers("aten.logical_not.default")
def _inverted(w: Writer, operation: Operation) -> int:
    return w.step("not", (w.cast(w.value("self"), "bool"),))


@_lowers("aten.where.self")
def _chosen(w: Writer, operation: Operation) -> int:
    a, dtype = operation.arguments, w.result().dtype
    return w.step("where", (w.value("condition"), _side(w, a["self"], dtype), _side(w, a["other"], dtype)))
