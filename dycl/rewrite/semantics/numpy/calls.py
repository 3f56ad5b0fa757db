"""NumPy on values that only the input determines: what a call means, in NumPy's own semantics.

What kind of thing NumPy answers with, an array or a scalar, of which element type and shape, is found by asking NumPy
itself: the call is made on zeros of the same types. The contents are then computed by tensor operations.
"""

import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.contract import ArrayOperations
from dycl.rewrite.record.host_arrays import (
    BINARY,
    COMPARISONS,
    METHODS,
    TORCH_DTYPES,
    UNARY,
    HostArray,
    current_recorder,
    refused,
)
from dycl.rewrite.record.host_values import HostValue, kind_of
from dycl.rewrite.record.number_classes import PYTHON_TYPES
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, is_dynamic
from dycl.rewrite.semantics.numpy.forms import (
    ask,
    number_of_scalar,
    numpys_errors,
    require_fit,
    symbol_of,
    tensor_of,
    wrapped,
)
from dycl.rewrite.semantics.numpy.functions import FUNCTIONS, flatten
from dycl.rewrite.semantics.numpy.indexing import get_item, set_item
from dycl.rewrite.semantics.numpy.makers import MAKERS
from dycl.rewrite.semantics.numpy.ufuncs import UFUNCS
from dycl.rewrite.semantics.tensor_literals import from_numpy
from dycl.rewrite.signals import DecisionMet, Refused

_ARRAYS = frozenset(
    {"a", "x", "ar", "m", "A", "b", "condition", "values", "a_min", "a_max", "limits", "fill_value", "indices"}
)
_LISTS_OF_ARRAYS = frozenset({"arrays", "tup"})
_UNUSED = ("out", "where", "initial", "order", "casting", "subok", "like")


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """The result of a call that has to do with NumPy and dynamic values, or `NOT_HANDLED`."""
    if type(attribute(callee, "__self__")) is HostArray:
        return callee(*args, **kwargs)
    if _is_random(callee) and _mentions((args, kwargs), machine):
        raise refused(f"`np.random.{callee.__name__}`")
    if _is_numpy(callee):
        return function(callee, args, kwargs) if _mentions((args, kwargs), machine) else NOT_HANDLED
    mentioned = any(type(value) is HostArray for value in (*args, *kwargs.values()))
    if attribute(callee, "__module__") == operator.add.__module__ and args:
        if type(args[0]) is np.ndarray and callee in (operator.getitem, operator.setitem):
            return _static_array(callee, args, machine)
        stores = callee in (operator.getitem, operator.setitem) and type(args[0]) is not HostArray
        if mentioned and callee in _OPERATORS and not stores and not any(map(_is_sequence, args)):
            return callee(*args, **kwargs)
    if callee is round and mentioned and args[0].scalar:
        ask(round, args, kwargs)  # flags have no such method
        return args[0].round(args[1]) if args[1:] else round(number_of_scalar(args[0]))
    if callee is divmod and mentioned:
        return args[0] // args[1], args[0] % args[1]
    if callee is torch.from_numpy and mentioned:
        return from_numpy(args[0], machine)
    return NOT_HANDLED


def in_torch(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """A call of PyTorch with NumPy scalars among its arguments, which it takes for numbers; or `NOT_HANDLED`."""
    if not any(type(value) is HostArray for value in (*args, *kwargs.values())) or not _is_torch(callee):
        return NOT_HANDLED
    return callee(*(symbol_of(value) for value in args), **{name: symbol_of(value) for name, value in kwargs.items()})


def to_numpy(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArray:
    """`tensor.numpy()`."""
    return HostArray(args[0])


def _is_numpy(callee: Any) -> bool:
    if isinstance(callee, np.ufunc) or (isinstance(callee, type) and issubclass(callee, np.generic)):
        return True
    return (attribute(callee, "__module__") or "").partition(".")[0] == "numpy" and not isinstance(
        callee, types.ModuleType | np.dtype
    )


def _is_sequence(value: Any) -> bool:
    """Whether an operator with a NumPy scalar beside this is the sequence's own, such as `[0] * n`."""
    return type(value) is not HostArray and isinstance(value, list | tuple | str | dict)


_OPERATORS = frozenset(
    {
        *(operator.eq, operator.ne, operator.getitem, operator.setitem),
        *(getattr(operator, f"i{name}") for name in BINARY),
        *(plain for table in (BINARY, COMPARISONS, UNARY) for plain, _ in table.values()),
    }
)


def _is_random(callee: Any) -> bool:
    owner = attribute(callee, "__self__")
    return isinstance(owner, np.random.RandomState | np.random.Generator)


def _is_torch(callee: Any) -> bool:
    owner = attribute(callee, "__self__")
    module = attribute(callee, "__module__") or ""
    return isinstance(owner, torch.Tensor) or owner is torch._C._VariableFunctions or module.startswith("torch")


def _mentions(tree: Any, machine: Running) -> bool:
    if isinstance(tree, list | tuple):
        return any(_mentions(part, machine) for part in tree)
    if isinstance(tree, dict):
        return any(_mentions(part, machine) for part in tree.values())
    return is_dynamic(tree, machine)


def _copies(index: Any) -> bool:
    """Whether NumPy gives a copy for such an index: one with a list or an array of places in it."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, list) or (isinstance(part, np.ndarray) and part.ndim > 0) for part in parts)


def _static_array(callee: Any, args: tuple[Any, ...], machine: Running) -> Any:
    """An array of known contents, indexed by or filled with a value that only the input determines."""
    if not _mentions(args[1:], machine):
        return NOT_HANDLED
    if callee is operator.getitem:
        found = get_item(HostArray(tensor_of(args[0])), args[1])
        if not found.scalar and args[0].flags.writeable and not _copies(args[1]):
            reason = "a part of an array of NumPy, at a place that only the input determines, would share its memory"
            raise Refused("DY014", reason, "make the array a tensor first, or take the place from a list of places")
        return found.copy()
    if callee is operator.setitem:
        raise Refused(
            "DY014",
            "an array of NumPy is filled with values that only the input determines",
            "make the buffer by `torch.zeros` and fill that",
        )
    return callee(*args)


def function(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a NumPy function on values of which some are only known by the input."""
    kwargs = {name: value for name, value in kwargs.items() if not (name in _UNUSED and value is None)}
    if isinstance(callee, type) and issubclass(callee, np.generic):
        answer = ask(callee, args, kwargs)
        require_fit(args[0], answer.dtype, casts=isinstance(args[0], HostArray | np.generic))
        return wrapped(answer, tensor_of(args[0]))
    if callee in MAKERS:
        return MAKERS[callee](callee, args, kwargs)
    if callee in UFUNCS:
        if kwargs:
            raise refused(f"the option `{next(iter(kwargs))}` of `np.{callee.__name__}`")
        return _element_wise(callee, callee, args)
    implementation = FUNCTIONS.get(callee)
    module = (attribute(callee, "__module__") or "numpy").replace("numpy", "np", 1)
    name = f"`{module}.{attribute(callee, '__name__', type(callee).__name__)}`"
    if implementation is None:
        raise refused(name)
    return _computed(implementation, ask(callee, args, kwargs), args, kwargs, name)


def _computed(implementation: Any, answer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    """What an implementation makes of the arguments, in the form that NumPy's own answer has."""
    try:
        bound = inspect.signature(implementation).bind(None, *args, **kwargs)
    except TypeError:
        raise refused(f"an option of {name} that is used here") from None
    first = answer[0] if isinstance(answer, tuple) and answer else answer
    dtype = getattr(first, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype not in TORCH_DTYPES:
        raise refused(f"an array of type `{dtype}`")
    result = TORCH_DTYPES[dtype] if isinstance(dtype, np.dtype) else dtype
    require_fit(bound.arguments.get("fill_value"), dtype, casts=True)
    values = {key: _converted(key, value) for key, value in bound.arguments.items()}
    bound.arguments.update(values)
    bound.arguments["result"] = result
    # NumPy has indices out of range where it is asked for places, and else values that it cannot take.
    with numpys_errors() if "take" in name else numpys_errors(IndexError="ValueError"):
        return wrapped(answer, implementation(*bound.args, **bound.kwargs))


def _converted(name: str, value: Any) -> Any:
    """An argument as an implementation takes it: arrays as tensors, other numbers as they are."""
    if name == "values":
        return tuple(tensor_of(part) for part in value)
    if name == "limits":
        return {key: None if part is None else tensor_of(part) for key, part in value.items()}
    if name in _LISTS_OF_ARRAYS:
        return [tensor_of(part) for part in value]
    if name in _ARRAYS:
        return None if value is None else tensor_of(value)
    if isinstance(value, HostValue):
        return value.symbol()
    return number_of_scalar(value).symbol() if type(value) is HostArray and value.scalar else value


def _element_wise(probed: Callable[..., Any], ufunc: Any, operands: tuple[Any, ...]) -> Any:
    """A ufunc: the operands converted as NumPy converts them, computed, and converted to the result's type."""
    answer = ask(probed, operands, {})
    if answer is NotImplemented:
        return answer
    if isinstance(answer, torch.Tensor) and any(type(value) is HostArray and value.scalar for value in operands):
        return probed(*(symbol_of(value) for value in operands))
    if isinstance(answer, list | tuple | str):
        raise DecisionMet("a number of copies that only the input determines")
    if not isinstance(answer, np.ndarray | np.generic | torch.Tensor):
        raise refused(f"`np.{ufunc.__name__}` of these operands")
    elements = tuple(_element(value) for value in operands)
    resolved = ufunc.resolve_dtypes((*elements, None))
    if ufunc in _COMPARING and int in elements and resolved[0].kind in "iu":
        resolved = (np.dtype(np.int64),) * 2  # a number that does not fit the array's type is compared all the same
    inputs = [_operand(value, dtype) for value, dtype in zip(operands, resolved, strict=False)]
    if ufunc is np.power and not inputs[0].is_floating_point():
        fits = torch.ge(inputs[1], 0).all()
        message = "Integers to negative integer powers are not allowed."
        current_recorder().check(fits, "ValueError", message)
    if ufunc is np.power and isinstance(answer, np.ndarray) and _is_half(operands[1]):
        ufunc, inputs = np.sqrt, [inputs[0]]  # so it is for all but scalars
    with numpys_errors():
        return wrapped(answer, UFUNCS[ufunc](*inputs))


_COMPARING = (np.equal, np.not_equal, *(ufunc for _, ufunc in COMPARISONS.values()))


def _is_half(exponent: Any) -> bool:
    return isinstance(exponent, float | np.floating) and exponent == 0.5


def _element(value: Any) -> Any:
    """What NumPy's promotion looks at: an element type, or the type of a Python number."""
    kind = kind_of(value)
    if kind is not None:
        return np.dtype(np.bool_) if kind == "bool" else PYTHON_TYPES[kind]
    if type(value) is HostArray:
        return value.dtype
    return np.asarray(ask(np.asarray, (value,), {})).dtype


def _operand(value: Any, dtype: Any) -> torch.Tensor:
    if dtype not in TORCH_DTYPES:
        raise refused(f"arithmetic in the type `{dtype}`")
    require_fit(value, dtype)
    return tensor_of(value, TORCH_DTYPES[dtype])


def _operator(plain: Callable[..., Any], ufunc: Any, operands: tuple[Any, ...]) -> Any:
    if any(value is None or isinstance(value, str) for value in operands):
        if ufunc in (np.equal, np.not_equal):
            raise refused("`==` or `!=` of an array and what is no number")
        return NotImplemented
    return _element_wise(plain, ufunc, operands)


def _in_place(plain: Callable[..., Any], ufunc: Any, array: HostArray, other: Any) -> Any:
    """`array += other`: a scalar becomes another one, an array is written."""
    if array.scalar:
        return _operator(plain, ufunc, (array, other))
    ask(plain, (array, other), {})
    result = _element_wise(ufunc, ufunc, (array, other))
    array.tensor.copy_(tensor_of(result))
    return array


def _method(array: HostArray, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`array.name(...)`."""
    if name in _OWN_METHODS:
        return _OWN_METHODS[name](array, *args, **kwargs)
    kwargs = {key: value for key, value in kwargs.items() if not (key in _UNUSED and value is None)}
    answer = ask(lambda own, *rest, **given: getattr(own, name)(*rest, **given), (array, *args), kwargs)
    implementation = flatten if name == "flatten" else FUNCTIONS[getattr(np, name)]
    return _computed(implementation, answer, (array, *args), kwargs, f"`{name}`")


def _item(array: HostArray, *where: Any) -> HostValue:
    if where:
        return number_of_scalar(array[where[0] if len(where) == 1 else where])
    if array.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return number_of_scalar(array)


def _tolist(array: HostArray) -> Any:
    return [_tolist(row) for row in array] if array.ndim else number_of_scalar(array)


def _astype(array: HostArray, dtype: Any, **options: Any) -> HostArray:
    if options.pop("copy", True) is not True or options:
        raise refused("an option of `astype`")
    element = np.dtype(dtype)
    if element not in TORCH_DTYPES:
        raise refused(f"an array of type `{element}`")
    wanted = TORCH_DTYPES[element]
    tensor = array.tensor.clone() if array.tensor.dtype == wanted else array.tensor.to(wanted)
    return HostArray(tensor, array.scalar)


def _sort(array: HostArray, axis: int = -1) -> None:
    array.tensor.copy_(torch.sort(array.tensor, dim=axis, stable=True).values)


def _fill(array: HostArray, value: Any) -> None:
    require_fit(value, array.dtype)
    array.tensor.copy_(tensor_of(value, array.tensor.dtype).expand(array.tensor.shape))


def _copy(array: HostArray) -> HostArray:
    return HostArray(array.tensor.clone(), array.scalar)


_OWN_METHODS: dict[str, Callable[..., Any]] = {
    "item": _item,
    "tolist": _tolist,
    "astype": _astype,
    "sort": _sort,
    "fill": _fill,
    "copy": _copy,
}
assert set(_OWN_METHODS) <= set(METHODS)
ARRAY_OPERATIONS = ArrayOperations(function, _operator, _in_place, _method, get_item, set_item)
