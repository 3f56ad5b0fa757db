"""What `except*` does with an error: each clause takes a part of it, and what is left or raised meanwhile is raised."""

from collections.abc import Iterator, Sequence
from typing import Any

from dycl.rewrite.normalise import syntax


def split_off(error: BaseException | None, kinds: Any) -> tuple[BaseException | None, BaseException | None]:
    """The part of an error that `except* kinds` takes, and what is left of it."""
    if error is None:
        return None, None
    classes = kinds if isinstance(kinds, tuple) else (kinds,)
    whole = syntax.catches(error, kinds)
    if any(issubclass(kind, BaseExceptionGroup) for kind in classes):
        raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if isinstance(error, BaseExceptionGroup):
        taken, left = (error, None) if whole else error.split(kinds)
        return taken, left
    return (_group((error,)), None) if whole else (None, error)


def raised_again(error: BaseException, raised: list[BaseException], left: BaseException | None) -> BaseException | None:
    """What is raised behind the last clause: errors of the clauses, and those parts of `error` that nobody took."""
    found = raised if left is None else [*raised, left]
    if not isinstance(error, BaseExceptionGroup):
        return found[0] if found else None
    parts = [one for one in found if _is_part(one, error)]
    others = [one for one in found if not _is_part(one, error)]
    numbers = {id(leaf) for part in parts for leaf in _leaves(part)}
    rest = error.subgroup(lambda one: id(one) in numbers) if parts else None
    together = others if rest is None else [*others, rest]
    if not others:
        return rest
    return together[0] if len(together) == 1 else _group(together)


def _group(errors: Sequence[BaseException]) -> BaseException:
    return BaseExceptionGroup("", errors)


def _is_part(one: BaseException, error: BaseException) -> bool:
    """Whether a group was split off another: it has all that such a part takes over."""
    fields = ("__notes__", "__traceback__", "__cause__", "__context__")
    same = all(getattr(one, name, None) is getattr(error, name, None) for name in fields)
    return same and isinstance(one, BaseExceptionGroup)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for part in error.exceptions:
        yield from _leaves(part)
