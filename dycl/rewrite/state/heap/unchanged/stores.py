"""Which attributes a function sets, told from its code."""

import dis
import functools
import types
from typing import Any

from dycl.rewrite.state.heap.reach import NAMESPACES

_SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
_STORES = {dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]}


@functools.cache
def stored_by(code: types.CodeType) -> frozenset[str]:
    """The names of the attributes that a function and those inside of it may set or delete."""
    found: set[str] = set()
    bytecode = code.co_code
    for place in range(0, len(bytecode), 2):
        if bytecode[place] in _STORES:
            wide = place and bytecode[place - 2] == dis.EXTENDED_ARG
            found.update(code.co_names if wide else [code.co_names[bytecode[place + 1]]])
    by_text = not _SETTERS.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= stored_by(constant)
        elif by_text and isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
    return frozenset(found)


@functools.cache
def sets_attributes_of_others(code: types.CodeType) -> bool:
    """Whether a function, or one inside of it, sets attributes of something else than the object whose method it is."""
    if not NAMESPACES.isdisjoint(code.co_names):
        return True
    home = code.co_qualname.rpartition(".")[0]
    own = code.co_varnames[:1] if home and not home.endswith("<locals>") else ()
    loaded: tuple[Any, ...] | None = None
    for instruction in dis.get_instructions(code):
        if instruction.opcode in _STORES and (not own or loaded != own):
            return True
        loaded = (instruction.argval,) if instruction.opname == "LOAD_FAST" else None
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return any(map(sets_attributes_of_others, inner))


@functools.cache
def names_of(code: types.CodeType) -> frozenset[str]:
    """The names in a function and in those inside of it."""
    inner = (names_of(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(code.co_names).union(*inner)
