"""Lowerings of special functions, which are all computed in double precision."""

import math

from dycl.backends.onnx import double
from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.double import f64
from dycl.backends.onnx.special_functions import bessel, decaying, gamma, zeta
from dycl.backends.onnx.special_functions.incomplete_gamma import incomplete_gamma as integral
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value, wider

_FUNCTIONS = {
    "lgamma": gamma.lgamma,
    "digamma": gamma.digamma,
    "erfinv": gamma.erfinv,
    "special_ndtri": gamma.ndtri,
    "special_erfcx": double.erfcx,
    "i0": bessel.i0,
    "special_i0e": bessel.i0e,
    "special_i1": bessel.i1,
    "special_i1e": bessel.i1e,
    "special_modified_bessel_i0": bessel.i0,
    "special_modified_bessel_i1": bessel.i1,
    "special_modified_bessel_k0": lambda b, x: decaying.k(b, x, 0, scaled=False),
    "special_modified_bessel_k1": lambda b, x: decaying.k(b, x, 1, scaled=False),
    "special_scaled_modified_bessel_k0": lambda b, x: decaying.k(b, x, 0, scaled=True),
    "special_scaled_modified_bessel_k1": lambda b, x: decaying.k(b, x, 1, scaled=True),
    "special_spherical_bessel_j0": gamma.sinc,
}


@lowers(*(f"aten.{name}.default" for name in _FUNCTIONS))
def function(b: Builder, a: Arguments) -> Value:
    x = b.cast(b.cast(a.tensor(_argument(a)), a.result.dtype), "float64")
    return b.cast(_FUNCTIONS[a.target.split(".")[1]](b, x), a.result.dtype)


def _argument(a: Arguments) -> str:
    return "self" if a.has("self") else "x"


@lowers(*(f"aten.special_zeta.{form}" for form in ("default", "self_scalar", "other_scalar")))
def hurwitz_zeta(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    x, q = (b.cast(b.number(a.number(name), dtype), "float64") for name in ("self", "other"))
    return b.cast(zeta.zeta(b, x, q), dtype)


@lowers("aten.igamma.default", "aten.igammac.default")
def incomplete_gamma(b: Builder, a: Arguments) -> Value:
    dtype = a.result.dtype
    shape, x = (b.cast(b.cast(a.tensor(name), dtype), "float64") for name in ("self", "other"))
    return b.cast(integral(b, shape, x, upper="igammac" in a.target), dtype)


@lowers("aten.polygamma.default")
def polygamma(b: Builder, a: Arguments) -> Value:
    order = a.integer("n")
    x = b.cast(b.cast(a.tensor("self"), a.result.dtype), wider(a.result.dtype))
    if order == 0:
        return b.cast(gamma.digamma(b, b.cast(x, "float64")), a.result.dtype)
    if order == 1:
        return b.cast(gamma.trigamma(b, x), a.result.dtype)
    result = b.cast(zeta.zeta(b, f64(b, order + 1), b.cast(x, "float64")), x.dtype)
    size = math.factorial(order) if order < 200 else math.inf
    return b.cast(b.node("Mul", result, b.number(size if order % 2 else -size, x.dtype)), a.result.dtype)
