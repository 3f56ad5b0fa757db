"""Take the patterns of a `match` statement apart into tests and assignments."""

import ast
import itertools
import types
from typing import Any

from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.expressions import Expressions
from dycl.rewrite.normalise.instructions import BranchOn, GoTo, Known, Label, Operand, Read, Register, Unsupported


def match_case(emitter: Expressions, pattern: ast.pattern, subject: Operand, fails: Label) -> None:
    """Go on if `subject` matches `pattern`; then, and only then, its names are bound. Else go to `fails`."""
    captures: dict[str, Register] = {}
    _match(emitter, pattern, subject, fails, captures)
    for name, register in captures.items():
        emitter.assign(ast.copy_location(ast.Name(name, ast.Store()), pattern), Read(register))


def _match(
    emitter: Expressions, pattern: ast.pattern, subject: Operand, fails: Label, captures: dict[str, Register]
) -> None:
    match pattern:
        case ast.MatchValue(value=value):
            equal = emitter.call(Known(syntax.COMPARE[ast.Eq]), (subject, emitter.expression(value)), pattern)
            _require(emitter, equal, fails, pattern)
        case ast.MatchSingleton(value=singleton):
            same = emitter.call(Known(syntax.COMPARE[ast.Is]), (subject, Known(singleton)), pattern)
            _require(emitter, same, fails, pattern)
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _match(emitter, inner, subject, fails, captures)
            if name is not None:
                _capture(emitter, name, subject, pattern, captures)
        case ast.MatchOr(patterns=patterns):
            matched = emitter.label()
            for alternative in patterns[:-1]:
                following = emitter.label()
                _match(emitter, alternative, subject, following, captures)
                emitter.emit(GoTo(matched, emitter.span(pattern)))
                emitter.place(following)
            _match(emitter, patterns[-1], subject, fails, captures)
            emitter.place(matched)
        case ast.MatchSequence(patterns=patterns):
            _match_sequence(emitter, pattern, subject, fails, patterns, captures)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            wanted = [emitter.expression(key) for key in keys]
            fits = emitter.call(Known(is_mapping_with), (subject, *wanted), pattern)
            _require(emitter, fits, fails, pattern)
            items = [_there(emitter, Known(value_of), (subject, key), fails, pattern) for key in wanted]
            for item, inner in zip(items, patterns, strict=True):
                _match(emitter, inner, item, fails, captures)
            if rest is not None:
                left = emitter.call(Known(without_keys), (subject, *wanted), pattern)
                _capture(emitter, rest, left, pattern, captures)
        case ast.MatchClass():
            _match_class(emitter, pattern, subject, fails, captures)
        case _:
            reason = f"the pattern `{type(pattern).__name__}` is not supported"
            emitter.emit(Unsupported("DY002", reason, emitter.span(pattern)))


def _match_class(
    emitter: Expressions, pattern: ast.MatchClass, subject: Operand, fails: Label, captures: dict[str, Register]
) -> None:
    kind = emitter.expression(pattern.cls)
    fits = emitter.call(Known(is_instance_of), (subject, kind), pattern)
    _require(emitter, fits, fails, pattern)
    given = (kind, Known(len(pattern.patterns)), *map(Known, pattern.kwd_attrs))
    names = emitter.call(Known(positional_names), given, pattern)
    parts: list[Operand] = [
        emitter.call(Known(syntax.getitem), (names, Known(place)), pattern) for place in range(len(pattern.patterns))
    ]
    parts.extend(map(Known, pattern.kwd_attrs))
    items = [_there(emitter, Known(part), (subject, name), fails, pattern) for name in parts]
    for item, inner in zip(items, (*pattern.patterns, *pattern.kwd_patterns), strict=True):
        _match(emitter, inner, item, fails, captures)


def _capture(
    emitter: Expressions, name: str, source: Operand, pattern: ast.pattern, captures: dict[str, Register]
) -> None:
    if name not in captures:
        captures[name] = emitter.register("capture")
    emitter.move(captures[name], source, pattern)


def _is_wildcard(pattern: ast.pattern) -> bool:
    """Whether a pattern is `_` or `*_`, for which Python looks at nothing."""
    return isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name is None


def _match_sequence(
    emitter: Expressions,
    pattern: ast.pattern,
    subject: Operand,
    fails: Label,
    patterns: list[ast.pattern],
    captures: dict[str, Register],
) -> None:
    star = next((place for place, inner in enumerate(patterns) if isinstance(inner, ast.MatchStar)), None)
    least = len(patterns) - (star is not None)
    test = is_sequence_of if star is None else is_sequence_of_at_least
    _require(emitter, emitter.call(Known(test), (subject, Known(least)), pattern), fails, pattern)
    if all(map(_is_wildcard, patterns)):
        return
    if star is None or not _is_wildcard(patterns[star]):
        # Python unpacks the subject; with `*_` among the patterns it asks for single items.
        most = None if star is not None else least + 1
        subject = emitter.call(Known(gone_through), (subject, Known(most)), pattern)
    for place, inner in enumerate(patterns):
        if isinstance(inner, ast.MatchStar):
            if inner.name is not None:
                behind = len(patterns) - 1 - place
                middle = emitter.call(Known(items_between), (subject, Known(place), Known(behind)), pattern)
                _capture(emitter, inner.name, middle, inner, captures)
            continue
        if _is_wildcard(inner):
            continue
        index: Operand = Known(place)
        if star is not None and place > star:
            index = emitter.call(Known(place_from_end), (subject, Known(len(patterns) - place)), pattern)
        item = emitter.call(Known(syntax.getitem), (subject, index), pattern)
        _match(emitter, inner, item, fails, captures)


MISSING = object()
"""What stands for a key or an attribute that is not there."""

# How Python marks the classes that these patterns match.
_SEQUENCE = 1 << 5
_MAPPING = 1 << 6


def is_sequence_of(subject: Any, length: int) -> bool:
    """Whether a sequence pattern with `length` parts can match."""
    return bool(type(subject).__flags__ & _SEQUENCE) and len(subject) == length


def is_sequence_of_at_least(subject: Any, length: int) -> bool:
    """Whether a sequence pattern with a star beside `length` parts can match."""
    return bool(type(subject).__flags__ & _SEQUENCE) and (not length or len(subject) >= length)


def gone_through(subject: Any, most: int | None) -> Any:
    """What a sequence pattern looks at: the items of a class of one's own in the way that its iterator gives them."""
    cls = type(subject)
    in_python = any(isinstance(getattr(cls, name, None), types.FunctionType) for name in ("__iter__", "__getitem__"))
    if not in_python or cls.__module__.startswith("dycl."):
        return subject
    items = list(itertools.islice(subject, most))
    if most is not None and len(items) != most - 1:
        raise ValueError("the length of a sequence is not the number of its items")
    return items


def place_from_end(subject: Any, count: int) -> int:
    """The index of what stands at this place from the end; a class of the user's own is not asked for negative ones."""
    return -count if isinstance(subject, list | tuple) else len(subject) - count


def items_between(subject: Any, before: int, behind: int) -> list[Any]:
    """What a star in a sequence pattern stands for."""
    return list(subject)[before : len(subject) - behind]


def is_mapping_with(subject: Any, *keys: Any) -> bool:
    """Whether a mapping pattern with these keys can match."""
    if not type(subject).__flags__ & _MAPPING or len(subject) < len(keys):
        return False
    seen: set[Any] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        if type(subject) is dict and key not in subject:
            return False
    return True


def value_of(subject: Any, key: Any) -> Any:
    """What a mapping pattern finds under a key: a class of one's own is asked by its `get`."""
    return subject[key] if type(subject) is dict else subject.get(key, MISSING)


def without_keys(subject: Any, *keys: Any) -> dict[Any, Any]:
    """What `**rest` in a mapping pattern stands for."""
    return {key: value for key, value in subject.items() if key not in keys}


def is_instance_of(subject: Any, cls: Any) -> bool:
    """Whether a class pattern of `cls` can match."""
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    return isinstance(subject, cls)


# A positional part of these, and of classes made from them, is the value itself.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def positional_names(cls: type, count: int, *keywords: str) -> tuple[str | None, ...]:
    """The attributes that the positional parts of a class pattern are matched against; None for the value itself."""
    whole = not hasattr(cls, "__match_args__") and issubclass(cls, _WHOLE)
    names: Any = (None,) if whole else getattr(cls, "__match_args__", ())
    if not isinstance(names, tuple):
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    if count > len(names):
        plural = "" if len(names) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(names)} positional sub-pattern{plural} ({count} given)")
    for name in names[:count]:
        if not whole and not isinstance(name, str):
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    seen: set[str] = set()
    for name in (*filter(None, names[:count]), *keywords):
        if name in seen:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute '{name}'")
        seen.add(name)
    return names[:count]


def part(subject: Any, name: str | None) -> Any:
    """What a part of a class pattern is matched against."""
    if name is None:
        return subject
    try:
        return getattr(subject, name)
    except AttributeError:
        return MISSING


def is_there(item: Any) -> bool:
    """Whether a key or an attribute was found."""
    return item is not MISSING


def _there(
    emitter: Expressions, look: Operand, given: tuple[Operand, ...], fails: Label, pattern: ast.pattern
) -> Operand:
    """What is found, if it is; else the pattern fails."""
    item = emitter.call(look, given, pattern)
    _require(emitter, emitter.call(Known(is_there), (item,), pattern), fails, pattern)
    return item


def _require(emitter: Expressions, holds: Operand, fails: Label, pattern: ast.pattern) -> None:
    going_on = emitter.label()
    emitter.emit(BranchOn(holds, going_on, fails, emitter.span(pattern)))
    emitter.place(going_on)
