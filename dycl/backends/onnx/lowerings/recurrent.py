"""Lowerings of recurrent layers: whole stacks of them, one ONNX operator a layer."""

from collections.abc import Sequence
from dataclasses import dataclass

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import (
    concat,
    filled,
    gather,
    reshape,
    slice_axis,
    transpose,
    unless_empty,
    unsqueeze,
)
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Value


@dataclass(frozen=True, slots=True)
class Cell:
    """How ONNX has a kind of cell: its operator, and where each of its gates is among PyTorch's."""

    operator: str
    gates: tuple[int, ...]
    activation: str = ""

    @property
    def count(self) -> int:
        """How many gates the cell has."""
        return len(self.gates)


# PyTorch: input, forget, cell, output. ONNX: input, output, forget, cell.
_LSTM = Cell("LSTM", (0, 3, 1, 2))
# PyTorch: reset, update, new. ONNX: update, reset, hidden.
_GRU = Cell("GRU", (1, 0, 2))
_CELLS = {
    "aten.lstm.input": _LSTM,
    "aten.gru.input": _GRU,
    "aten.rnn_tanh.input": Cell("RNN", (0,), "Tanh"),
    "aten.rnn_relu.input": Cell("RNN", (0,), "Relu"),
}


@lowers(*_CELLS)
def recurrent(b: Builder, a: Arguments) -> list[Value]:
    cell = _CELLS[a.target]
    if a.flag("train") and a.real("dropout") != 0:
        b.refuse("dropout between the layers is active: the model is in training mode")
    x = a.tensor("input")
    states = a.tensors("hx")
    if x.rank != 3:
        b.refuse("the input has no batch axis")
    if a.flag("batch_first"):
        x = transpose(b, x, [1, 0, 2])
    directions = 2 if a.flag("bidirectional") else 1
    layers = a.integer("num_layers")
    parameters = a.tensors("params")
    per_direction = len(parameters) // (layers * directions)
    if per_direction != (4 if a.flag("has_biases") else 2):
        b.refuse("the hidden state is projected")
    ends: list[list[Value]] = [[] for _ in states]
    for layer in range(layers):
        first = layer * directions
        chosen = [
            parameters[(first + way) * per_direction : (first + way + 1) * per_direction] for way in range(directions)
        ]
        start = [state if layers == 1 else slice_axis(b, state, 0, first, first + directions) for state in states]
        x, finals = _layer(b, cell, x, start, chosen)
        for end, final in zip(ends, finals, strict=True):
            end.append(final)
    if a.flag("batch_first"):
        x = transpose(b, x, [1, 0, 2])
    return [x, *(concat(b, end, 0) for end in ends)]


def _layer(
    b: Builder, cell: Cell, x: Value, states: Sequence[Value], parameters: Sequence[Sequence[Value]]
) -> tuple[Value, list[Value]]:
    """One layer's outputs and final states; inputs and outputs are (time, batch, features)."""
    ways = len(parameters)
    hidden = states[0].shape[2]
    if not isinstance(hidden, int):
        b.refuse("the hidden size is only known at run time")
    weights, recurrences, biases = (
        concat(b, [unsqueeze(b, piece(b, cell, way, hidden), [0]) for way in parameters], 0)
        for piece in (_weight, _recurrence, _bias)
    )
    batch = x.shape[1]
    types = [
        (x.dtype, (x.shape[0], ways, batch, hidden)),
        *((x.dtype, (ways, batch, hidden)) for _ in states),
    ]
    attributes: dict[str, int | str | list[str]] = {"hidden_size": hidden}
    if ways == 2:
        attributes["direction"] = "bidirectional"
    if cell.activation:
        attributes["activations"] = [cell.activation] * ways
    if cell.operator == "GRU":
        attributes["linear_before_reset"] = 1

    def usual() -> list[Value]:
        inputs = [x, weights, recurrences, biases, None, *states]
        return list(b.outputs(cell.operator, inputs, types, **attributes))

    def nothing() -> list[Value]:
        # Without a first step this fails, as it must; without a batch there is nothing to compute.
        first = gather(b, x, b.constant(0), 0)
        return [filled(b, 0, x.dtype, [b.size_of(x, 0), ways, b.size_of(first, 0), hidden]), *states]

    outputs, *finals = unless_empty(b, [x], usual, nothing)
    merged = transpose(b, outputs, [0, 2, 1, 3])
    return reshape(b, merged, [b.size_of(x, 0), b.size_of(x, 1), ways * hidden]), list(finals)


def _gates(b: Builder, cell: Cell, value: Value, hidden: int) -> Value:
    """The rows of a parameter with its gates in ONNX's order."""
    if cell.count == 1:
        return value
    return concat(b, [slice_axis(b, value, 0, gate * hidden, (gate + 1) * hidden) for gate in cell.gates], 0)


def _weight(b: Builder, cell: Cell, parameters: Sequence[Value], hidden: int) -> Value:
    return _gates(b, cell, parameters[0], hidden)


def _recurrence(b: Builder, cell: Cell, parameters: Sequence[Value], hidden: int) -> Value:
    return _gates(b, cell, parameters[1], hidden)


def _bias(b: Builder, cell: Cell, parameters: Sequence[Value], hidden: int) -> Value:
    if len(parameters) == 2:
        return filled(b, 0, parameters[0].dtype, [2 * cell.count * hidden])
    return concat(b, [_gates(b, cell, bias, hidden) for bias in parameters[2:]], 0)
