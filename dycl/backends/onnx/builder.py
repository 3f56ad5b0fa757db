"""Make the nodes, names and constants of one ONNX graph.

A lowering asks for an operator; the builder names its outputs, tracks their types, and computes in a wider element
type where ONNX Runtime has no kernel for the one at hand.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import helper, numpy_helper

from dycl.backends.errors import Untranslatable
from dycl.backends.onnx.kernels import KERNELS, PREDICATES, carrier
from dycl.backends.onnx.values import (
    UNKNOWN,
    Number,
    Size,
    Value,
    broadcast,
    is_float,
    is_integer,
    static_shape,
)
from dycl.hcfg.types import Dimension, DType, Span, TensorType

ONNX_TYPES: dict[DType, int] = {
    "bool": onnx.TensorProto.BOOL,
    "uint8": onnx.TensorProto.UINT8,
    "int8": onnx.TensorProto.INT8,
    "int16": onnx.TensorProto.INT16,
    "int32": onnx.TensorProto.INT32,
    "int64": onnx.TensorProto.INT64,
    "float16": onnx.TensorProto.FLOAT16,
    "bfloat16": onnx.TensorProto.BFLOAT16,
    "float32": onnx.TensorProto.FLOAT,
    "float64": onnx.TensorProto.DOUBLE,
}

Attribute = int | float | str | Sequence[int] | Sequence[float] | Sequence[str] | onnx.TensorProto | onnx.GraphProto
Array = np.ndarray[Any, np.dtype[Any]]


class Builder:
    """Collects the nodes and constants of one graph, in order."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._constants: dict[tuple[DType, tuple[int, ...], bytes], Value] = {}
        self._cast: set[str] = set()
        self._known: dict[str, Array] = {}
        self._names = 0
        self._target = ""
        self._span = Span("", 0, 0, 0, 0, "")

    def enter(self, target: str, span: Span) -> None:
        """From now on, name nodes after `target` and let refusals point at `span`."""
        self._target, self._span = target, span

    def refuse(self, reason: str) -> NoReturn:
        """Say that the operation at hand has no translation."""
        raise Untranslatable(f"`{self._target}`: {reason}", self._span)

    # Nodes.

    def node(
        self,
        operator: str,
        *inputs: Value | None,
        dtype: DType | None = None,
        shape: tuple[Dimension, ...] | None = None,
        **attributes: Attribute,
    ) -> Value:
        """One operator's result; by default of its operands' element type and broadcast shape."""
        given = [value for value in inputs if value is not None]
        kernel = KERNELS.get(operator)
        typed = [v for i, v in enumerate(inputs) if v is not None and (kernel is None or kernel.carried(i))]
        if dtype is None:
            dtype = "bool" if operator in PREDICATES else typed[0].dtype
        if shape is None:
            shape = broadcast(value.shape for value in given)
        if operator in _COMPARING and dtype == "int64" and any(value.shape.count(1) < value.rank for value in given):
            return self._by_comparing(operator, *inputs)
        return self.outputs(operator, inputs, [(dtype, shape)], **attributes)[0]

    def _by_comparing(self, operator: str, x: Value | None, *bounds: Value | None) -> Value:
        """What an operator of `_COMPARING` gives, by kernels that compare right."""
        assert x is not None
        if operator == "Sign":
            zero = self.constant(0)
            above, below = (self.cast(self.node(sign, x, zero), "int64") for sign in ("Greater", "Less"))
            return self.node("Sub", above, below)
        signs = ("Greater", "Less") if operator == "Clip" else ("Greater" if operator == "Max" else "Less",)
        for sign, bound in zip(signs, bounds, strict=True):
            if bound is not None:
                x = self.node("Where", self.node(sign, x, bound), x, bound)
        return x

    def outputs(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        types: Sequence[tuple[DType, tuple[Dimension, ...]] | None],
        **attributes: Attribute,
    ) -> tuple[Value, ...]:
        """The results of one operator with several; None leaves an optional result out (as does the end)."""
        operands = list(inputs)
        while operands and operands[-1] is None:
            # ONNX Runtime crashes on some operators whose last input is given as missing.
            operands.pop()
        carried = self._carried(operator, operands)
        emitted = list(types)
        if carried is not None:
            kernel = KERNELS[operator]
            original, wider = carried
            operands = [
                self.cast(value, wider) if value is not None and kernel.carried(position) else value
                for position, value in enumerate(operands)
            ]
            emitted = [(wider, item[1]) if item is not None and item[0] == original else item for item in types]
        results = [None if item is None else Value(self._name(), item[0], item[1]) for item in emitted]
        node = onnx.NodeProto(
            op_type=operator,
            input=["" if value is None else value.name for value in operands],
            output=["" if value is None else value.name for value in results],
            name=f"{self._target.split('.')[1] if '.' in self._target else operator}_{self._names}",
            attribute=[_attribute(name, attributes[name]) for name in sorted(attributes)],
        )
        self.nodes.append(node)
        return tuple(
            self.cast(value, item[0])
            for value, item in zip(results, types, strict=True)
            if value is not None and item is not None
        )

    def _carried(self, operator: str, inputs: Sequence[Value | None]) -> tuple[DType, DType] | None:
        kernel = KERNELS.get(operator)
        if kernel is None:
            return None
        dtypes = [value.dtype for i, value in enumerate(inputs) if value is not None and kernel.carried(i)]
        if len(set(dtypes)) != 1:
            self.refuse(f"operands of different element types, {' and '.join(sorted(set(dtypes)))}")
        wider = carrier(operator, dtypes[0])
        if wider is None:
            self.refuse(f"ONNX Runtime has no {operator} for {dtypes[0]}")
        return None if wider == dtypes[0] else (dtypes[0], wider)

    def scan(
        self,
        states: Sequence[Value],
        scanned: Sequence[Value],
        axis: int,
        step: Callable[[list[Value], list[Value]], tuple[list[Value], list[Value]]],
    ) -> tuple[Value, ...]:
        """The last states, then each step's results stacked along `axis`, of one step a slice of `scanned`."""
        outer = self.nodes
        self.nodes = []
        before = [Value(self._name(), value.dtype, value.shape) for value in states]
        slices = [Value(self._name(), value.dtype, value.shape[:axis] + value.shape[axis + 1 :]) for value in scanned]
        after, results = step(before, slices)
        after = [self.node("Identity", value) for value in after]
        results = [self.node("Identity", value) for value in results]
        body = helper.make_graph(
            self.nodes,
            f"step_{self._names}",
            [value_info(value) for value in (*before, *slices)],
            [value_info(value) for value in (*after, *results)],
        )
        self.nodes = outer
        length = scanned[0].shape[axis]
        stacked = [(value.dtype, value.shape[:axis] + (length,) + value.shape[axis:]) for value in results]
        axes: dict[str, Sequence[int]] = {"scan_input_axes": [axis] * len(scanned)}
        if results:
            axes["scan_output_axes"] = [axis] * len(results)
        types = [*((value.dtype, value.shape) for value in states), *stacked]
        return self.outputs("Scan", [*states, *scanned], types, body=body, num_scan_inputs=len(scanned), **axes)

    def choose(
        self, condition: Value, then: Callable[[], Sequence[Value]], orelse: Callable[[], Sequence[Value]]
    ) -> list[Value]:
        """The results of `then` if the condition holds, else those of `orelse`: only one of the two is computed."""
        first, _ = self._branch("then", then)
        second, results = self._branch("else", orelse)
        types = [(value.dtype, value.shape) for value in results]
        return list(self.outputs("If", [condition], types, then_branch=first, else_branch=second))

    def _branch(self, name: str, compute: Callable[[], Sequence[Value]]) -> tuple[onnx.GraphProto, list[Value]]:
        outer, self.nodes = self.nodes, []
        computed = list(compute())
        inside = {name for node in self.nodes for name in node.output}
        # A graph can only give what it computes itself.
        results = [value if value.name in inside else self.node("Identity", value) for value in computed]
        nodes, self.nodes = self.nodes, outer
        return helper.make_graph(nodes, name, [], [value_info(value) for value in results]), results

    def _name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    # Constants and numbers.

    def constant(self, content: ArrayLike, dtype: DType = "int64") -> Value:
        """A constant tensor; equal constants are stored once."""
        array: Array = np.array(content).astype(numpy_type(dtype), order="C")
        key = (dtype, array.shape, array.tobytes())
        if key not in self._constants:
            value = Value(f"c{len(self._constants)}", dtype, array.shape)
            self.initializers.append(numpy_helper.from_array(array, value.name))
            self._constants[key] = value
            self._known[value.name] = array
        return self._constants[key]

    def empty(self, value_type: TensorType) -> Value:
        """A tensor without elements."""
        shape = static_shape(value_type.shape)
        assert shape is not None and 0 in shape
        return self.constant(np.zeros(shape), value_type.dtype)

    def known(self, value: Value) -> Array | None:
        """What a constant holds, or None where the value is no constant of the builder's own."""
        return self._known.get(value.name)

    def number(self, number: Number, dtype: DType) -> Value:
        """A number as a tensor of this element type: a constant, or what is computed at run time."""
        return self.cast(number, dtype) if isinstance(number, Value) else self.constant(number, dtype)

    def cast(self, value: Value, dtype: DType) -> Value:
        """The value in another element type, converted as PyTorch converts."""
        if value.dtype == dtype:
            return value
        known = self.known(value)
        if known is not None and known.size < 1024 and "bfloat16" not in (dtype, value.dtype):
            return self.constant(known, dtype)
        if is_float(value.dtype) and dtype in ("uint8", "int8", "int16"):
            # Out of range, a narrow integer takes the low bits of the wide one, as in PyTorch.
            value = self.cast(value, "int32" if dtype == "int16" else "int64")
        bits = 8 * numpy_type(dtype).itemsize
        narrower = is_integer(dtype) and is_integer(value.dtype) and bits < 8 * numpy_type(value.dtype).itemsize
        if narrower and value.name in self._cast:
            # ONNX Runtime makes one cast of two, which stops at the greatest number instead of taking the low bits.
            value = self.node("BitwiseAnd", value, self.constant(2**bits - 1, value.dtype))
        if dtype == "bool" and value.dtype == "bfloat16":
            value = self.cast(value, "float32")
        result = self.node("Cast", value, dtype=dtype, to=ONNX_TYPES[dtype])
        self._cast.add(result.name)
        return result

    # Sizes.

    def size_of(self, value: Value, axis: int) -> Size:
        """The size of one axis: a number where it is known, else a 0-d int64 tensor."""
        size = value.shape[axis]
        if isinstance(size, int):
            return size
        axis %= value.rank
        shape = self.node("Shape", value, dtype="int64", shape=(1,), start=axis, end=axis + 1)
        return self.node("Squeeze", shape, self.constant([0]), shape=())

    def sizes_of(self, value: Value) -> list[Size]:
        """The sizes of all axes."""
        return [self.size_of(value, axis) for axis in range(value.rank)]

    def shape_of(self, value: Value) -> Value:
        """The shape as a 1-d int64 tensor."""
        static = static_shape(value.shape)
        if static is not None:
            return self.constant(static)
        return self.node("Shape", value, dtype="int64", shape=(value.rank,))

    def vector(self, sizes: Sequence[Size]) -> Value:
        """Sizes as one 1-d int64 tensor."""
        numbers = [size for size in sizes if isinstance(size, int)]
        if len(numbers) == len(sizes):
            return self.constant(numbers)
        pieces = [
            self.constant([size])
            if isinstance(size, int)
            else self.node("Reshape", self.cast(size, "int64"), self.constant([1]), shape=(1,))
            for size in sizes
        ]
        return pieces[0] if len(pieces) == 1 else self.node("Concat", *pieces, shape=(len(pieces),), axis=0)

    def size(self, operator: str, a: Size, b: Size) -> Size:
        """`a` and `b` combined by `Add`, `Sub`, `Mul`, `Div`, `Max` or `Min`, at once if both are known."""
        if isinstance(a, int) and isinstance(b, int):
            return _FOLD[operator](a, b)
        return self.node(operator, self.number(a, "int64"), self.number(b, "int64"), shape=())

    def count(self, value: Value, axes: Sequence[int]) -> Size:
        """How many elements the tensor has along these axes."""
        total: Size = 1
        for axis in axes:
            total = self.size("Mul", total, self.size_of(value, axis))
        return total


_COMPARING = frozenset(("Max", "Min", "Clip", "Sign"))
"""With AVX-512, ONNX Runtime compares several int64 at a time in these, and takes 2^31 for less than 1."""

_FOLD: dict[str, Callable[[int, int], int]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a // b,
    "Max": max,
    "Min": min,
}


def numpy_type(dtype: DType) -> np.dtype[Any]:
    """NumPy's element type of this name."""
    return np.dtype(helper.tensor_dtype_to_np_dtype(ONNX_TYPES[dtype]))


def dimension(size: Size) -> Dimension:
    """What a type can say about a size."""
    return size if isinstance(size, int) else UNKNOWN


def _attribute(name: str, value: Attribute) -> onnx.AttributeProto:
    """An attribute of a node. Most are whole numbers, at which `make_attribute` looks for long."""
    if type(value) is int:
        return onnx.AttributeProto(name=name, type=onnx.AttributeProto.INT, i=value)
    if isinstance(value, list | tuple) and value and all(type(item) is int for item in value):
        return onnx.AttributeProto(name=name, type=onnx.AttributeProto.INTS, ints=value)
    return helper.make_attribute(name, value)


def value_info(value: Value) -> onnx.ValueInfoProto:
    """The declaration of a value inside a nested graph, where only its rank and element type matter."""
    return helper.make_tensor_value_info(value.name, ONNX_TYPES[value.dtype], [None] * value.rank)
