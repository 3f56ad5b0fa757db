"""Texts with numbers in them that only the input determines: keys such as `f"layer{k}"`, and messages."""

import operator
import re
import string
from typing import Any

import torch

from dycl.rewrite.normalise import syntax
from dycl.rewrite.record.host_values import HostValue, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, is_dynamic, number_of
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.tables import GrownList

_PLACEHOLDER = re.compile(r"%[sdi]")
_NEEDED = "the text of a value that only the input determines is needed"


class HostText:
    """A text with input-dependent parts: a key, if its one such part is a whole number, and else a message.

    A part is a text, a whole number with its format, or None for something that only a message can mention.
    """

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def shown(self) -> str:
        """The text as a message shows it."""
        return "".join(part if isinstance(part, str) else "..." for part in self.parts)

    def __getattr__(self, name: str) -> Any:
        if hasattr(str, name):
            raise Refused("DY001", _NEEDED)
        raise AttributeError(f"'str' object has no attribute '{name}'")

    def __str__(self) -> str:
        raise DecisionMet("a text that only the input determines")

    __repr__ = __str__

    def __len__(self) -> int:
        raise DecisionMet("the length of a text that only the input determines")

    def __getitem__(self, index: Any) -> str:
        raise DecisionMet("a part of a text that only the input determines")

    def __format__(self, style: str) -> str:
        raise DecisionMet("the text of a number that only the input determines")

    def __hash__(self) -> int:
        raise DecisionMet("a text that only the input determines is used as a key")

    def __eq__(self, other: object) -> bool:
        raise DecisionMet("a text that only the input determines is compared")

    def _unknown(self, *others: Any) -> Any:
        raise Refused("DY001", _NEEDED)

    __lt__ = __le__ = __gt__ = __ge__ = __mul__ = __rmul__ = __mod__ = __contains__ = __iter__ = _unknown
    __int__ = __float__ = __index__ = _unknown

    def __add__(self, other: Any) -> Any:
        return HostText((*self.parts, *_parts(other))) if isinstance(other, str | HostText) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return HostText((*_parts(other), *self.parts)) if isinstance(other, str) else NotImplemented

    def number(self) -> HostValue:
        """The one number in this text."""
        numbers = [part for part in self.parts if not isinstance(part, str)]
        if len(numbers) != 1 or numbers[0] is None:
            raise Refused("DY001", _NEEDED)
        value: HostValue = numbers[0][0]
        return value

    def meant_by(self, text: Any) -> int | None:
        """The number for which this is exactly `text`; None if there is none."""
        kind = self.number().kind
        place = next(place for place, part in enumerate(self.parts) if not isinstance(part, str))
        before, after = "".join(self.parts[:place]), "".join(self.parts[place + 1 :])
        if not isinstance(text, str) or not text.startswith(before) or len(text) < len(before) + len(after):
            return None
        middle = text[len(before) : len(text) - len(after)]
        if not text.endswith(after):
            return None
        if kind == "bool":
            return {"True": 1, "False": 0}.get(middle)
        try:
            number = int(middle)
        except ValueError:
            return None
        return number if format(number, self.parts[place][1]) == middle else None

    def spelled(self, number: int) -> str:
        """The text for one value of its number."""
        parts = [part if isinstance(part, str) else format(number, part[1]) for part in self.parts]
        return "".join(parts)

    def equals(self, text: Any, machine: Running) -> bool | HostValue:
        """Whether this is exactly `text`."""
        if isinstance(text, HostText):
            return self._equals_like(text, machine)
        number = self.meant_by(text)
        return False if number is None else lift(self.number() == number, "bool", machine.recorder)

    def _equals_like(self, other: "HostText", machine: Running) -> bool | HostValue:
        """Whether two texts are the same in which a number stands in the same place."""
        if other is self:
            return True
        left, right = self.number(), other.number()
        around = [[part if isinstance(part, str) else part[1:] for part in text.parts] for text in (self, other)]
        if left.kind != right.kind or around[0] != around[1]:
            raise Refused("DY001", _NEEDED)
        return lift(left == right, "bool", machine.recorder)


def _parts(text: str | HostText) -> tuple[Any, ...]:
    return text.parts if isinstance(text, HostText) else (text,)


def _number_part(value: Any, style: str, machine: Running) -> Any:
    alone = isinstance(value, torch.Tensor) and value.dim() == 0
    number = number_of(value, machine) if isinstance(value, HostValue) or alone else None
    if not isinstance(number, HostValue) or number.kind == "float":
        return None
    known = _WHOLE.fullmatch(style) if number.kind == "int" else style == ""
    return (number, style) if known else None


_WHOLE = re.compile(r"[<>^]?[+\- ]?0?\d*_?d?")
"""How a whole number is written so that its text tells which one it is."""


def formatted(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`{value!r:style}` inside an f-string."""
    value, conversion, style = args
    plain = conversion in (-1, ord("s")) and style == ""
    if isinstance(value, HostText):
        return value if plain else HostText((None,))
    if isinstance(value, BaseException) and (message := _message(value)) is not None:
        return message if plain else HostText((None,))
    if _holds_dynamic(value, machine):
        return HostText((None,))
    if not is_dynamic(value, machine):
        return NOT_HANDLED
    return HostText((_number_part(value, style, machine) if isinstance(style, str) else None,))


def joined(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An f-string of its parts."""
    if not any(isinstance(part, HostText) for part in args):
        return NOT_HANDLED
    return HostText(tuple(piece for part in args for piece in _parts(part)))


def text(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`str(value)` or `format(value, style)`."""
    if args and isinstance(args[0], HostText):
        return args[0]
    if args and isinstance(args[0], BaseException) and (message := _message(args[0])) is not None:
        return message
    if args and _holds_dynamic(args[0], machine):
        return HostText((None,))
    if not args or not is_dynamic(args[0], machine):
        return NOT_HANDLED
    return HostText((None if isinstance(args[0], torch.Tensor) else _number_part(args[0], (*args, "")[1], machine),))


def representation(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`repr(value)`, which for numbers is what `str` gives, and for texts and errors something with quotes."""
    quoted = isinstance(args[0], HostText) or (isinstance(args[0], BaseException) and _message(args[0]) is not None)
    return HostText((None,)) if quoted else text(machine, args, kwargs)


def _message(error: BaseException) -> HostText | None:
    """The text of an error, where only the input determines it."""
    if not any(isinstance(part, HostText) for part in error.args) or type(error).__str__ not in _USUAL:
        return None
    only = error.args[0] if len(error.args) == 1 and not isinstance(error, KeyError) else None
    return only if isinstance(only, HostText) else HostText((None,))


_USUAL = (BaseException.__str__, KeyError.__str__)


def message_of(error: BaseException) -> str:
    """What a program says that fails with this error."""
    # A key error's text is its key as Python writes it, quotes included.
    only = error.args[0] if len(error.args) == 1 else None
    if isinstance(only, HostText):
        return only.shown()
    if isinstance(error, KeyError) and isinstance(only, str):
        return only
    met = DecisionMet.met
    try:
        return str(error)
    except DecisionMet:
        DecisionMet.met = met
        return " ".join(part.shown() if isinstance(part, HostText) else "..." for part in error.args)


def _holds_dynamic(value: Any, machine: Running) -> bool:
    """Whether this is a container that holds something that only the input determines."""
    waiting, seen = [value], set()
    while waiting:
        part = waiting.pop()
        if type(part) is GrownList:
            return True
        if not isinstance(part, list | tuple | dict) or id(part) in seen:
            continue
        seen.add(id(part))
        items = [*part, *part.values()] if isinstance(part, dict) else part
        if any(is_dynamic(item, machine) or isinstance(item, HostText) for item in items):
            return True
        waiting.extend(items)
    return False


def format_method(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`"layer{}".format(number)`."""
    pattern, *given_in_order = args
    args = tuple(given_in_order)
    given = (*args, *kwargs.values())
    if not any(is_dynamic(value, machine) or isinstance(value, HostText) for value in given):
        return NOT_HANDLED
    parts: list[Any] = []
    places = iter(args)
    for literal, field, style, conversion in string.Formatter().parse(pattern):
        parts.append(literal)
        if field is None:
            continue
        simple = not style and conversion is None and (field == "" or field in kwargs)
        value = (kwargs[field] if field else next(places)) if simple else None
        if isinstance(value, HostText):
            parts.extend(value.parts)
        elif simple and not is_dynamic(value, machine):
            parts.append(str(value))
        else:
            parts.append(_number_part(value, "", machine) if simple else None)
    return HostText(tuple(parts))


def join_method(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`"_".join(items)`."""
    separator, items = args
    if not isinstance(items, list | tuple) or not any(isinstance(item, HostText) for item in items):
        return NOT_HANDLED
    parts: list[Any] = []
    for number, item in enumerate(items):
        parts.extend((*((separator,) if number else ()), *_parts(item)))
    return HostText(tuple(parts))


def percent(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`"layer%d" % number`."""
    pattern, values = args
    if type(pattern) is not str:
        return NOT_HANDLED
    given = values if isinstance(values, tuple) else (values,)
    if not any(is_dynamic(value, machine) or isinstance(value, HostText) for value in given):
        return NOT_HANDLED
    texts = _PLACEHOLDER.split(pattern)
    if len(texts) != len(given) + 1 or any("%" in piece for piece in texts):
        return HostText((None,))
    parts: list[Any] = [texts[0]]
    for value, following in zip(given, texts[1:], strict=True):
        if isinstance(value, HostText):
            parts.extend(value.parts)
        elif is_dynamic(value, machine):
            is_whole = isinstance(value, HostValue) and value.kind == "int"
            parts.append(_number_part(value, "", machine) if is_whole else None)
        else:
            parts.append(str(value))
        parts.append(following)
    return HostText(tuple(parts))


def equal(wanted: bool) -> Any:
    """`text == other` and `text != other`."""

    def compare(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        left, right = args if isinstance(args[0], HostText) else reversed(args)
        if not isinstance(left, HostText):
            return NOT_HANDLED
        same = left.equals(right, machine)
        if isinstance(same, HostValue):
            return same if wanted else HostValue("bool", torch.logical_not(same.tensor), machine.recorder)
        return same is wanted

    return compare


def part(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`text[start:stop]`, for a message."""
    text, index = args
    is_slice = isinstance(index, slice) and all(
        bound is None or isinstance(bound, int | HostValue) for bound in (index.start, index.stop)
    )
    return HostText((None,)) if isinstance(text, HostText) and is_slice and index.step is None else NOT_HANDLED


HANDLERS: dict[Any, Handler] = {
    operator.getitem: part,
    operator.mod: percent,
    operator.imod: percent,
    operator.eq: equal(True),
    operator.ne: equal(False),
    syntax.formatted: formatted,
    syntax.join: joined,
    str: text,
    repr: representation,
    format: text,
}
