"""The steps of making a class that run natively, for those who must step into what runs between them."""

import builtins
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def prepared(name: str, bases: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any], Any]:
    """What makes a class, the mapping for its names, what else it is made with, and its bases."""
    resolved = types.resolve_bases(bases)
    kind, names, rest = types.prepare_class(name, resolved, options)
    return kind, names, rest, resolved


def body_run(body: Any, name: str, names: Any, bases: tuple[Any, ...], resolved: tuple[Any, ...]) -> Any:
    """The names of a class, after its body has run."""

    def collect(*made_of: Any) -> Any:
        return names

    collect.__prepare__ = lambda *made_of: names  # type: ignore[attr-defined]
    builtins.__build_class__(body, name, metaclass=collect)
    if resolved is not bases:
        names["__orig_bases__"] = bases
    return names


def bare_class(kind: type, name: str, bases: tuple[Any, ...], names: Any) -> Any:
    """`type.__new__(kind, name, bases, names)`, which tells nobody."""
    own = dict(names)
    told = {key for key, value in own.items() if hasattr(type(value), "__set_name__")}
    with untold(bases):
        made: Any = type.__new__(kind, name, bases, {key: None if key in told else own[key] for key in own})
    for key in told:
        type.__setattr__(made, key, own[key])
    return made


@contextmanager
def untold(bases: tuple[Any, ...]) -> Iterator[None]:
    """Let classes not be told of the subclass that is made of them."""
    ancestors = [cls for base in bases if isinstance(base, type) for cls in base.__mro__]
    telling = [cls for cls in ancestors if cls is not object and "__init_subclass__" in vars(cls)]
    before = [(cls, vars(cls)["__init_subclass__"]) for cls in telling if not cls.__flags__ & _IS_FIXED]
    for cls, _ in before:
        type.__setattr__(cls, "__init_subclass__", classmethod(lambda cls, **options: None))
    try:
        yield
    finally:
        for cls, own in before:
            type.__setattr__(cls, "__init_subclass__", own)


_IS_FIXED = 1 << 8


def cell_in(names: Any) -> types.CellType | None:
    """The cell of `__class__`, if the methods of a class use it."""
    return names.get("__classcell__") if isinstance(names, dict) else None


def require_filled(cell: types.CellType | None, name: str, made: Any) -> None:
    """Let a class whose `__class__` was not passed on be Python's error."""
    if cell is None or not isinstance(made, type):
        return
    try:
        found = cell.cell_contents
    except ValueError:
        message = f"__class__ not set defining {name!r} as {made!r}. Was __classcell__ propagated to type.__new__?"
        raise RuntimeError(message) from None
    if found is not made:
        raise TypeError(f"__class__ set to {found!r} defining {name!r} as {made!r}")


ADDS_NOTES = sys.version_info >= (3, 12)
"""Whether Python lets an error of `__set_name__` be what it is."""


def names_to_tell(names: Any) -> list[tuple[str, Any]]:
    """What stands in a class and is told its name there."""
    return [(key, value) for key, value in dict(names).items() if hasattr(type(value), "__set_name__")]


def noted(cls: Any) -> Any:
    """A class that the program has made."""
    return cls
