"""Which arguments a builtin takes: what stands in for one takes no others, so that Python says what is wrong."""

import builtins
import collections
import functools
import inspect
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import torch


def fits(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a builtin can be called with these arguments, as far as it is known which it takes."""
    if isinstance(callee, types.BuiltinMethodType) and not isinstance(owner := callee.__self__, _NO_OBJECTS):
        callee, args = getattr(type(owner), callee.__name__), (owner, *args)
    if not args and any(callee is one for one in _SAY_SOMETHING_OF_THEIR_FIRST):
        return False
    in_c = isinstance(callee, _TELL) or (isinstance(callee, type) and callee.__module__ in _IN_C)
    if not in_c and not any(callee is one for one in _LIKE):
        return True
    signature, least, most = _signature(callee)
    if signature is None or (not kwargs and least <= len(args) <= most):
        return True
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


@functools.cache
def _signature(callee: Any) -> tuple[inspect.Signature | None, int, float]:
    """How a builtin is called, and how many arguments it takes by their places."""
    try:
        signature = inspect.signature(_LIKE.get(callee, callee))
    except (ValueError, TypeError):
        return None, 0, math.inf
    parameters = inspect.Parameter
    placed = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind in (parameters.POSITIONAL_ONLY, parameters.POSITIONAL_OR_KEYWORD)
    ]
    least = sum(parameter.default is parameters.empty for parameter in placed)
    needs_names = any(
        parameter.kind is parameters.KEYWORD_ONLY and parameter.default is parameters.empty
        for parameter in signature.parameters.values()
    )
    takes_any = any(parameter.kind is parameters.VAR_POSITIONAL for parameter in signature.parameters.values())
    return signature, least, -1 if needs_names else math.inf if takes_any else len(placed)


_TELL = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.FunctionType)
_IN_C = ("builtins", "itertools", "collections", "functools")
# What a builtin is bound to that is a method of none: its module, or the class that it makes objects of.
_NO_OBJECTS = (types.ModuleType, type, types.NoneType)
# They fail without arguments, or give a constant.
_SAY_SOMETHING_OF_THEIR_FIRST = (type, iter, getattr, min, max, range, str, int, float, bool)


def _one(a: Any, /) -> None: ...
def _two(a: Any, b: Any, /) -> None: ...
def _three(a: Any, b: Any, c: Any, /) -> None: ...
def _at_most_one(a: Any = None, /) -> None: ...
def _one_or_two(a: Any, b: Any = None, /) -> None: ...
def _two_or_three(a: Any, b: Any, c: Any = None, /) -> None: ...
def _two_to_four(a: Any, b: Any, c: Any = None, d: Any = None, /) -> None: ...
def _up_to_three(a: Any, b: Any = None, c: Any = None, /) -> None: ...
def _any_number(*items: Any) -> None: ...
def _named(item: Any = None, /, **named: Any) -> None: ...
def _extreme(first: Any, *others: Any, key: Any = None, default: Any = None) -> None: ...
def _filled(*items: Any, fillvalue: Any = None) -> None: ...
def _repeated(object: Any, times: Any = 1) -> None: ...
def _product(*items: Any, repeat: Any = 1) -> None: ...
def _comparing(mycmp: Any) -> None: ...
def _queue(iterable: Any = (), maxlen: Any = None) -> None: ...
def _text(object: Any = "", encoding: Any = "", errors: Any = "") -> None: ...
def _whole(number: Any = 0, /, base: Any = 10) -> None: ...
def _zipped(*items: Any, strict: Any = False) -> None: ...
def _array(a: Any, /, *, force: Any = False) -> None: ...
def _tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: Any = False,
    pin_memory: Any = False,
    names: Any = None,
) -> None: ...
def _as_tensor(data: Any, dtype: Any = None, device: Any = None) -> None: ...


# Of these Python does not tell which arguments they take.
_LIKE: dict[Any, Callable[..., None]] = {
    getattr: _two_or_three,
    hasattr: _two,
    setattr: _three,
    delattr: _two,
    builtins.range: _up_to_three,
    builtins.iter: _one_or_two,
    builtins.next: _one_or_two,
    builtins.filter: _two,
    builtins.zip: _zipped,
    builtins.set: _at_most_one,
    builtins.dict: _named,
    builtins.min: _extreme,
    builtins.max: _extreme,
    builtins.str: _text,
    builtins.bool: _at_most_one,
    builtins.int: _whole,
    functools.reduce: _two_or_three,
    functools.cmp_to_key: _comparing,
    itertools.chain: _any_number,
    itertools.islice: _two_to_four,
    itertools.zip_longest: _filled,
    itertools.repeat: _repeated,
    itertools.product: _product,
    collections.deque: _queue,
    collections.deque.extend: _two,
    collections.deque.extendleft: _two,
    collections.deque.index: _two_to_four,
    collections.deque.remove: _two,
    collections.deque.count: _two,
    dict.pop: _two_or_three,
    set.add: _two,
    set.discard: _two,
    math.log: _one_or_two,
    math.hypot: _any_number,
    **dict.fromkeys((torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.data_ptr, torch.Tensor.is_nonzero), _one),
    **dict.fromkeys(
        (torch.Tensor.__bool__, torch.Tensor.__int__, torch.Tensor.__float__, torch.Tensor.__index__), _one
    ),
    torch.Tensor.numpy: _array,
    torch.tensor: _tensor,
    torch.as_tensor: _as_tensor,
}
