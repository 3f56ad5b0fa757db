"""Variables of functions: what `locals()` gives, and what those hold that functions share."""

import sys
import types
from typing import Any

from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.state.frames import Frame

_LOCALS = "!locals"
# Until Python 3.12, all calls of `locals()` in a function give the same dict.
_IS_KEPT = sys.version_info < (3, 13)


def asks_for_locals(callee: Any, args: tuple[Any, ...]) -> bool:
    """Whether this is `locals()` or `vars()`."""
    return (callee is locals or callee is vars) and not args


def local_names(machine: Interprets) -> dict[str, Any]:
    """The variables that have a value now, by their names."""
    frame = machine.frames[-1]
    code = frame.function.code
    found: dict[str, Any] = frame.registers.get(_LOCALS, {}) if _IS_KEPT else {}
    for name in dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars)):
        value = frame.registers.get(name, _NOTHING)
        if isinstance(value, types.CellType) and name in frame.function.cells:
            value = value.cell_contents if value != types.CellType() else _NOTHING
        if value is _NOTHING:
            found.pop(name, None)
        else:
            found[name] = machine.number(value)
    if _IS_KEPT:
        frame.registers[_LOCALS] = found
    return found


_NOTHING = object()


def cell_contents(cell: Any, name: str, frame: Frame) -> Any:
    """What a variable that functions share holds, or Python's error if it holds nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        missing = f"variable '{name}' where it is not associated with a value"
        if name in frame.function.code.co_freevars:
            raise NameError(f"cannot access free {missing} in enclosing scope", name=name) from None
        raise UnboundLocalError(f"cannot access local {missing}") from None
