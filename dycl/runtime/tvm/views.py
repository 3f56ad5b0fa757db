"""Other views of an array in memory: permuted, sliced, repeated."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from dycl.runtime.tvm.code import Step
from dycl.runtime.tvm.kernels.arrays import View


def viewed(view: View, step: Step) -> View:
    """What a step makes of a view."""
    a = step.attributes
    match step.kind:
        case "permute":
            return permuted(view, a["axes"])
        case "slice":
            return sliced(view, a["axis"], a["start"], a["count"], a["step"])
        case _:
            return view.repeated(tuple(a["shape"]))


def permuted(view: View, axes: Sequence[int]) -> View:
    """The dimensions in another order."""
    shape, strides = (tuple(told[axis] for axis in axes) for told in (view.shape, view.strides))
    return replace(view, shape=shape, strides=strides)


def sliced(view: View, axis: int, start: int, count: int, step: int) -> View:
    """Some of what lies along a dimension."""
    shape, strides = list(view.shape), list(view.strides)
    offset = view.offset + start * strides[axis]
    shape[axis] = count
    strides[axis] = strides[axis] * step if count > 1 else 0
    return replace(view, shape=tuple(shape), strides=tuple(strides), offset=offset)


def in_three(view: View, shape: tuple[int, int, int]) -> View | None:
    """A view as matrices, a batch of them; None if its dimensions do not go together so."""
    batch = shape[0]
    if not view.shape:
        return None
    middle = view.shape[1:-1] if batch > 1 else view.shape[:-1]
    outer = view.strides[0] if batch > 1 else 0
    kept = [
        (size, stride) for size, stride in zip(middle, view.strides[-1 - len(middle) : -1], strict=True) if size > 1
    ]
    for (_, stride), (size, inner) in pairwise(kept):
        if stride != size * inner:
            return None
    step = kept[-1][1] if kept else 0
    return replace(view, shape=shape, strides=(outer, step, view.strides[-1]))
