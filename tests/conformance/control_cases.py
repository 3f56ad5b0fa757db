"""Conformance cases about the way through a program: decisions, loops, errors, state."""

import numpy as np

from dycl.hcfg.nodes import Branch, Check, Fail, Jump, Let, Literal, Switch, Weight
from dycl.hcfg.structure import Items, Slot, Static, Table
from dycl.hcfg.types import TensorType, ValueType
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
    to,
)
from tests.conformance.case import Breaks, Fails, Raises, Reset, Returns
from tests.hand_built import COUNT, FLAG, onnx_code, span

ROW = TensorType("float32", (3,))
ZERO = node("Constant", "", "zero", value_float=0.0)
IS_POSITIVE = onnx_code(
    [ZERO, node("ReduceSum", "i0", "sum", keepdims=0), node("Greater", "sum zero", "o0")], [ROW], [FLAG]
)
SCALE = onnx_code([node("Mul", "i0 w0", "o0")], [ROW], [ROW], [ROW])
ADD = onnx_code([node("Add", "i0 i1", "o0")], [ROW, ROW], [ROW])


@case
def branch() -> Made:
    """A branch goes either way, to results of different structure."""
    why = Table("dict", ("why", "x"), (Static("not positive"), Slot(0, "tensor")))
    blocks = [
        block("b0", {"x": ROW}, [run("gate", "x", "flag")], Branch("flag", to("b1", "x"), to("b2", "x"), span(2, 12))),
        block("b1", {"x": ROW}, [run("scale", "x", "y", 3)], returning("y")),
        block("b2", {"x": ROW}, [], returning("x", why)),
    ]
    subnets = {"gate": net("gate", [ROW], [FLAG]), "scale": net("scale", [ROW], [ROW], ("scale",))}
    weights = {"scale": (ROW, row(1, 2, 3))}
    return program("Branching", blocks, subnets, {"gate": IS_POSITIVE, "scale": SCALE}, weights), [
        Returns([row(1, 1, 1)], [row(1, 2, 3)], "b0=true b1"),
        Returns([row(-1, 0, 1)], [row(-1, 0, 1)], "b0=false b2"),
        Returns([row(-1, 0, 8)], [row(-1, 0, 24)], "b0=true b1"),
    ]


@case
def switch() -> Made:
    """A switch takes the case that equals its value, also negative ones, or stops with the model's error."""
    types = {"which": INT, "a": FLOAT, "b": FLOAT, "c": FLOAT}
    cases = ((-1, to("end", "a")), (0, to("end", "b")), (2**40, to("end", "c")))
    blocks = [
        block("b0", types, [], Switch("which", cases, "IndexError", "list index out of range", span(5))),
        block("end", {"value": FLOAT}, [], returning("value", Items("list", (Slot(0, "float"),)))),
    ]
    return program("Switching", blocks), [
        Returns([0, 1.5, 2.5, 3.5], [2.5], "b0=0 end"),
        Returns([-1, 1.5, 2.5, 3.5], [1.5], "b0=-1 end"),
        Returns([2**40, 1.5, 2.5, 3.5], [3.5], "b0=1099511627776 end"),
        Raises([1, 1.5, 2.5, 3.5], "IndexError", "list index out of range", 5),
        Raises([2**32, 1.5, 2.5, 3.5], "IndexError", "list index out of range", 5),
    ]


@case
def one_element_decides() -> Made:
    """Tensors of one element decide whatever their rank, and a switch looks at every integer type."""
    flag, small, byte = TensorType("bool", (1, 1)), TensorType("int8", (1,)), TensorType("uint8", (1, 1, 1))
    types = {"flag": flag, "small": small, "byte": byte}
    signed = Switch("small", ((-128, to("b2", "byte")), (127, to("b3"))), "KeyError", "'small'", span(6))
    unsigned = Switch("byte", ((255, to("b3")),), "KeyError", "'byte'", span(7))
    blocks = [
        block("b0", types, [], Branch("flag", to("b1", "small", "byte"), to("b3"), span(5))),
        block("b1", {"small": small, "byte": byte}, [], signed),
        block("b2", {"byte": byte}, [], unsigned),
        block("b3", {}, [], returning("", Static(None))),
    ]

    def inputs(truth: bool, number: int, code: int) -> list[object]:
        return [[[truth]], [number], [[[code]]]]

    return program("Deciding", blocks), [
        Returns(inputs(False, 0, 0), [], "b0=false b3"),
        Returns(inputs(True, 127, 0), [], "b0=true b1=127 b3"),
        Returns(inputs(True, -128, 255), [], "b0=true b1=-128 b2=255 b3"),
        Raises(inputs(True, -128, 127), "KeyError", "'byte'", 7),
        Raises(inputs(True, 1, 255), "KeyError", "'small'", 6),
    ]


@case
def check_and_fail() -> Made:
    """Checks and paths that fail stop with the model's error, whether Python knows its class or not."""
    types = {"ready": BOOL, "known": BOOL, "lost": BOOL}
    blocks = [
        block(
            "b0",
            types,
            [Check("ready", "AssertionError", "not ready", span(4))],
            Branch("lost", to("b1", "known"), to("b4"), span(5)),
        ),
        block("b1", {"known": BOOL}, [], Branch("known", to("b2"), to("b3"), span(6))),
        block("b2", {}, [], Fail("ValueError", "no way: «x»", span(7))),
        block("b3", {}, [], Fail("DecodingFailed", "", span(8))),
        block("b4", {}, [], returning("", Static("fine"))),
    ]
    return program("Failing", blocks), [
        Returns([True, True, False], [], "b0=false b4"),
        Raises([False, True, False], "AssertionError", "not ready", 4),
        Raises([True, True, True], "ValueError", "no way: «x»", 7),
        Raises([True, False, True], "DecodingFailed", "", 8),
    ]


@case
def loop() -> Made:
    """A loop goes round as often as its input says; a jump takes all its arguments before it binds one."""
    one = node("Constant", "", "one", value_int=1)
    none = node("Constant", "", "none", value_int=0)
    test = onnx_code([none, node("Greater", "i0 none", "o0")], [COUNT], [FLAG])
    less = onnx_code([one, node("Sub", "i0 one", "o0")], [COUNT], [COUNT])
    pair: dict[str, ValueType] = {"n": INT, "a": ROW, "b": ROW}
    blocks = [
        block("b0", pair, [], Jump(to("b1", "n", "a", "b"), span(3))),
        block(
            "b1",
            pair,
            [run("test", "n", "more")],
            Branch("more", to("b2", "n", "a", "b"), to("b3", "a", "b", "n"), span(4)),
        ),
        block("b2", pair, [run("less", "n", "m", 5)], Jump(to("b1", "m", "b", "a"), span(6))),
        block(
            "b3",
            {"a": ROW, "b": ROW, "n": INT},
            [],
            returning("a b n", Items("tuple", (Slot(0, "tensor"), Slot(1, "tensor"), Slot(2, "int")))),
        ),
    ]
    subnets = {"test": net("test", [COUNT], [FLAG]), "less": net("less", [COUNT], [COUNT])}
    a, b = row(1, 2, 3), row(4, 5, 6)
    return program("Looping", blocks, subnets, {"test": test, "less": less}), [
        Returns([0, a, b], [a, b, 0], "b0 b1=false b3"),
        Returns([3, a, b], [b, a, 0], f"b0 {'b1=true b2 ' * 3}b1=false b3"),
        Returns([200, a, b], [a, b, 0], f"b0 {'b1=true b2 ' * 200}b1=false b3"),
    ]


@case
def state() -> Made:
    """What a call keeps begins the next one, unless it keeps nothing or fails; a reset begins anew.

    total = 0; at each call: total += x; raise if x[0] is 9; a sum that is not positive is returned but not kept.
    """
    nine = onnx_code(
        [
            node("Constant", "", "first", value_ints=[0]),
            node("Constant", "", "nine", value_floats=[9.0]),
            node("Gather", "i0 first", "x0"),
            node("Equal", "x0 nine", "same"),
            node("Not", "same", "o0"),
        ],
        [ROW],
        [TensorType("bool", (1,))],
    )
    both = {"x": ROW, "total": ROW}
    blocks = [
        block("b0", {"x": ROW}, [Let("total", Weight("start"), span(1))], Jump(to("b1", "x", "total"), span(1))),
        block(
            "b1",
            both,
            [
                run("add", "x total", "sum"),
                run("nine", "x", "fine", 3),
                Check("fine", "ValueError", "nine", span(3)),
                run("gate", "sum", "flag", 4),
            ],
            Branch("flag", to("b2", "sum", "x"), to("b3", "sum"), span(4)),
        ),
        block("b2", {"sum": ROW, "x": ROW}, [], returning("sum x", all_of(2), to("b1", "sum"))),
        block("b3", {"sum": ROW}, [], returning("sum")),
    ]
    subnets = {
        "add": net("add", [ROW, ROW], [ROW]),
        "nine": net("nine", [ROW], [TensorType("bool", (1,))]),
        "gate": net("gate", [ROW], [FLAG]),
    }
    codes = {"add": ADD, "nine": nine, "gate": IS_POSITIVE}
    x = row(1, 2, 3)
    return program("Keeping", blocks, subnets, codes, {"start": (ROW, row(0, 0, 1))}), [
        Returns([x], [row(1, 2, 4), x], "b0 b1=true b2"),
        Returns([x], [row(2, 4, 7), x], "b1=true b2"),
        Returns([row(-9, -9, -9)], [row(-7, -5, -2)], "b1=false b3"),
        Returns([x], [row(3, 6, 10), x], "b1=true b2"),
        Raises([row(9, 0, 0)], "ValueError", "nine", 3),
        Returns([x], [row(4, 8, 13), x], "b1=true b2"),
        Reset(),
        Returns([row(-9, 0, 0)], [row(-9, 0, 1)], "b0 b1=false b3"),
        Returns([x], [row(1, 2, 4), x], "b0 b1=true b2"),
    ]


@case
def kept_input() -> Made:
    """An input is kept and returned as it was: here the answer is what came one call before, and a count of calls."""
    blocks = [
        block(
            "b0",
            {"x": ROW},
            [Let("n", Literal(0), span(1))],
            returning("x n", Items("tuple", (Slot(0, "tensor"), Slot(1, "int"))), to("b1", "x", "n")),
        ),
        block(
            "b1",
            {"x": ROW, "before": ROW, "n": INT},
            [run("more", "n", "m")],
            returning("before m", Items("tuple", (Slot(0, "tensor"), Slot(1, "int"))), to("b1", "x", "m")),
        ),
    ]
    more = onnx_code([node("Constant", "", "one", value_int=1), node("Add", "i0 one", "o0")], [COUNT], [COUNT])
    a, b, c = row(1, 1, 1), row(2, 2, 2), row(3, 3, 3)
    return program("Delaying", blocks, {"more": net("more", [COUNT], [COUNT])}, {"more": more}), [
        Returns([a], [a, 0], "b0"),
        Returns([b], [a, 1], "b1"),
        Returns([c], [b, 2], "b1"),
        Reset(),
        Returns([c], [c, 0], "b0"),
        Returns([a], [c, 1], "b1"),
    ]


@case
def failing_sub_dnn() -> Made:
    """A sub-DNN that fails ends the call; the next call is none the worse for it."""
    number = TensorType("float32", ())
    gather = onnx_code([node("Gather", "i0 i1", "o0")], [ROW, COUNT], [number])
    blocks = [block("b0", {"x": ROW, "index": COUNT}, [run("pick", "x index", "y")], returning("y"))]
    subnets = {"pick": net("pick", [ROW, COUNT], [number])}
    return program("Picking", blocks, subnets, {"pick": gather}), [
        Returns([row(5, 6, 7), 1], [np.float32(6)], "b0"),
        Fails([row(5, 6, 7), 3], "pick"),
        Returns([row(5, 6, 7), -1], [np.float32(7)], "b0"),
    ]


@case
def broken_promise() -> Made:
    """A sub-DNN that gives several flags where its signature promises one does not decide."""
    several = onnx_code([ZERO, node("Greater", "i0 zero", "o0")], [ROW], [FLAG])
    several.graph.output[0].type.tensor_type.ClearField("shape")
    blocks = [
        block("b0", {"x": ROW}, [run("gate", "x", "flag")], Branch("flag", to("b1"), to("b1"), span(2))),
        block("b1", {}, [], returning("", Static(None))),
    ]
    return program("Promising", blocks, {"gate": net("gate", [ROW], [FLAG])}, {"gate": several}), [
        Breaks([row(1, 1, 1)]),
    ]
