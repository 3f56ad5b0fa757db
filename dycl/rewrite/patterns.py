"""Take the patterns of a `match` statement apart into tests and assignments."""

import ast
from typing import TYPE_CHECKING, Any

from dycl.rewrite import natives
from dycl.rewrite.instructions import BranchOn, Jump, Label, Literal, Operand, Unsupported

if TYPE_CHECKING:
    from dycl.rewrite.expressions import Expressions


def match_pattern(emitter: "Expressions", pattern: ast.pattern, subject: Operand, fails: Label) -> None:
    """Go on if `subject` matches `pattern`, binding its names; else go to `fails`."""
    match pattern:
        case ast.MatchValue(value=value):
            equal = emitter.call(Literal(natives.COMPARE[ast.Eq]), (subject, emitter.expression(value)), pattern)
            _require(emitter, equal, fails, pattern)
        case ast.MatchSingleton(value=singleton):
            same = emitter.call(Literal(natives.COMPARE[ast.Is]), (subject, Literal(singleton)), pattern)
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
                emitter.emit(Jump(matched, emitter.span(pattern)))
                emitter.place(following)
            match_pattern(emitter, patterns[-1], subject, fails)
            emitter.place(matched)
        case ast.MatchSequence(patterns=patterns) if not any(isinstance(p, ast.MatchStar) for p in patterns):
            fits = emitter.call(Literal(is_sequence_of), (subject, Literal(len(patterns))), pattern)
            _require(emitter, fits, fails, pattern)
            for position, inner in enumerate(patterns):
                item = emitter.call(Literal(natives.getitem), (subject, Literal(position)), pattern)
                match_pattern(emitter, inner, item, fails)
        case ast.MatchClass(cls=cls, patterns=[], kwd_attrs=names, kwd_patterns=patterns):
            fits = emitter.call(Literal(isinstance), (subject, emitter.expression(cls)), pattern)
            _require(emitter, fits, fails, pattern)
            for name, inner in zip(names, patterns, strict=True):
                present = emitter.call(Literal(hasattr), (subject, Literal(name)), pattern)
                _require(emitter, present, fails, pattern)
                item = emitter.call(Literal(getattr), (subject, Literal(name)), pattern)
                match_pattern(emitter, inner, item, fails)
        case _:
            reason = f"the pattern `{type(pattern).__name__}` is not supported"
            emitter.emit(Unsupported("DY002", reason, emitter.span(pattern)))


def is_sequence_of(subject: Any, length: int) -> bool:
    """Whether a sequence pattern with `length` parts can match."""
    return isinstance(subject, list | tuple) and len(subject) == length


def _require(emitter: "Expressions", holds: Operand, fails: Label, pattern: ast.pattern) -> None:
    going_on = emitter.label()
    emitter.emit(BranchOn(holds, going_on, fails, emitter.span(pattern)))
    emitter.place(going_on)
