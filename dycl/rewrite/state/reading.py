"""What a state says of itself: where it is, what it holds, its lists, and the types and names of its leaves."""

from dycl.hcfg.types import HostType, TensorType, ValueType
from dycl.rewrite.knowledge import Place
from dycl.rewrite.record.layouts import Layout
from dycl.rewrite.state.skeleton import (
    FrameNode,
    HostNode,
    IteratorNode,
    ListNode,
    PinnedNode,
    Skeleton,
    TensorNode,
)
from dycl.rewrite.state.whole_state import AttributeNode, ContainerNode, StateNode, has_parts, parts_of


def things_held(state: StateNode) -> frozenset[int]:
    """What of the model a state refers to, such as the module that a switch has chosen."""
    found: set[int] = set()
    waiting: list[object] = [state]
    while waiting:
        part = waiting.pop()
        if type(part) is PinnedNode:
            found.add(part.key)
        elif has_parts(part):
            waiting.extend(parts_of(part))
    return frozenset(found)


def program_points(part: object) -> tuple[tuple[object, int], ...]:
    """Where a state is: the functions, positions and iterator positions of its frames."""
    if not has_parts(part):
        return ()
    match part:
        case FrameNode(function=function, position=position, values=values):
            return ((function, position), *(point for value in values for point in program_points(value)))
        case IteratorNode(position=position):
            return ((IteratorNode, position),)
        case _:
            return tuple(point for inner in parts_of(part) for point in program_points(inner))


def lists(state: StateNode) -> dict[Place, list[tuple[Skeleton, ...]]]:
    """The items of each list at each place of a state."""
    found: dict[Place, list[tuple[Skeleton, ...]]] = {}

    def visit(part: object, place: Place) -> None:
        if not has_parts(part):
            return
        match part:
            case FrameNode(function=function, names=names, values=values, constructed=constructed):
                for name, value in zip(names, values, strict=True):
                    visit(value, (function.code, name))
                visit(constructed, (function.code, "self"))
            case AttributeNode(place=held_at, value=held) | ContainerNode(place=held_at, values=held):
                visit(held, held_at)
            case ListNode(items=items):
                found.setdefault(place, []).append(items)
                visit(items, place)
            case _:
                for inner in parts_of(part):
                    visit(inner, place)

    visit(state, ("?",))
    return found


def leaf_types(part: object) -> list[tuple[ValueType, Layout]]:
    """Type and layout of each leaf of a state, in order."""
    if not has_parts(part):
        return []
    match part:
        case HostNode(kind):
            return [(HostType(kind), None)]
        case TensorNode(dtype, shape, layout):
            return [(TensorType(dtype, shape), layout)]
        case _:
            return [leaf for inner in parts_of(part) for leaf in leaf_types(inner)]


def leaf_names(state: StateNode, taken: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A name for each leaf of a state, none of them taken: its variable's or attribute's where it has one."""
    found: list[str] = []

    def visit(part: object, name: str) -> None:
        if not has_parts(part):
            return
        match part:
            case FrameNode(names=registers, values=values, constructed=constructed):
                for register, value in zip(registers, values, strict=True):
                    visit(value, register if register.isidentifier() else "value")
                visit(constructed, "value")
            case HostNode() | TensorNode():
                found.append(name)
            case AttributeNode(place=place, value=held) | ContainerNode(place=place, values=held):
                visit(held, place[-1])
            case _:
                for inner in parts_of(part):
                    visit(inner, name)

    visit(state, "value")
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
