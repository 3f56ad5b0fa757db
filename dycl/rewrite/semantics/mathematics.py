"""`math` on host values."""

import decimal
import fractions
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.normalise import syntax
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.exact_numbers import is_complex_power, is_pole, whole_root
from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.record.number_classes import PYTHON_TYPES
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, is_dynamic, number_of
from dycl.rewrite.signals import Refused

Test = Callable[[torch.Tensor], torch.Tensor]


def _not_negative(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.lt(number, 0))


def _positive(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.le(number, 0))


def _above(limit: float) -> Test:
    return lambda number: torch.logical_not(torch.le(number, limit))


def _at_least_one(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.lt(number, 1))


def _up_to_one(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.gt(torch.abs(number), 1))


def _below_one(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.ge(torch.abs(number), 1))


def _finite(number: torch.Tensor) -> torch.Tensor:
    return torch.logical_not(torch.isinf(number))


def _numbers(machine: Running, args: tuple[Any, ...]) -> list[Any] | None:
    """The arguments as numbers, if one of them is only known by the input and all are numbers."""
    if not any(is_dynamic(value, machine) for value in args):
        return None
    numbers = [number_of(value, machine) for value in args]
    return None if any(kind_of(number) is None for number in numbers) else numbers


def _floats(machine: Running, numbers: list[Any]) -> list[torch.Tensor]:
    return [lift(number, "float", machine.recorder).tensor for number in numbers]


def _of_floats(
    function: Callable[..., torch.Tensor], kind: HostKind, domain: Test | None = None, overflows: bool = True
) -> Handler:
    def compute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        numbers = _numbers(machine, args)
        if numbers is None or kwargs:
            return NOT_HANDLED
        tensors = _floats(machine, numbers)
        if domain is not None:
            machine.recorder.check(domain(tensors[0]), "ValueError", "math domain error")
        result = function(*tensors)
        if kind == "float" and overflows:
            _require_range(machine, result, tensors)
        return HostValue(kind, result, machine.recorder)

    return compute


def _require_range(machine: Running, result: torch.Tensor, tensors: list[torch.Tensor]) -> None:
    """Let the program raise what `math` raises where finite numbers have no finite result."""
    inside = torch.isfinite(result)
    for tensor in tensors:
        inside = torch.logical_or(inside, torch.logical_not(torch.isfinite(tensor)))
    machine.recorder.check(inside, "OverflowError", "math range error")


def _to_whole(function: Callable[[torch.Tensor], torch.Tensor]) -> Handler:
    def compute(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        numbers = _numbers(machine, args)
        if numbers is None:
            return NOT_HANDLED
        number = lift(numbers[0], kind_of(numbers[0]) or "float", machine.recorder)
        if number.kind != "float":
            return number.as_kind("int")
        return HostValue("float", function(number.tensor), machine.recorder).converted("int")

    return compute


def _logarithm(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None:
        return NOT_HANDLED
    tensors = _floats(machine, numbers)
    for tensor in tensors:
        machine.recorder.check(_positive(tensor), "ValueError", "math domain error")
    logarithms = [HostValue("float", torch.log(tensor), machine.recorder) for tensor in tensors]
    return logarithms[0] if len(logarithms) == 1 else logarithms[0] / logarithms[1]


def _power(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None:
        return NOT_HANDLED
    base, exponent = tensors = _floats(machine, numbers)
    outside = torch.logical_or(is_complex_power(base, exponent), is_pole(base, exponent))
    machine.recorder.check(torch.logical_not(outside), "ValueError", "math domain error")
    result = torch.pow(base, exponent)
    _require_range(machine, result, tensors)
    return HostValue("float", result, machine.recorder)


def _length(tensors: list[torch.Tensor]) -> torch.Tensor:
    """The length of a vector, which is infinite if one of its coordinates is, whatever the others are."""
    sizes = torch.abs(torch.stack(tensors))
    largest = sizes.max()
    usual = torch.logical_and(torch.isfinite(largest), torch.gt(largest, 0))
    scale = torch.where(usual, largest, torch.ones_like(largest))
    length = scale * torch.sqrt(torch.square(sizes / scale).sum())
    return torch.where(torch.isinf(sizes).any(), torch.full_like(length, math.inf), length)


def _hypotenuse(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None:
        return NOT_HANDLED
    return HostValue("float", _length(_floats(machine, numbers)), machine.recorder)


def _distance(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    first, second = args
    if not isinstance(first, list | tuple) or not isinstance(second, list | tuple) or len(first) != len(second):
        return NOT_HANDLED
    numbers = _numbers(machine, (*first, *second))
    if numbers is None:
        return NOT_HANDLED
    tensors = _floats(machine, numbers)
    pairs = zip(tensors[: len(first)], tensors[len(first) :], strict=True)
    return HostValue("float", _length([left - right for left, right in pairs]), machine.recorder)


def _remainder(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None:
        return NOT_HANDLED
    number, divisor = _floats(machine, numbers)
    defined = torch.logical_and(torch.ne(divisor, 0), _finite(number))
    for given in (number, divisor):
        defined = torch.logical_or(defined, torch.isnan(given))
    machine.recorder.check(defined, "ValueError", "math domain error")
    return HostValue("float", torch.fmod(number, divisor), machine.recorder)


def _parts(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None:
        return NOT_HANDLED
    (number,) = _floats(machine, numbers)
    whole = torch.trunc(number)
    fraction = torch.where(torch.isinf(number), torch.zeros_like(number), number - whole)
    recorder = machine.recorder
    return HostValue("float", torch.copysign(fraction, number), recorder), HostValue("float", whole, recorder)


def _close(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    limits = (kwargs.get("rel_tol", 1e-09), kwargs.get("abs_tol", 0.0))
    numbers = _numbers(machine, (*args, *limits))
    if numbers is None or len(args) != 2:
        return NOT_HANDLED
    left, right, relative, absolute = _floats(machine, numbers)
    allowed = torch.maximum(relative * torch.maximum(torch.abs(left), torch.abs(right)), absolute)
    finite = torch.logical_and(torch.isfinite(left), torch.isfinite(right))
    near = torch.logical_and(finite, torch.le(torch.abs(left - right), allowed))
    return HostValue("bool", torch.logical_or(torch.eq(left, right), near), machine.recorder)


def _whole_root(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    numbers = _numbers(machine, args)
    if numbers is None or kind_of(numbers[0]) == "float":
        return NOT_HANDLED
    number = lift(numbers[0], "int", machine.recorder).tensor
    return HostValue("int", whole_root(number, machine.recorder), machine.recorder)


def _cube_root(number: torch.Tensor) -> torch.Tensor:
    return torch.copysign(torch.pow(torch.abs(number), 1 / 3), number)


def _loses(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not any(isinstance(number, HostValue) for number in args):
        return NOT_HANDLED
    kinds = [number.kind if isinstance(number, HostValue) else type(number).__name__ for number in args]
    return syntax.SUMS_EXACTLY and kinds == ["float", "float"]


def _summed(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    total, lost = args
    if not isinstance(lost, HostValue):
        return NOT_HANDLED
    if kind_of(total) != "float":  # no float was added
        return total
    number, error = _floats(machine, [total, lost])
    counts = torch.logical_and(torch.isfinite(error), torch.ne(error, 0))
    return HostValue("float", torch.where(counts, number + error, number), machine.recorder)


def _exact(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A fraction or decimal number, which no tensor holds."""
    if any(is_dynamic(value, machine) for value in (*args, *kwargs.values())):
        hint = "compute with whole numbers or floats"
        raise Refused("DY008", "a fraction or decimal number is made of one that only the input determines", hint)
    return NOT_HANDLED


HANDLERS: dict[Any, Handler] = {
    fractions.Fraction: _exact,
    decimal.Decimal: _exact,
    math.sqrt: _of_floats(torch.sqrt, "float", _not_negative),
    math.cbrt: _of_floats(_cube_root, "float"),
    math.exp: _of_floats(torch.exp, "float"),
    math.exp2: _of_floats(torch.exp2, "float"),
    math.expm1: _of_floats(torch.expm1, "float"),
    math.log: _logarithm,
    math.log2: _of_floats(torch.log2, "float", _positive),
    math.log10: _of_floats(torch.log10, "float", _positive),
    math.log1p: _of_floats(torch.log1p, "float", _above(-1.0)),
    math.sin: _of_floats(torch.sin, "float", _finite),
    math.cos: _of_floats(torch.cos, "float", _finite),
    math.tan: _of_floats(torch.tan, "float", _finite),
    math.asin: _of_floats(torch.asin, "float", _up_to_one),
    math.acos: _of_floats(torch.acos, "float", _up_to_one),
    math.atan: _of_floats(torch.atan, "float"),
    math.atan2: _of_floats(torch.atan2, "float"),
    math.sinh: _of_floats(torch.sinh, "float"),
    math.cosh: _of_floats(torch.cosh, "float"),
    math.tanh: _of_floats(torch.tanh, "float"),
    math.asinh: _of_floats(torch.asinh, "float"),
    math.acosh: _of_floats(torch.acosh, "float", _at_least_one),
    math.atanh: _of_floats(torch.atanh, "float", _below_one),
    math.erf: _of_floats(torch.erf, "float"),
    math.erfc: _of_floats(torch.erfc, "float"),
    math.pow: _power,
    math.fabs: _of_floats(torch.abs, "float"),
    math.degrees: _of_floats(lambda number: number * (180.0 / math.pi), "float", overflows=False),
    math.radians: _of_floats(lambda number: number * (math.pi / 180.0), "float"),
    math.copysign: _of_floats(torch.copysign, "float"),
    math.hypot: _hypotenuse,
    math.dist: _distance,
    math.fmod: _remainder,
    math.modf: _parts,
    math.isclose: _close,
    math.isqrt: _whole_root,
    math.floor: _to_whole(torch.floor),
    math.ceil: _to_whole(torch.ceil),
    math.trunc: _to_whole(torch.trunc),
    math.isnan: _of_floats(torch.isnan, "bool"),
    math.isinf: _of_floats(torch.isinf, "bool"),
    math.isfinite: _of_floats(torch.isfinite, "bool"),
    syntax.loses: _loses,
    syntax.summed: _summed,
}


def _turned(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: operation(right, left)


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_BITS = ("lshift", "rshift", "and_", "or_", "xor")
_SPECIAL: dict[str, Callable[[Any, Any], Any]] = {
    **{f"__{name.rstrip('_')}__": getattr(operator, name) for name in (*_COMPARISONS, *_ARITHMETIC, *_BITS)},
    **{f"__r{name.rstrip('_')}__": _turned(getattr(operator, name)) for name in (*_ARITHMETIC, *_BITS)},
}


def special_method(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """`(3).__lt__(number)` or `float.__add__(0.5, number)`, which know nothing of numbers that the input determines."""
    if isinstance(callee, types.MethodWrapperType):
        args, owner = (callee.__self__, *args), type(callee.__self__)
    elif isinstance(callee, types.WrapperDescriptorType):
        owner = callee.__objclass__
        if args and type(args[0]) is HostValue and not issubclass(PYTHON_TYPES[args[0].kind], owner):
            kind_of_first = PYTHON_TYPES[args[0].kind].__name__
            text = (
                f"descriptor '{callee.__name__}' requires a '{owner.__name__}' object but received a '{kind_of_first}'"
            )
            raise TypeError(text)
    elif type(attribute(callee, "__self__")) is HostValue:
        args, owner = (callee.__self__, *args), PYTHON_TYPES[callee.__self__.kind]
    else:
        return NOT_HANDLED
    kind = next((kind for kind in (int, float) if issubclass(owner, kind)), None)
    operation = _SPECIAL.get(callee.__name__)
    if kind is None or operation is None or len(args) != 2 or not any(isinstance(value, HostValue) for value in args):
        return NOT_HANDLED
    if not all(isinstance(value, HostValue | int | float) for value in args):
        return NOT_HANDLED
    mixed = kind is int and any(_is_float(value) for value in args)
    return NotImplemented if mixed or not hasattr(kind, callee.__name__) else operation(*map(_plain, args))


def _plain(value: Any) -> Any:
    """A number as Python's own classes have it."""
    return value if isinstance(value, HostValue) else float(value) if isinstance(value, float) else int(value)


def _is_float(value: Any) -> bool:
    return value.kind == "float" if isinstance(value, HostValue) else isinstance(value, float)
