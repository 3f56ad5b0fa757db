"""Elementwise operations on arrays, and reductions of them; an array may be a view: transposed, sliced, repeated."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvm import tirx

from dycl.runtime.tvm.kernels.expressions import Chain, evaluate, larger, smaller
from dycl.runtime.tvm.kernels.loops import (
    Arrays,
    Expr,
    Register,
    Statement,
    load,
    loop,
    number,
    spread,
    store,
    whole,
)


@dataclass(frozen=True, slots=True)
class View:
    """An array in memory of `size` elements, of which the first one lies at `offset`."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    size: int

    def at(self, place: Sequence[Expr]) -> Expr:
        """Where an element lies."""
        found: Expr = whole(self.offset)
        for index, stride in zip(place, self.strides, strict=True):
            found = found + index * stride
        return found

    @property
    def is_plain(self) -> bool:
        """Whether the elements lie one after the other from the start of the memory."""
        return self.offset == 0 and self.strides == steps_of(self.shape)

    def repeated(self, shape: tuple[int, ...]) -> "View":
        """The array as one of a larger shape, as elementwise operations see it."""
        new = len(shape) - len(self.shape)
        strides = [0] * new + [
            0 if size == 1 else stride for size, stride in zip(self.shape, self.strides, strict=True)
        ]
        return View(self.dtype, shape, tuple(strides), self.offset, self.size)

    def joined(self, splits: Sequence[int]) -> "View":
        """The array with each run of dimensions as one; `splits` are where the runs start."""
        ends = [*splits[1:], len(self.shape)]
        shape = tuple(math.prod(self.shape[start:end]) for start, end in zip(splits, ends, strict=True))
        strides = tuple(self.strides[end - 1] for end in ends)
        return View(self.dtype, shape, strides, self.offset, self.size)


def plain(dtype: str, shape: tuple[int, ...]) -> View:
    """An array whose elements lie in order."""
    return View(dtype, shape, steps_of(shape), 0, math.prod(shape))


def steps_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array in order; 0 along what has one element."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(steps))


def _runs(views: Sequence[View]) -> list[int]:
    """Where dimensions start that are no continuation of the one before in every view."""
    shape = views[0].shape
    starts = [0]
    for place in range(1, len(shape)):
        if any(view.strides[place - 1] != view.strides[place] * shape[place] for view in views):
            starts.append(place)
    return starts


def collapsed(views: Sequence[View]) -> list[View]:
    """Views of one shape with as few dimensions as say the same."""
    kept = [place for place, size in enumerate(views[0].shape) if size != 1]

    def without(view: View) -> View:
        shape, strides = (tuple(told[place] for place in kept) for told in (view.shape, view.strides))
        return View(view.dtype, shape or (1,), strides or (0,), view.offset, view.size)

    found = [without(view) for view in views]
    starts = _runs(found)
    return [view.joined(starts) for view in found]


def nest(sizes: Sequence[int], body: Callable[[tuple[Expr, ...]], list[Statement]]) -> list[Statement]:
    """The statements of `body` for every place."""

    def within(left: Sequence[int], place: tuple[Expr, ...]) -> list[Statement]:
        return loop(left[0], lambda index: within(left[1:], (*place, index))) if left else body(place)

    return within(sizes, ())


def along(length: int, lanes: int, body: Callable[[Expr, int], list[Statement]]) -> list[Statement]:
    """The statements of `body` for vectors along a line, and for the elements left over."""
    vectors, rest = divmod(length, lanes)
    statements = loop(vectors, lambda index: body(index * lanes, lanes)) if vectors else []
    if lanes > 1 and rest:
        statements += loop(rest, lambda index: body(index + vectors * lanes, 1))
    return statements


def across(length: int, lanes: int, body: Callable[[Expr, int], list[Statement]]) -> list[Statement]:
    """The statements of `body` for vectors along a line, and for shorter and shorter ones at its end."""
    vectors, rest = divmod(length, lanes)
    statements = loop(vectors, lambda index: body(index * lanes, lanes)) if vectors else []
    start = vectors * lanes
    while rest:
        shorter = 2 ** (rest.bit_length() - 1)
        statements += body(whole(start), shorter)
        start, rest = start + shorter, rest - shorter
    return statements


def read(buffer: Expr, view: View, place: Sequence[Expr], lanes: int) -> Expr:
    """Elements along the last dimension; a flag as a truth value."""
    if lanes > 1 and view.strides[-1] == 0:
        return spread(load(buffer, view.at(place), 1), lanes)
    found = load(buffer, view.at(place), lanes)
    return tirx.NE(found, tirx.const(0, "uint8")) if view.dtype == "bool" else found


@dataclass(frozen=True, slots=True)
class MappedArray:
    """A chain of elementwise operations on views of one shape."""

    result: View
    chain: Chain
    others: tuple[View, ...]
    lanes: int

    def build(self) -> Expr:
        """The function of the arrays that are read, and the result."""
        arrays = Arrays()
        buffers = [arrays.array(view.dtype, view.size) for view in self.others]
        made = arrays.array(self.result.dtype, self.result.size)
        result, *others = collapsed((self.result, *self.others))
        straight = all(view.strides[-1] == 1 for view in (result,)) and all(
            view.strides[-1] in (0, 1) for view in others
        )
        dtypes = {view.dtype for view in (result, *others)} | {item.dtype for item in self.chain.steps}
        lanes = self.lanes if straight and dtypes == {"float32"} else 1

        def one(place: Sequence[Expr], lanes: int) -> list[Statement]:
            given = [read(buffer, view, place, lanes) for buffer, view in zip(buffers, others, strict=True)]
            statements, value = evaluate(self.chain, given, lanes)
            if result.dtype == "bool":
                value = value.astype("uint8")
            return [*statements, store(made, result.at(place), value, lanes)]

        *outer, length = result.shape
        return arrays.function(
            nest(outer, lambda place: across(length, lanes, lambda index, count: one((*place, index), count)))
        )


@dataclass(frozen=True, slots=True)
class Reduced:
    """A sum, mean or extreme over the last `reduced` dimensions of a view."""

    kind: str
    source: View
    reduced: int
    lanes: int

    def build(self) -> Expr:
        """The function of the source and the result, which is plain."""
        arrays, source, dtype = Arrays(), self.source, self.source.dtype
        given = arrays.array(dtype, source.size)
        kept = source.shape[: len(source.shape) - self.reduced]
        over = source.shape[len(kept) :]
        made = arrays.array(dtype, math.prod(kept))
        result = plain(dtype, kept)
        single = dtype == "float32"
        inward = single and self.reduced > 0 and source.strides[-1] == 1 and over[-1] >= 2 * self.lanes
        outward = single and bool(kept) and source.strides[len(kept) - 1] == 1 and kept[-1] >= self.lanes

        def one(place: tuple[Expr, ...], lanes: int) -> list[Statement]:
            total = Register(dtype, lanes)
            first = tirx.const(0, dtype) if self.kind in ("sum", "mean") else read_first(place, lanes)
            first = spread(first, lanes) if self.kind in ("sum", "mean") else first

            def add(inner: tuple[Expr, ...]) -> list[Statement]:
                return [total.set(self._joined(total.value, load(given, source.at((*place, *inner)), lanes)))]

            statements = [total.declared, total.set(first), *nest(over, add)]
            return [*statements, store(made, result.at(place), self._final(total.value, lanes), lanes)]

        def read_first(place: tuple[Expr, ...], lanes: int) -> Expr:
            return load(given, source.at((*place, *(whole(0) for _ in over))), lanes)

        def by_vectors(place: tuple[Expr, ...]) -> list[Statement]:
            wide, total = Register(dtype, self.lanes), Register(dtype, 1)
            adds = self.kind in ("sum", "mean")
            first = spread(number(0, dtype), self.lanes) if adds else read_first(place, self.lanes)

            def line(inner: tuple[Expr, ...]) -> list[Statement]:
                def add(index: Expr, lanes: int) -> list[Statement]:
                    value = load(given, source.at((*place, *inner, index)), lanes)
                    into = wide if lanes > 1 else total
                    return [into.set(self._joined(into.value, value))]

                return along(over[-1], self.lanes, add)

            scalar = number(0, dtype) if adds else read_first(place, 1)
            statements = [wide.declared, total.declared, wide.set(first), total.set(scalar), *nest(over[:-1], line)]
            statements += [
                total.set(self._joined(total.value, tirx.Shuffle([wide.value], [whole(lane)])))
                for lane in range(self.lanes)
            ]
            return [*statements, store(made, result.at(place), self._final(total.value, 1), 1)]

        if inward:
            return arrays.function(nest(kept, by_vectors))
        if outward:
            *outer, length = kept
            return arrays.function(
                nest(
                    outer,
                    lambda place: along(length, self.lanes, lambda index, lanes: one((*place, index), lanes)),
                )
            )
        return arrays.function(nest(kept, lambda place: one(place, 1)))

    def _joined(self, total: Expr, value: Expr) -> Expr:
        if self.kind in ("sum", "mean"):
            return total + value
        if self.source.dtype not in ("float32", "float64"):
            return tirx.max(total, value) if self.kind == "amax" else tirx.min(total, value)
        return larger(total, value) if self.kind == "amax" else smaller(total, value)

    def _final(self, total: Expr, lanes: int) -> Expr:
        if self.kind != "mean":
            return total
        count = math.prod(self.source.shape[len(self.source.shape) - self.reduced :])
        return total / spread(number(count, self.source.dtype), lanes)
