"""What builtins, and a few functions of PyTorch, do with values that only the input determines."""

import itertools
import operator
import sys
import types
import warnings
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.hcfg.types import HostKind
from dycl.rewrite.normalise import syntax
from dycl.rewrite.record.bounds import bounds
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol, kind_of, whole_power
from dycl.rewrite.semantics import table_calls
from dycl.rewrite.semantics.class_calls import tells_instances_itself
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, contains_plainly, is_dynamic, item, number_of, truth
from dycl.rewrite.semantics.in_python.builtin_functions import stands_in
from dycl.rewrite.semantics.kinds import class_of, is_some_iterator, wide_class_of
from dycl.rewrite.semantics.numpy.calls import to_numpy
from dycl.rewrite.semantics.numpy.forms import is_flag, tensor_of
from dycl.rewrite.semantics.outside import logging_calls
from dycl.rewrite.semantics.outside.logging_calls import require_quiet_texts
from dycl.rewrite.semantics.ranges import range_contains, range_length
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Generator, HostRange, ParallelIterator, RangeIterator
from dycl.rewrite.state.lazy_iterators import KNOWN_ITERATORS
from dycl.rewrite.state.stops import Stopped
from dycl.rewrite.tensor_types import dress, dress_of


def _convert(kind: HostKind) -> Handler:
    def convert(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and is_dynamic(args[0], machine):
            if kind == "bool" and (isinstance(args[0], torch.Tensor) or type(args[0]) is HostArray):
                return truth(args[0], machine)
            value = number_of(args[0], machine)
            return value.converted(kind) if isinstance(value, HostValue) else NOT_HANDLED
        return NOT_HANDLED

    return convert


def _index(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = number_of(args[0], machine)
    if not isinstance(value, HostValue):
        return NOT_HANDLED
    if value.kind == "float":
        name = (class_of(args[0]) or torch.Tensor).__name__
        raise TypeError(f"'{name}' object cannot be interpreted as an integer")
    return value.converted("int")


def _negation(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not is_dynamic(args[0], machine):
        return NOT_HANDLED
    value = truth(args[0], machine)
    assert isinstance(value, HostValue)
    return HostValue("bool", torch.logical_not(value.tensor), machine.recorder)


def _item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return item(args[0], machine) if isinstance(args[0], torch.Tensor) and is_dynamic(args[0], machine) else NOT_HANDLED


def _is_nonzero(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return (
        truth(args[0], machine) if isinstance(args[0], torch.Tensor) and is_dynamic(args[0], machine) else NOT_HANDLED
    )


def _tolist(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if tensor.dim() == 0:
        return item(tensor, machine)
    if not all(isinstance(size, int) for size in tensor.shape):
        return table_calls.listed(tensor, machine)
    return [_tolist(machine, (row,), kwargs) for row in tensor.unbind(0)]


def _equal(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or not any(is_dynamic(value, machine) for value in args):
        return NOT_HANDLED
    if not all(isinstance(value, torch.Tensor) for value in args):
        raise TypeError("equal(): argument must be Tensor")
    return args[0].shape == args[1].shape and item(torch.eq(*args).all(), machine)


def _allclose(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not any(is_dynamic(value, machine) for value in args):
        return NOT_HANDLED
    return item(torch.isclose(*args, **kwargs).all(), machine)


def _length(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(args[0], HostRange):
        return range_length(args[0], machine)
    if type(args[0]) is HostArray:
        args = (args[0].tensor,)
    if isinstance(args[0], torch.Tensor) and args[0].dim() and not isinstance(args[0].shape[0], int):
        return import_symbol(args[0].shape[0], machine.recorder)
    return NOT_HANDLED


def _loop_item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    iterator, value = args
    return iterator.item(value) if isinstance(iterator, RangeIterator) else value


def _zip(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    strict = kwargs.get("strict", False)
    if kwargs.keys() - {"strict"} or type(strict) is not bool:
        return NOT_HANDLED
    if any(isinstance(source, HostRange | Generator | RangeIterator) for source in args):
        return NOT_HANDLED
    if any(map(syntax.iterates_itself, args)):
        return NOT_HANDLED
    parts = tuple(machine.iterator(source) for source in args)
    known = all(isinstance(part, KNOWN_ITERATORS) for part in parts)
    return ParallelIterator(parts, strict) if known else NOT_HANDLED


def _enumerate(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not kwargs.keys() <= {"iterable", "start"} or (not args and "iterable" not in kwargs):
        return NOT_HANDLED
    items, *rest = args if args else (kwargs["iterable"],)
    start = kwargs.get("start", rest[0] if rest else 0)
    if type(start) is not int:
        return NOT_HANDLED
    found = _zip(machine, (range(start, start + 2**62), items), {})
    if isinstance(found, ParallelIterator):
        found.kind = enumerate
    return found


_PLAIN_TENSOR = torch.empty(0)


def _isinstance(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if tells_instances_itself(args[1]):
        return NOT_HANDLED
    if isinstance(args[0], FakeTensor):
        marked = dress(_PLAIN_TENSOR.clone(), *dress_of(args[0])) if any(dress_of(args[0])) else _PLAIN_TENSOR
        return isinstance(marked, args[1])
    cls = class_of(args[0])
    if is_some_iterator(args[0]):
        return _is_kind_of_iterator(args[1])
    return NOT_HANDLED if cls is None else issubclass(cls, args[1])


def _is_kind_of_iterator(kinds: Any) -> bool:
    """Whether an iterator of unknown kind is one of these; refused if the kind matters."""
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    answers = {issubclass(kind, cls) for kind in _ITERATORS for cls in classes if isinstance(cls, type)}
    by_class = [{issubclass(kind, cls) for cls in classes if isinstance(cls, type)} for kind in _ITERATORS]
    if len({True in found for found in by_class}) > 1 or not answers:
        raise Refused("DY002", "which kind of iterator this is cannot be told", "ask for `collections.abc.Iterator`")
    return True in answers


_ITERATORS: tuple[type, ...] = (
    *map(type, (iter([]), iter(()), iter({}), iter(set()), iter(""), iter(range(0)), iter({}.values()))),
    *(enumerate, zip, map, filter, reversed, itertools.count, types.GeneratorType),
)


def _type(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    cls = wide_class_of(args[0]) if len(args) == 1 else None
    if is_some_iterator(args[0]):
        raise Refused("DY002", "which kind of iterator this is cannot be told")
    return NOT_HANDLED if cls is None else cls


def _iterator(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    stepped_into = len(args) != 1 or syntax.iterates_itself(args[0])
    return NOT_HANDLED if stepped_into else machine.iterator(args[0])


def _power(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or kind_of(args[0]) not in ("bool", "int") or not isinstance(args[1], HostValue):
        return NOT_HANDLED
    possible = bounds(args[1], machine.recorder) if args[1].kind == "int" else None
    return NOT_HANDLED if possible is None or possible[0] < 0 else whole_power(args[0], args[1], machine.recorder)


def _whole_power(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return whole_power(args[0], args[1], machine.recorder)


def _identical(wanted: bool) -> Handler:
    def identical(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        left, right = args if isinstance(args[0], HostValue) else reversed(args)
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor) and left is not right:
            _require_told_apart(machine, left, right)
        is_pair = isinstance(left, tuple) and left is not right and bool(left)
        if is_pair and _may_be_same(left, right, machine.in_stand_in):
            raise Refused("DY009", "whether two equal tuples are the same one is not kept track of", "compare by `==`")
        if left is not right and is_flag(left) and is_flag(right):
            same = torch.eq(tensor_of(left), tensor_of(right))  # there are two of them
            return HostValue("bool", same if wanted else torch.logical_not(same), machine.recorder)
        if type(left) is HostArray and type(right) is HostArray and left is not right:
            reason = "whether two arrays of the input's values are the same one is not kept track of"
            raise Refused("DY009", reason, "compare what they hold")
        if not isinstance(left, HostValue) or left is right:
            return NOT_HANDLED
        if left.kind != kind_of(right):
            return NOT_HANDLED  # numbers of different kinds, or a number and something else
        if left.kind != "bool" and machine.in_stand_in:
            return NOT_HANDLED  # it asks for equality next
        if left.kind != "bool":
            raise Refused("DY009", "whether two numbers are the same object is not kept track of", "use `==`")
        result = torch.eq(left.tensor, right.tensor if isinstance(right, HostValue) else right)
        return HostValue("bool", result if wanted else torch.logical_not(result), machine.recorder)

    return identical


def _require_told_apart(machine: Running, left: torch.Tensor, right: torch.Tensor) -> None:
    aliases = machine.recorder.recording.aliases
    if aliases.is_shared_outside(left) and aliases.is_shared_outside(right):
        reason = "whether two items of a list that changes from round to round are the same tensor is not kept track of"
        raise Refused("DY009", reason, "compare what the tensors hold, or keep a flag beside them")


def _may_be_same(left: Any, right: Any, asks_next: bool) -> bool:
    if type(left) is type(right) and isinstance(left, tuple):
        return len(left) == len(right) and all(_may_be_same(*pair, asks_next) for pair in zip(left, right, strict=True))
    # Which number is the same object is not known after a decision, and makes no difference if equality is asked next.
    return left is right or (not asks_next and isinstance(left, HostValue) and isinstance(right, HostValue))


def _active_error(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    error = machine.handled()
    return NOT_HANDLED if error is None else error


def _exception(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return machine.handled()


def _exception_info(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    error = machine.handled()
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


def _contained(wanted: bool) -> Handler:
    def contained(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = _found(machine, *args)
        if not isinstance(found, HostValue):
            return found if found is NOT_HANDLED else found is wanted
        return found if wanted else HostValue("bool", torch.logical_not(found.tensor), machine.recorder)

    return contained


def _found(machine: Running, value: Any, container: Any) -> Any:
    """Whether a container of known things has a number or text, as far as that takes no decision."""
    if type(container) is HostArray:
        return HostValue("bool", (container == value).any().tensor, machine.recorder)
    if isinstance(container, torch.Tensor) and type(container).__contains__ is torch.Tensor.__contains__:
        return _found_in_tensor(machine, value, container)
    if isinstance(value, torch.Tensor) and contains_plainly(container, _HASHING):
        return any(candidate is value for candidate in container)  # which has the hash of no other
    number = number_of(value, machine)
    if isinstance(container, HostRange) or (isinstance(container, range) and isinstance(number, HostValue)):
        return NOT_HANDLED if kind_of(number) is None else range_contains(container, number, machine)
    if not isinstance(number, HostValue | HostText) or not contains_plainly(container, _CONTAINERS):
        return NOT_HANDLED
    found: Any = False
    if any(candidate is value for candidate in container):
        return True  # also if it is not a number, which does not equal itself
    for candidate in container:
        if isinstance(number, HostText):
            same = number.equals(candidate, machine)
        elif kind_of(candidate) is not None:
            number.require_told_apart(candidate)
            same = number == candidate
        elif isinstance(candidate, str) or candidate is None:
            same = False
        else:
            return NOT_HANDLED
        found = same if found is False else found if same is False else found | same
    return found


def _found_in_tensor(machine: Running, value: Any, container: torch.Tensor) -> Any:
    if not is_dynamic(container, machine) and not is_dynamic(value, machine):
        return NOT_HANDLED
    if kind_of(value) is None and not isinstance(value, torch.Tensor):
        kind = f"<class '{type(value).__name__}'>"
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {kind}.")
    return item((container == value).any(), machine)


_HASHING = (set, frozenset, dict)
_CONTAINERS = (list, tuple, *_HASHING)


def _dropped(what: str) -> Handler:
    def drop(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        require_quiet_texts((*args, *kwargs.values()))
        machine.note(f"`{what}` is dropped", machine.span)
        return None

    return drop


def _print(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    to_screen = any(kwargs.get("file") is stream for stream in (None, sys.stdout, sys.stderr))
    return _dropped("print")(machine, args, kwargs) if to_screen else NOT_HANDLED


def _returned(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if type(args[0]) is Generator and stands_in(args[0].gi_code):
        return None
    return args[0].value if isinstance(args[0], Generator | Stopped) else None


def _address(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise Refused("DY001", "the place of a tensor in memory is asked for, which a compiled program has no use for")


def _open(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise Refused("DY002", "a file is opened", "read the file in the model's constructor")


def _when_dynamic(handler: Handler) -> Handler:
    """A method of tensors that means something else where only the input determines them."""

    def method(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return handler(machine, args, kwargs) if is_dynamic(args[0], machine) else NOT_HANDLED

    return method


HANDLERS: dict[Any, Handler] = {
    bool: _convert("bool"),
    int: _convert("int"),
    float: _convert("float"),
    operator.index: _index,
    operator.not_: _negation,
    syntax.contained: _contained(True),
    syntax.not_contained: _contained(False),
    syntax.loop_item: _loop_item,
    len: _length,
    zip: _zip,
    enumerate: _enumerate,
    operator.is_: _identical(True),
    operator.is_not: _identical(False),
    isinstance: _isinstance,
    type: _type,
    iter: _iterator,
    operator.pow: _power,
    operator.ipow: _power,
    pow: _power,
    syntax.whole_power: _whole_power,
    torch.equal: _equal,
    torch.allclose: _allclose,
    torch.is_nonzero: _is_nonzero,
    torch.Tensor.item: _item,
    open: _open,
    syntax.returned: _returned,
    syntax.active_error: _active_error,
    sys.exception: _exception,
    sys.exc_info: _exception_info,
    print: _print,
    warnings.warn: _dropped("warnings.warn"),
    **dict.fromkeys((warnings.simplefilter, warnings.filterwarnings), logging_calls.warnings_filtered),
}
TENSOR_METHODS: dict[str, Handler] = {
    name: _when_dynamic(handler)
    for name, handler in {
        "data_ptr": _address,
        "item": _item,
        "tolist": _tolist,
        "__bool__": _convert("bool"),
        "__int__": _convert("int"),
        "__float__": _convert("float"),
        "__index__": _index,
        "equal": _equal,
        "allclose": _allclose,
        "is_nonzero": _is_nonzero,
        "numpy": to_numpy,
        "__array__": to_numpy,
    }.items()
}
