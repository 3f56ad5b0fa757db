"""Indexing by a host value: the program goes on once for each item that the index can mean."""

import collections
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.instructions import Call, Known, Read, Register
from dycl.rewrite.normalise.syntax import KnownNumber
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.bounds import bounds
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import MOST_CASES, has_plain, number_of
from dycl.rewrite.semantics.numpy.forms import number_of_scalar
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import CheckMet, Refused
from dycl.rewrite.state.frames import Frame
from dycl.rewrite.state.stops import Decided, Outcome

_ABSENT = -1
_TABLES = (collections.OrderedDict, collections.defaultdict, dict)
_SEQUENCES = (torch.Size, list, tuple, nn.ModuleList, nn.Sequential, nn.ParameterList)
_BY_POSITION = ("__getitem__", "__iter__", "__len__")
Error = tuple[str, str]
_NEVER: Error = ("RuntimeError", "a number is outside of the bounds that the compiler found for it")


@dataclass(frozen=True, slots=True)
class _Switch:
    """What a call can mean: its result for each value of a number, or, to make it `again`, its key."""

    number: HostValue
    results: Mapping[int, Any]
    error: Error | None = None
    keys: Mapping[int, Any] | None = None
    again: bool = False


def switch_on_index(
    machine: Running, frame: Frame, instruction: Call, callee: Any, args: tuple[Any, ...]
) -> Decided | None:
    """A switch over what this call can mean, if it depends on a number that only the input determines."""
    switch = _switch(machine, callee, args)
    if switch is None:
        return None
    if switch.error is not None and machine.catches_errors():
        known = torch.tensor(list(switch.results), dtype=torch.int64)
        try:
            machine.recorder.check(torch.any(torch.eq(switch.number.tensor, known)), *switch.error)
        except CheckMet as met:
            if met.error == "KeyError":
                met.given = args[1:2]
            raise
    outcomes = []
    key = _key_register(frame, instruction, switch)
    for case, result in switch.results.items():
        writes = {} if switch.again else {instruction.dest: result}
        if key is not None and switch.keys is not None:
            writes[key] = switch.keys[case]
        outcomes.append(Outcome(case, frame.position + (0 if switch.again else 1), writes))
    return Decided(switch.number, tuple(outcomes), switch.error or _NEVER)


def _key_register(frame: Frame, instruction: Call, switch: _Switch) -> Register | None:
    """The register of a key that stays known: this call is made again, or stores to the same place (`d[k] += 1`)."""
    if switch.keys is None or len(instruction.args) < 2 or not isinstance(instruction.args[1], Read):
        return None
    place = instruction.args[:2]
    following = frame.function.instructions[frame.position + 1 :]
    stores = (later for later in following if isinstance(later, Call) and later.callee == Known(operator.setitem))
    return instruction.args[1].register if switch.again or any(later.args[:2] == place for later in stores) else None


def _switch(machine: Running, callee: Any, args: tuple[Any, ...]) -> _Switch | None:
    if callee is operator.getitem and len(args) != 2:
        return None
    if callee is operator.getitem and has_plain(args[0], "__getitem__", _TABLES):
        return _key(machine, args[0], args[1])
    if callee is operator.getitem and all(has_plain(args[0], method, _SEQUENCES) for method in _BY_POSITION):
        index = number_of(args[1], machine, is_place=True)
        if not isinstance(index, HostValue):
            return None
        number = _wrapped(machine, index, len(args[0]))
        return _Switch(number, dict(enumerate(args[0])), ("IndexError", syntax.index_message(args[0])))
    if isinstance(callee, types.BuiltinMethodType) and callee.__name__ == "get" and isinstance(callee.__self__, dict):
        return _key_or_default(machine, callee.__self__, *args)
    if callee is getattr and len(args) > 1 and isinstance(args[1], HostText):
        return _attribute(machine, args)
    # A function that was alive across a decision is a copy: its code tells which one it is.
    make = _KNOWN.get(attribute(callee, "__code__"))
    return None if make is None else make(machine, *args)


def _wrapped(machine: Running, index: HostValue, size: int) -> HostValue:
    """An index that counts from the end if negative as one that counts from the start."""
    if index.kind == "float":
        raise TypeError("indices must be integers or slices, not float")
    number = index.as_kind("int").tensor
    return HostValue("int", torch.where(torch.lt(number, 0), number + size, number), machine.recorder)


def _meaning(table: Iterable[Any], key: Any) -> tuple[HostValue, dict[Any, Any]] | None:
    """The number that decides which key is meant, and the keys by that number."""
    if type(key) is HostArray and key.scalar:
        key = number_of_scalar(key)
    if isinstance(key, HostText):
        meant = ((key.meant_by(candidate), candidate) for candidate in table)
        return key.number().as_kind("int"), {number: candidate for number, candidate in meant if number is not None}
    if isinstance(key, HostValue):
        kind: type[int] | type[float] = float if key.kind == "float" else int
        meant = ((_same_number(candidate, kind), candidate) for candidate in table)
        numbers = {number: candidate for number, candidate in meant if number is not None}
        return key.as_kind("int") if key.kind != "float" else key, numbers
    return None


def _same_number(candidate: Any, kind: type[int] | type[float]) -> Any:
    """The number of this kind that equals a key of a dict; None if there is none."""
    if isinstance(candidate, np.generic):
        candidate = candidate.item()
    if not isinstance(candidate, int | float | complex):
        return None
    try:
        number = kind(candidate.real)
    except (ValueError, OverflowError):
        return None  # infinite or not a number, or larger than any float
    return number if number == candidate else None


def _key(machine: Running, table: dict[Any, Any], key: Any) -> _Switch | None:
    found = _meaning(table, key)
    if found is None:
        return None
    number, keys = found
    if hasattr(type(table), "__missing__"):
        known = _any_key(machine, key, "a key of this dict")
        return None if known is None else replace(known, keys=known.results, again=True)
    if number.kind == "float":
        raise Refused("DY008", "a dict is indexed by an input-dependent float", "use whole numbers as keys")
    values = {case: dict.__getitem__(table, candidate) for case, candidate in keys.items()}
    exact = {case: _exact(key, case, candidate) for case, candidate in keys.items()}
    return _Switch(number, values, ("KeyError", "the key is not in the dict"), exact)


def _exact(key: Any, case: Any, candidate: Any) -> Any:
    """What an input-dependent key is where it equals one of the dict's: a number keeps its kind."""
    if isinstance(key, HostValue):
        return bool(case) if key.kind == "bool" else KnownNumber(case)
    return KnownNumber(candidate) if type(candidate) is int else candidate


def _key_or_default(machine: Running, table: dict[Any, Any], key: Any, default: Any = None) -> _Switch | None:
    found = _meaning(table, key)
    if found is None:
        return None
    number, keys = found
    place = lift(_ABSENT, "int", machine.recorder).tensor
    for position, case in enumerate(keys):
        here = torch.eq(number.tensor, case)
        place = torch.where(here, torch.full_like(place, position), place)
    values = {position: dict.__getitem__(table, candidate) for position, candidate in enumerate(keys.values())}
    return _Switch(HostValue("int", place, machine.recorder), {_ABSENT: default, **values})


def _attribute(machine: Running, args: tuple[Any, ...]) -> _Switch | None:
    owner, name = args[0], args[1]
    if len(args) > 2 or _answers_itself(owner):
        known = _any_key(machine, name, "the name of an attribute")
        return None if known is None else replace(known, keys=known.results, again=True)
    found = _meaning(_names(owner), name)
    if found is None:
        return None
    number, names = found
    if not names:
        raise Refused("DY008", "an attribute is chosen by the input, and none of the names that are known fits")
    error = ("AttributeError", f"'{type(owner).__name__}' object has no attribute of this name")
    return _Switch(number, {case: getattr(owner, attribute) for case, attribute in names.items()}, error)


def _answers_itself(owner: Any) -> bool:
    """Whether an object may have attributes that nobody can list."""
    if isinstance(owner, types.ModuleType):
        return "__getattr__" in vars(owner)
    cls = type(owner)
    if isinstance(owner, type):
        return cls is not type
    found = inspect.getattr_static(cls, "__getattr__", None)
    usual = inspect.getattr_static(nn.Module, "__getattr__") if isinstance(owner, nn.Module) else None
    asked = inspect.getattr_static(cls, "__getattribute__")
    return found is not usual or asked is not inspect.getattr_static(object, "__getattribute__")


def _names(owner: Any) -> list[str]:
    """The names of all attributes, also of those that a module hides from `dir` since they are no names in Python."""
    if not isinstance(owner, nn.Module):
        return list(type(owner).__dir__(owner) if isinstance(owner, type | types.ModuleType) else object.__dir__(owner))
    tables = (vars(owner)[table] for table in ("_parameters", "_buffers", "_modules"))
    return list(dict.fromkeys((*object.__dir__(owner), *vars(owner), *itertools.chain(*tables))))


def _position(machine: Running, index: Any, size: int, error: str) -> _Switch | None:
    number = number_of(index, machine, is_place=True)
    if not isinstance(number, HostValue):
        return None
    places = {place: KnownNumber(place) for place in range(size)}
    return _Switch(_wrapped(machine, number, size), places, ("IndexError", error))


def _bound(machine: Running, bound: Any, size: int) -> _Switch | None:
    """A bound of a slice: those beyond the ends mean the ends."""
    number = number_of(bound, machine, is_place=True)
    if not isinstance(number, HostValue):
        return None
    place = torch.clamp(_wrapped(machine, number, size).tensor, 0, size)
    places = {case: KnownNumber(case) for case in range(size + 1)}
    return _Switch(HostValue("int", place, machine.recorder), places)


def _any_key(machine: Running, key: Any, what: str) -> _Switch | None:
    if type(key) is HostArray:
        raise Refused("DY008", f"{what} is an input-dependent number of NumPy", "make it one of Python's, `int(n)`")
    number = key.number() if isinstance(key, HostText) else key
    if not isinstance(number, HostValue):
        return None
    cases = bounds(number, machine.recorder) if number.kind != "float" else None
    if cases is None or len(cases) > MOST_CASES:
        raise Refused(
            "DY008",
            f"{what} is an input-dependent number without a bound that is known while compiling",
            "bound the number where it is used, `n % 4` or `min(max(n, 0), 3)`, or count with a tensor",
        )
    values = {case: bool(case) if number.kind == "bool" else KnownNumber(case) for case in cases}
    if isinstance(key, HostText):
        return _Switch(number.as_kind("int"), {case: key.spelled(value) for case, value in values.items()})
    return _Switch(number.as_kind("int"), values)


_KNOWN: dict[Any, Callable[..., _Switch | None]] = {
    syntax.known_index.__code__: _position,
    syntax.known_bound.__code__: _bound,
    syntax.known_key.__code__: _any_key,
}
