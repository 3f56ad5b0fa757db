"""Conformance cases about values: types, sizes, constants, structures of arguments and results."""

import math
from typing import Any

import numpy as np
import onnx

from dycl.hcfg.nodes import Let, Literal, SizeRule, Step, Subnet, Weight
from dycl.hcfg.structure import Items, Named, Record, Rows, Slot, Static, Table
from dycl.hcfg.types import DTYPES, DType, TensorType
from dycl.runtime.weight_store import array_dtype
from tests.conformance.building import (
    BOOL,
    FLOAT,
    INT,
    Made,
    all_of,
    block,
    case,
    net,
    node,
    program,
    returning,
    row,
    run,
)
from tests.conformance.case import Refused, Returns
from tests.hand_built import COUNT, FLAG, call_of, onnx_code, span

INT64_MIN = -(2**63)
NUMBER = TensorType("float64", ())


@case
def host_values() -> Made:
    """Numbers and flags travel as tensors of no dimensions, into sub-DNNs and out of them."""
    one = node("Constant", "", "one", value_int=1)
    codes = {
        "more": onnx_code([one, node("Add", "i0 one", "o0")], [COUNT], [COUNT]),
        "twice": onnx_code([node("Add", "i0 i0", "o0")], [NUMBER], [NUMBER]),
        "not": onnx_code([node("Not", "i0", "o0")], [FLAG], [FLAG]),
    }
    subnets = {
        "more": net("more", [COUNT], [COUNT]),
        "twice": net("twice", [NUMBER], [NUMBER]),
        "not": net("not", [FLAG], [FLAG]),
    }
    steps = [run("more", "n", "m"), run("twice", "f", "g"), run("not", "b", "c")]
    result = Items("tuple", (Slot(0, "int"), Slot(1, "float"), Slot(2, "bool"), Slot(3, "tensor"), Slot(4, "int")))
    blocks = [block("b0", {"n": INT, "f": FLOAT, "b": BOOL}, steps, returning("m g c f n", result))]
    return program("Numbers", blocks, subnets, codes), [
        Returns([41, 0.1, True], [42, 0.2, False, 0.1, 41], "b0"),
        Returns([INT64_MIN, math.inf, False], [INT64_MIN + 1, math.inf, True, math.inf, INT64_MIN], "b0"),
        Returns([2**53, -0.0, False], [2**53 + 1, -0.0, True, -0.0, 2**53], "b0"),
        Refused([np.int32(1).reshape(()), 0.1, True]),
        Refused([np.array([1]), 0.1, True]),
    ]


@case
def constants() -> Made:
    """Literals keep their kind and value, and weights can be results and inputs of sub-DNNs."""
    literals = [True, False, 0, 1, 1.0, INT64_MIN, 2**63 - 1, math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1]
    kinds = ["bool" if isinstance(value, bool) else type(value).__name__ for value in literals]
    matrix = TensorType("float32", (2, 2))
    names = [f"v{index}" for index in range(len(literals))]
    steps: list[Step] = [
        *(Let(name, Literal(value), span(2)) for name, value in zip(names, literals, strict=True)),
        Let("w", Weight("layer.weight"), span(3)),
        Let("e", Weight("empty"), span(3)),
        run("sum", "w v3", "y"),
    ]
    slots = [Slot(index, kind) for index, kind in enumerate(kinds)]  # type: ignore[arg-type]
    tensors = [Slot(index, "tensor") for index in range(len(literals), len(literals) + 3)]
    end = returning(" ".join((*names, "w", "e", "y")), Items("list", (*slots, *tensors)))
    add = onnx_code(
        [node("Cast", "i1", "n", to=1), node("Add", "i0 n", "sum"), node("Add", "sum w0", "o0")],
        [matrix, COUNT],
        [matrix],
        [TensorType("float32", ())],
    )
    w = np.array([[1, 2], [3, 4]], np.float32)
    weights = {
        "layer.weight": (matrix, w),
        "empty": (TensorType("float32", (0, 2)), np.zeros((0, 2), np.float32)),
        "ten": (TensorType("float32", ()), np.array(10, np.float32)),
    }
    subnets = {"sum": net("sum", [matrix, COUNT], [matrix], ("ten",))}
    return program("Constant", [block("b0", {}, steps, end)], subnets, {"sum": add}, weights), [
        Returns([], [*literals, w, np.zeros((0, 2), np.float32), w + 11], "b0"),
    ]


def _values(dtype: DType) -> Any:
    """Four elements that tell the type apart from others, as numpy carries them."""
    bits: dict[str, list[Any]] = {
        "bool": [True, False, False, True],
        "uint8": [0, 1, 128, 255],
        "int8": [0, 1, -128, 127],
        "int16": [0, -1, -(2**15), 2**15 - 1],
        "int32": [0, -1, -(2**31), 2**31 - 1],
        "int64": [0, -1, INT64_MIN, 2**63 - 1],
        "float16": [0.5, -0.0, 65504, math.inf],
        "bfloat16": [0x3F80, 0x8000, 0x7F7F, 0x7FC0],  # 1, -0, the largest, NaN
        "float32": [0.1, -0.0, 1e-45, math.nan],
        "float64": [0.1, 1e300, -math.inf, 5e-324],
    }
    return np.array(bits[dtype], array_dtype(dtype)).reshape(2, 2)


@case
def dtypes() -> Made:
    """Every element type goes in, through a sub-DNN with a weight of it, and out, bit by bit."""
    types: dict[str, TensorType] = {dtype: TensorType(dtype, (2, 2)) for dtype in DTYPES}
    joined: dict[str, TensorType] = {dtype: TensorType(dtype, (4, 2)) for dtype in DTYPES}
    codes: dict[str, onnx.ModelProto] = {
        dtype: onnx_code([node("Concat", "i0 w0", "o0", axis=0)], [types[dtype]], [joined[dtype]], [types[dtype]])
        for dtype in DTYPES
    }
    subnets: dict[str, Subnet] = {
        dtype: net(dtype, [types[dtype]], [joined[dtype]], (f"w_{dtype}",)) for dtype in DTYPES
    }
    weights = {f"w_{dtype}": (types[dtype], _values(dtype)[::-1].copy()) for dtype in DTYPES}
    steps = [run(dtype, dtype, f"{dtype}_out") for dtype in DTYPES]
    end = returning(" ".join(f"{dtype}_out" for dtype in DTYPES), all_of(len(DTYPES)))
    arrays = [_values(dtype) for dtype in DTYPES]
    wrong = [arrays[0], arrays[1].astype(np.int8), *arrays[2:]]
    return program("Types", [block("b0", dict(types), steps, end)], subnets, codes, weights), [
        Returns(arrays, [np.concatenate([array, array[::-1]]) for array in arrays], "b0"),
        Refused(wrong),
    ]


@case
def empty_tensors() -> Made:
    """Tensors without elements are tensors like any other."""
    none, some = TensorType("float32", (0, 3)), TensorType("float32", (1, 3))
    join = onnx_code([node("Concat", "i0 i1 w0", "o0", axis=0)], [none, some], [some], [none])
    blocks = [
        block("b0", {"none": none, "some": some}, [run("join", "none some", "y")], returning("y none", all_of(2)))
    ]
    nothing, x = np.zeros((0, 3), np.float32), row(1, 2, 3).reshape(1, 3)
    subnets = {"join": net("join", [none, some], [some], ("nothing",))}
    return program("Empty", blocks, subnets, {"join": join}, {"nothing": (none, nothing)}), [
        Returns([nothing, x], [x, nothing], "b0"),
        Refused([np.zeros((0, 2), np.float32), x]),
    ]


@case
def numpy_results() -> Made:
    """Arrays and scalars of NumPy stay what they are, also in lists whose length the input decides."""
    x, total = TensorType("float32", ("n", 2)), TensorType("float32", ())
    add = onnx_code([node("ReduceSum", "i0", "o0", keepdims=0)], [x], [total])
    parts = (Slot(0, "array"), Slot(1, "scalar"), Rows(0, Slot(0, "array")), Rows(2, Slot(2, "scalar")))
    blocks = [
        block(
            "b0",
            {"x": x, "counts": TensorType("int32", ("n",))},
            [run("add", "x", "total")],
            returning("x total counts", Items("tuple", parts)),
        )
    ]

    def call(count: int) -> Returns:
        matrix = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
        numbers = np.arange(count, dtype=np.int32)
        return Returns([matrix, numbers], [matrix, matrix.sum(dtype=np.float32), numbers], "b0")

    return program("NumpyResults", blocks, {"add": net("add", [x], [total])}, {"add": add}), [call(0), call(3)]


@case
def rows() -> Made:
    """Lists whose length the input decides are unstacked, with none, one or several items."""
    x, counts = TensorType("float32", ("n", 2)), TensorType("int64", ("n",))
    item = Items("tuple", (Slot(0, "tensor"), Slot(1, "int"), Static("word")))
    double = onnx_code([node("Add", "i0 i0", "o0")], [counts], [counts])
    result = Items("tuple", (Rows(0, item), Rows(1, Static(None)), Rows(1, Slot(1, "tensor")), Slot(0, "tensor")))
    blocks = [block("b0", {"x": x, "counts": counts}, [run("double", "counts", "twice")], returning("x twice", result))]

    def call(count: int) -> Returns:
        matrix = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
        numbers = np.arange(count)
        return Returns([matrix, numbers], [matrix, 2 * numbers], "b0")

    return program("Rows", blocks, {"double": net("double", [counts], [counts])}, {"double": double}), [
        call(0),
        call(1),
        call(3),
    ]


@case
def structures() -> Made:
    """Containers of every kind, around values and around what is known while compiling."""
    pair = Record("namedtuple", "models.Pair", ("left", "right"), (Slot(0, "tensor"), Static(None)))
    output = Record("dataclass", "Output", ("loss", "rows"), (Slot(1, "float"), Items("list", (Slot(0, "tensor"),))))
    cache = Record("object", "Outer.Cache", ("_length", "dtype"), (Static(3), Named("torch.float32")))
    bag = Table("Bag", ("größe", 7, "7"), (Static(1), Static(1.0), Static(True)))
    statics = Items("tuple", tuple(map(Static, (math.nan, -math.inf, "", "\u2713 \U0001f600", 2**53 + 1, None, False))))
    result = Items("list", (pair, output, cache, bag, statics, Items("tuple", ()), Table("dict", (), ())))
    signature = call_of(
        Items("list", (Slot(1, "float"), Static("fixed"))),
        options=Table("dict", ("deep", 1), (Items("tuple", (Slot(0, "tensor"),)), Static(None))),
    )
    row_type = TensorType("float32", (2,))
    blocks = [block("b0", {"x": row_type, "f": FLOAT}, [], returning("x f", result))]
    return program("Structures", blocks, signature=signature), [
        Returns([row(1, 2), 0.5], [row(1, 2), 0.5], "b0"),
        Returns([row(-1, 0), math.nan], [row(-1, 0), math.nan], "b0"),
    ]


@case
def open_sizes() -> Made:
    """Named dimensions take every size that the rules allow, the same one wherever the name occurs."""
    x, y = TensorType("float32", ("n", "2*n + 1")), TensorType("float32", ("n", "m"))
    rules = (
        SizeRule("n", 0, 8, "n"),
        SizeRule("2*n + 1", 0, 8, "n", 2, 1),
        SizeRule("m", 1, 100, "_m", 4, -2),
    )
    join = onnx_code([node("Concat", "i0 i1", "o0", axis=1)], [x, y], [TensorType("float32", ("n", "k"))])
    blocks = [block("b0", {"x": x, "y": y}, [run("join", "x y", "z")], returning("z"))]
    subnets = {"join": net("join", [x, y], [TensorType("float32", ("n", "k"))])}

    def inputs(n: int, width: int, n_again: int, m: int) -> list[Any]:
        return [np.ones((n, width), np.float32), np.full((n_again, m), 2, np.float32)]

    def joined(n: int, m: int) -> Returns:
        arrays = inputs(n, 2 * n + 1, n, m)
        return Returns(arrays, [np.concatenate(arrays, axis=1)], "b0")

    return program("Sizes", blocks, subnets, {"join": join}, sizes=rules), [
        joined(1, 2),
        joined(0, 6),
        joined(8, 398),
        Refused(inputs(2, 5, 3, 2)),
        Refused(inputs(2, 4, 2, 2)),
        Refused(inputs(2, 7, 2, 2)),
        Refused(inputs(9, 19, 9, 2)),
        Refused(inputs(2, 5, 2, 3)),
        Refused(inputs(2, 5, 2, 402)),
        Refused([np.ones((2, 5, 1), np.float32), np.ones((2, 2), np.float32)]),
    ]


@case
def shared_codes() -> Made:
    """One code serves sub-DNNs of different weights, a weight may be bound twice, a sub-DNN runs as often as named."""
    vector = TensorType("float32", (2,))
    affine = onnx_code(
        [node("Mul", "i0 w0", "scaled"), node("Add", "scaled w1", "o0")], [vector], [vector], [vector, vector]
    )
    subnets = {
        "first": net("affine", [vector], [vector], ("a", "b")),
        "second": net("affine", [vector], [vector], ("b", "a")),
        "third": net("affine", [vector], [vector], ("a", "a")),
    }
    steps = [run("first", "x", "p"), run("second", "p", "q"), run("first", "q", "r"), run("third", "x", "s")]
    weights = {"a": (vector, row(2, 3)), "b": (vector, row(10, 20))}
    blocks = [block("b0", {"x": vector}, steps, returning("r s p q", all_of(4)))]
    p = row(1 * 2 + 10, 1 * 3 + 20)
    q = row(12 * 10 + 2, 23 * 20 + 3)
    r = row(122 * 2 + 10, 463 * 3 + 20)
    return program("Sharing", blocks, subnets, {"affine": affine}, weights), [
        Returns([row(1, 1)], [r, row(4, 6), p, q], "b0"),
    ]
