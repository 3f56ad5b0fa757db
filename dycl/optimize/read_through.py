"""Take a piece of a tensor from where it came into it: from what was written there, or from before the writing.

before                                  after
  g1 = slice_scatter(g, a, 0, 0, 4)
  x = slice(g1, 0, 0, 4)
  y = slice(g1, 0, 4, 8)                  y = slice(g, 0, 4, 8)
  z = mul(x, y)                           z = mul(a, y)

Writing to a part of a tensor in place becomes a new tensor, put together from the old one's parts. PyTorch's own
recurrent cells write their gates so, one after the other; nothing reads the tensors in between once this is done.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dycl.hcfg.module import Module, mapped, operands
from dycl.hcfg.subnet import Argument, Operation, Ref, SubnetGraph
from dycl.optimize.passes import Pass

_SPLITS = frozenset(
    f"aten.{name}"
    for name in (
        "split.Tensor", "split.sizes", "split_with_sizes.default", "chunk.default",
        "unsafe_split.Tensor", "unsafe_split_with_sizes.default", "unsafe_chunk.default",
    )
)  # fmt: skip


def read_through(module: Module) -> Module:
    """The same program, its sub-DNNs reading pieces from where they came."""
    subnets = {name: replace(subnet, graph=_Reader(subnet.graph).graph()) for name, subnet in module.subnets.items()}
    return replace(module, subnets=subnets)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a tensor from `start` to `stop` on one axis."""

    source: Ref
    axis: int
    start: int
    stop: int


class _Reader:
    def __init__(self, graph: SubnetGraph) -> None:
        self._given = graph
        self._written: dict[Ref, tuple[_Piece, Ref]] = {}
        self._known: dict[_Piece, Ref] = {}
        self._stands_for: dict[Ref, Ref] = {}
        self._operations: list[Operation] = []

    def graph(self) -> SubnetGraph:
        """The sub-DNN with other reads; what is then read no more is still there."""
        for operation in self._given.operations:
            renames = not self._stands_for.keys().isdisjoint(operands(operation))
            self._take(mapped(operation, lambda ref: self._stands_for.get(ref, ref)) if renames else operation)
        same = all(map(operator.is_, self._operations, self._given.operations))
        return (
            self._given if same and not self._stands_for else replace(self._given, operations=tuple(self._operations))
        )

    def _take(self, operation: Operation) -> None:
        read = self._pieces(operation)
        origins = [None if piece is None else self._origin(piece) for piece in read]
        if origins == list(read) and not (origins and all(origin in self._known for origin in origins)):
            self._operations.append(operation)
            for ref, piece in zip(operation.outputs, read, strict=True):
                if ref is not None and piece is not None:
                    self._known.setdefault(piece, ref)
            self._note_write(operation)
            return
        for ref, origin in zip(operation.outputs, origins, strict=True):
            assert ref is not None and origin is not None
            self._read(ref, origin, operation)

    def _read(self, ref: Ref, origin: _Piece, operation: Operation) -> None:
        """Let `ref` be the piece `origin`: the tensor that it is, or else a slice of one."""
        whole = (origin.start, origin.stop) == (0, self._size(origin.source, origin.axis))
        same = origin.source if whole else self._known.get(origin)
        type_of = self._given.type_of
        if same is not None and type_of(same) == type_of(ref) and ref not in self._given.outputs:
            self._stands_for[ref] = same
            return
        arguments: dict[str, Argument] = {
            "self": origin.source, "dim": origin.axis, "start": origin.start, "end": origin.stop, "step": 1,
        }  # fmt: skip
        self._operations.append(Operation("aten.slice.Tensor", arguments, (ref,), operation.span))
        self._known.setdefault(origin, ref)

    def _origin(self, piece: _Piece) -> _Piece:
        """The same values, from as far back as they can be had."""
        while piece.source in self._written:
            place, value = self._written[piece.source]
            if place.axis != piece.axis:
                return piece
            if piece.stop <= place.start or piece.start >= place.stop:
                piece = replace(piece, source=place.source)
            elif place.start <= piece.start and piece.stop <= place.stop:
                piece = _Piece(value, piece.axis, piece.start - place.start, piece.stop - place.start)
            else:
                return piece
        return piece

    def _note_write(self, operation: Operation) -> None:
        if operation.target != "aten.slice_scatter.default":
            return
        place, value, result = self._slice(operation), operation.arguments["src"], operation.outputs[0]
        if place is None or not isinstance(value, Ref) or result is None:
            return
        types = [self._given.type_of(ref).dtype for ref in (place.source, value)]
        if types[0] == types[1] and self._size(value, place.axis) == place.stop - place.start:
            self._written[result] = (place, value)

    def _pieces(self, operation: Operation) -> Sequence[_Piece | None]:
        """For each result, which piece of a tensor it is; None if it is none, or of a size unknown."""
        nothing = [None] * len(operation.outputs)
        if operation.target in ("aten.slice.Tensor", "aten.narrow.default"):
            return [self._slice(operation)]
        if operation.target not in _SPLITS:
            return nothing
        source, axis = self._place(operation)
        sizes = [None if ref is None else self._size(ref, axis) for ref in operation.outputs]
        if source is None or self._size(source, axis) is None:
            return nothing
        pieces, start = [], 0
        for size in sizes:
            if size is None:
                return nothing
            pieces.append(_Piece(source, axis, start, start + size))
            start += size
        return pieces

    def _slice(self, operation: Operation) -> _Piece | None:
        source, axis = self._place(operation)
        size = None if source is None else self._size(source, axis)
        if source is None or size is None:
            return None
        arguments = operation.arguments
        start = arguments["start"]
        if operation.target == "aten.narrow.default":
            length = arguments["length"]
            if not isinstance(start, int) or not isinstance(length, int):
                return None
            start %= max(size, 1)
            return _Piece(source, axis, start, start + length)
        end = arguments["end"]
        if arguments["step"] != 1 or not isinstance(start, int | None) or not isinstance(end, int | None):
            return None
        start, end, _ = slice(start, end).indices(size)
        return _Piece(source, axis, start, max(start, end))

    def _place(self, operation: Operation) -> tuple[Ref | None, int]:
        source, axis = operation.arguments["self"], operation.arguments["dim"]
        if not isinstance(source, Ref) or not isinstance(axis, int):
            return None, 0
        return source, axis % max(len(self._given.type_of(source).shape), 1)

    def _size(self, ref: Ref, axis: int) -> int | None:
        size = self._given.type_of(ref).shape[axis]
        return size if isinstance(size, int) else None


READ_THROUGH = Pass(
    "read_through",
    "pieces of tensors are read from where they came, past what was written in place",
    read_through,
)
