"""Take the patterns of a `match` statement apart into tests and assignments."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.expressions import Expressions
from dycl.rewrite.normalise.instructions import BranchOn, GoTo, Known, Label, Operand, Unsupported


def match_pattern(emitter: Expressions, pattern: ast.pattern, subject: Operand, fails: Label) -> None:
    """Go on if `subject` matches `pattern`, binding its names; else go to `fails`."""
    match pattern:
        case ast.MatchValue(value=value):
            equal = emitter.call(Known(syntax.COMPARE[ast.Eq]), (subject, emitter.expression(value)), pattern)
            _require(emitter, equal, fails, pattern)
        case ast.MatchSingleton(value=singleton):
            same = emitter.call(Known(syntax.COMPARE[ast.Is]), (subject, Known(singleton)), pattern)
            _require(emitter, same, fails, pattern)
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                match_pattern(emitter, inner, subject, fails)
            if name is not None:
                emitter.assign(ast.copy_location(ast.Name(name, ast.Store()), pattern), subject)
        case ast.MatchOr(patterns=patterns):
            matched = emitter.label()
            for alternative in patterns[:-1]:
                following = emitter.label()
                match_pattern(emitter, alternative, subject, following)
                emitter.emit(GoTo(matched, emitter.span(pattern)))
                emitter.place(following)
            match_pattern(emitter, patterns[-1], subject, fails)
            emitter.place(matched)
        case ast.MatchSequence(patterns=patterns):
            _match_sequence(emitter, pattern, subject, fails, patterns)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            wanted = [emitter.expression(key) for key in keys]
            fits = emitter.call(Known(is_mapping_with), (subject, *wanted), pattern)
            _require(emitter, fits, fails, pattern)
            for key, inner in zip(wanted, patterns, strict=True):
                item = emitter.call(Known(syntax.getitem), (subject, key), pattern)
                match_pattern(emitter, inner, item, fails)
            if rest is not None:
                left = emitter.call(Known(without_keys), (subject, *wanted), pattern)
                emitter.assign(ast.copy_location(ast.Name(rest, ast.Store()), pattern), left)
        case ast.MatchClass(cls=cls, patterns=positional, kwd_attrs=names, kwd_patterns=patterns):
            kind = emitter.expression(cls)
            fits = emitter.call(Known(isinstance), (subject, kind), pattern)
            _require(emitter, fits, fails, pattern)
            for position, inner in enumerate(positional):
                item = emitter.call(Known(positional_part), (subject, kind, Known(position)), pattern)
                match_pattern(emitter, inner, item, fails)
            for name, inner in zip(names, patterns, strict=True):
                present = emitter.call(Known(hasattr), (subject, Known(name)), pattern)
                _require(emitter, present, fails, pattern)
                item = emitter.call(Known(getattr), (subject, Known(name)), pattern)
                match_pattern(emitter, inner, item, fails)
        case _:
            reason = f"the pattern `{type(pattern).__name__}` is not supported"
            emitter.emit(Unsupported("DY002", reason, emitter.span(pattern)))


def _match_sequence(
    emitter: Expressions, pattern: ast.pattern, subject: Operand, fails: Label, patterns: list[ast.pattern]
) -> None:
    star = next((place for place, inner in enumerate(patterns) if isinstance(inner, ast.MatchStar)), None)
    least = len(patterns) - (star is not None)
    test = is_sequence_of if star is None else is_sequence_of_at_least
    _require(emitter, emitter.call(Known(test), (subject, Known(least)), pattern), fails, pattern)
    for place, inner in enumerate(patterns):
        if isinstance(inner, ast.MatchStar):
            if inner.name is not None:
                behind = len(patterns) - 1 - place
                middle = emitter.call(Known(items_between), (subject, Known(place), Known(behind)), pattern)
                emitter.assign(ast.copy_location(ast.Name(inner.name, ast.Store()), inner), middle)
            continue
        index = place if star is None or place < star else place - len(patterns)
        item = emitter.call(Known(syntax.getitem), (subject, Known(index)), pattern)
        match_pattern(emitter, inner, item, fails)


def is_sequence_of(subject: Any, length: int) -> bool:
    """Whether a sequence pattern with `length` parts can match."""
    return isinstance(subject, Sequence) and not isinstance(subject, str | bytes) and len(subject) == length


def is_sequence_of_at_least(subject: Any, length: int) -> bool:
    """Whether a sequence pattern with a star beside `length` parts can match."""
    return isinstance(subject, Sequence) and not isinstance(subject, str | bytes) and len(subject) >= length


def items_between(subject: Any, before: int, behind: int) -> list[Any]:
    """What a star in a sequence pattern stands for."""
    return list(subject)[before : len(subject) - behind]


def is_mapping_with(subject: Any, *keys: Any) -> bool:
    """Whether a mapping pattern with these keys can match."""
    return isinstance(subject, Mapping) and all(key in subject for key in keys)


def without_keys(subject: Any, *keys: Any) -> dict[Any, Any]:
    """What `**rest` in a mapping pattern stands for."""
    return {key: value for key, value in subject.items() if key not in keys}


# A positional part of these is the value itself.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def positional_part(subject: Any, cls: type, position: int) -> Any:
    """What a class pattern's part at `position` is matched against."""
    if cls in _WHOLE:
        return subject
    names: tuple[str, ...] = getattr(cls, "__match_args__", ())
    if position >= len(names):
        raise TypeError(f"{cls.__name__}() accepts {len(names)} positional sub-patterns ({position + 1} given)")
    return getattr(subject, names[position])


def _require(emitter: Expressions, holds: Operand, fails: Label, pattern: ast.pattern) -> None:
    going_on = emitter.label()
    emitter.emit(BranchOn(holds, going_on, fails, emitter.span(pattern)))
    emitter.place(going_on)
