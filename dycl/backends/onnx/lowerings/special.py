"""Lowerings of special functions, which are all computed in double precision."""

from dycl.backends.onnx import bessel, double, special
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, wider

_FUNCTIONS = {
    "lgamma": special.lgamma,
    "digamma": special.digamma,
    "erfinv": special.erfinv,
    "special_ndtri": special.ndtri,
    "special_erfcx": double.erfcx,
    "i0": bessel.i0,
    "special_i0e": bessel.i0e,
    "special_i1": bessel.i1,
    "special_i1e": bessel.i1e,
}


@lowers(*(f"aten.{name}.default" for name in _FUNCTIONS))
def function(b: Builder, a: Arguments) -> Value:
    x = b.cast(b.cast(a.tensor("self"), a.result.dtype), "float64")
    return b.cast(_FUNCTIONS[a.target.split(".")[1]](b, x), a.result.dtype)


@lowers("aten.polygamma.default")
def polygamma(b: Builder, a: Arguments) -> Value:
    order = a.integer("n")
    if order > 1:
        b.refuse(f"the derivative of order {order} of the digamma function")
    x = b.cast(b.cast(a.tensor("self"), a.result.dtype), wider(a.result.dtype))
    result = special.trigamma(b, x) if order else special.digamma(b, b.cast(x, "float64"))
    return b.cast(result, a.result.dtype)
