"""What a state says of itself: where it is, what it holds, its lists, and the types and names of its leaves."""

from typing import Any

from dycl.hcfg.types import HostType, TensorType, ValueType
from dycl.rewrite.knowledge import Place
from dycl.rewrite.state.skeleton import Skeleton, Tag, is_flat


def things_held(skeleton: Any) -> frozenset[int]:
    """What of the model a state refers to, such as the module that a switch has chosen."""
    found: set[int] = set()
    waiting = [skeleton]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple) and part:
            if part[0] is Tag.PINNED:
                found.add(part[1])
            else:
                waiting.extend(part)
    return frozenset(found)


def program_points(skeleton: Any) -> Any:
    """Where a state is: the functions, positions and iterator positions of its frames."""
    if is_flat(skeleton):
        return ()
    match skeleton:
        case (Tag.FRAME, function, position, _, values, *_):
            return ((function, position), *(point for value in values for point in program_points(value)))
        case (Tag.ITERATOR, _, position, _):
            return ((Tag.ITERATOR, position),)
        case _:
            return tuple(point for part in skeleton for point in program_points(part))


def lists(skeleton: Any) -> dict[Place, list[Skeleton]]:
    """The items of each list at each place of a state."""
    found: dict[Place, list[Skeleton]] = {}

    def visit(part: Any, place: Place) -> None:
        if is_flat(part):
            return
        match part:
            case (Tag.FRAME, function, _, names, values, *rest):
                for name, value in zip(names, values, strict=True):
                    visit(value, (function.code, name))
                visit(rest[2], (function.code, "self"))
            case (Tag.STATE, name, value):
                visit(value, name)
            case (Tag.LIST, _, items, *_):
                found.setdefault(place, []).append(items)
                visit(items, place)
            case _:
                for inner in part:
                    visit(inner, place)

    visit(skeleton, ("?",))
    return found


def leaf_types(skeleton: Any) -> list[tuple[ValueType, tuple[int, ...] | None]]:
    """Type and strides of each leaf of a skeleton, in order."""
    if is_flat(skeleton):
        return []
    match skeleton:
        case (Tag.HOST, kind):
            return [(HostType(kind), None)]
        case (Tag.TENSOR, dtype, shape, strides):
            return [(TensorType(dtype, shape), strides)]
        case _:
            return [leaf for part in skeleton for leaf in leaf_types(part)]


def leaf_names(skeleton: Skeleton, taken: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A name for each leaf of a state, none of them taken: its variable's or attribute's where it has one."""
    found: list[str] = []

    def visit(part: Any, name: str) -> None:
        if is_flat(part):
            return
        if part[0] is Tag.FRAME:
            _, _, _, registers, values, *rest = part
            for register, value in zip(registers, values, strict=True):
                visit(value, register if register.isidentifier() else "value")
            visit(tuple(rest), "value")
        elif part[0] in (Tag.HOST, Tag.TENSOR):
            found.append(name)
        elif part[0] is Tag.STATE:
            visit(part[2], part[1][-1])
        else:
            for item in part:
                visit(item, name)

    visit(skeleton, "value")
    used: dict[str, int] = dict.fromkeys(taken, 1)
    names: list[str] = []
    for name in found:
        candidate = name
        while candidate in used:
            candidate = f"{name}.{used[name]}"
            used[name] += 1
        used[candidate] = 1
        names.append(candidate)
    return tuple(names)
