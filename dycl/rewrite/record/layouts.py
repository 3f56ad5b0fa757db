"""How a tensor's elements lie in memory, as far as it is known: what `stride`, `is_contiguous` and `reshape` go by."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._ops import OpOverload

from dycl.hcfg.types import Dimension


class Order(NamedTuple):
    """Elements that lie close together, with the axes in this order instead of their own."""

    axes: tuple[int, ...]


class Repeated(NamedTuple):
    """Elements of which several may be one: whether they are depends on sizes."""

    name: str = "repeated"


# The strides, None for one that is not known; an order, where sizes are open; or nothing: the elements lie in order.
Layout = tuple[int | None, ...] | Order | Repeated | None


def layout_of(tensor: torch.Tensor) -> Layout:
    """The layout of a tensor, in terms that hold in other blocks too."""
    if is_repeated(tensor):
        return Repeated()
    strides = tensor.stride()
    if all(isinstance(number, int) for number in (*tensor.shape, *strides)):
        return tuple(strides)
    axes = dense_order(tensor)
    if axes is None:
        return tuple(stride if isinstance(stride, int) else None for stride in strides)
    return None if axes == tuple(range(tensor.dim())) else Order(axes)


def dense_order(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """The axes from the outermost to the innermost if there are no gaps between elements."""
    left, order, step = list(range(tensor.dim())), list[int](), 1
    while left:
        found = [axis for axis in left if _expression(tensor.stride(axis)) == step]
        if not found:
            return None
        order.insert(0, found[-1])
        left.remove(found[-1])
        if left:
            step = _at_least_one(_expression(tensor.shape[found[-1]])) * step
    return tuple(order)


@functools.lru_cache(maxsize=4096)
def _at_least_one(size: Any) -> Any:
    if isinstance(size, int):
        return max(1, size)
    from torch.utils._sympy.functions import Max  # Takes long, and only open sizes need it.

    return Max(1, size)  # type: ignore[no-untyped-call]


def _expression(number: Any) -> Any:
    return number if isinstance(number, int) else number.node.expr


def in_order(shape: Sequence[Dimension]) -> tuple[int, ...] | None:
    """The strides of a tensor whose elements lie in order; None if a size is open."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        if not isinstance(size, int):
            return None
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def common(left: Layout, right: Layout, shapes: tuple[Sequence[Dimension], Sequence[Dimension]]) -> Layout:
    """What two tensors of these shapes have in common in how they lie."""
    if left == right:
        return left
    if isinstance(left, Repeated) or isinstance(right, Repeated):
        return Repeated()
    plain = [layout is None or layout == in_order(shape) for layout, shape in zip((left, right), shapes, strict=True)]
    if all(plain):
        return None
    known = [in_order(shape) if layout is None else layout for layout, shape in zip((left, right), shapes, strict=True)]
    if any(layout is None or isinstance(layout, Order) for layout in known):
        return (None,) * len(shapes[0])
    return tuple(one if one == other else None for one, other in zip(*known, strict=True))


_APART = "_no_element_lies_in_another"
_REPEATED = "_elements_may_lie_in_others"
_AS_IF_ALIKE = "_as_if_nothing_were_repeated"


def with_unknown_strides(tensor: torch.Tensor) -> torch.Tensor:
    """Note that an operation has laid a tensor out in a way that is not known, but without gaps."""
    setattr(tensor, _APART, True)
    return tensor


def known_strides(tensor: torch.Tensor) -> Sequence[Any]:
    """The strides, as far as it matters whether several elements are one."""
    if is_repeated(tensor):
        return [0] * tensor.dim()
    return [1] * tensor.dim() if hasattr(tensor, _APART) else tensor.stride()


def repeated(tensor: torch.Tensor) -> torch.Tensor:
    """Note that several elements of a tensor may be one."""
    setattr(tensor, _REPEATED, True)
    return tensor


def widens(func: OpOverload[Any, Any]) -> bool:
    """Whether an operation shows elements several times, without a copy, to make a tensor as large as asked for."""
    return func._schema.name in ("aten::expand", "aten::expand_as", "aten::broadcast_to")


def with_unknown_steps(parent: torch.Tensor, expanded: torch.Tensor, new_size: Callable[[], Any]) -> torch.Tensor:
    """What `expand` gives where it depends on sizes whether it repeats: no step along such an axis is known."""
    first = expanded.dim() - parent.dim()
    steps = list(expanded.stride())
    for axis, size in enumerate(parent.shape, start=first):
        if isinstance(size, torch.SymInt) and _expression(size) != _expression(expanded.shape[axis]):
            steps[axis] = new_size()
    result = repeated(torch.as_strided(expanded, expanded.shape, steps))
    setattr(result, _AS_IF_ALIKE, expanded)
    return result


def as_if_alike(tensor: torch.Tensor) -> torch.Tensor:
    """What `expand` gives if it turns out to repeat nothing."""
    found: torch.Tensor = getattr(tensor, _AS_IF_ALIKE, tensor)
    return found


def is_repeated(tensor: torch.Tensor) -> bool:
    """Whether it is noted that several elements of a tensor may be one."""
    return hasattr(tensor, _REPEATED)


def may_be_repeated(parent: torch.Tensor, shape: Sequence[Any]) -> bool:
    """Whether it depends on sizes if `parent`, made as large as this, has several elements in one place."""
    if is_repeated(parent):
        return True
    beside = zip(parent.shape, shape[len(shape) - parent.dim() :], strict=True)
    return any(isinstance(size, torch.SymInt) and _expression(size) != _expression(wide) for size, wide in beside)
