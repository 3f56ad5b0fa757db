"""Each rule of the verifier refuses a graph that breaks it alone."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.nodes import (
    Block,
    Branch,
    Check,
    Hcfg,
    Jump,
    Let,
    Literal,
    Parameter,
    Return,
    Run,
    SizeRule,
    Step,
    Subnet,
    Switch,
    Target,
    Terminator,
    Weight,
)
from dycl.hcfg.structure import Items, Named, Record, Slot, Static, Structure, Table
from dycl.hcfg.types import HostType, TensorType
from dycl.hcfg.verify import verify
from tests.hand_built import COUNT, FLAG, ROW, call_of, counting_loop, gated, routed, span

GATED = gated().hcfg
LOOP = counting_loop().hcfg


def with_block(block: Block, base: Hcfg = GATED) -> Hcfg:
    return replace(base, blocks={**base.blocks, block.id: block})


def entry(*steps: Step, terminator: Terminator | None = None) -> Hcfg:
    """The gated program with these steps and this terminator in its entry block."""
    block = GATED.blocks["b0"]
    return with_block(replace(block, steps=steps or block.steps, terminator=terminator or block.terminator))


def with_subnet(**changes: Any) -> Hcfg:
    return replace(GATED, subnets={**GATED.subnets, "net1": replace(GATED.subnets["net1"], **changes)})


def returning(structure: Structure) -> Hcfg:
    """The gated program with another result of its block b2: a tensor, a weight and an int."""
    block = GATED.blocks["b2"]
    return with_block(replace(block, terminator=Return(("negated", "why", "count"), structure, span(1))))


def with_input(value_type: TensorType | HostType) -> Hcfg:
    parameter = Parameter("x", value_type)
    return replace(with_block(replace(GATED.blocks["b0"], parameters=(parameter,))), inputs=(parameter,))


THREE = (Slot(0, "tensor"), Slot(1, "tensor"), Slot(2, "int"))
RUN = Run("net0", ("x",), ("flag", "copy"), span(1))
BRANCH = Branch("flag", Target("b1", ("copy",)), Target("b2", ("x",)), span(1))
DEEP: Structure = Static(None)
for _ in range(33):
    DEEP = Items("list", (DEEP,))


@pytest.mark.parametrize("make", [gated, counting_loop, routed])
def test_well_formed_graphs_pass(make: Callable[[], Any]) -> None:
    verify(make().hcfg)


def test_a_symbolic_dimension_fits_every_size() -> None:
    verify(with_input(TensorType("float32", ("batch", 3))))


RULES: dict[str, tuple[Hcfg, str]] = {
    "entry exists": (replace(GATED, entry="b9"), "the entry block b9 does not exist"),
    "entry takes the inputs": (
        replace(GATED, inputs=(Parameter("z", ROW),)),
        "the parameters of the entry block b0 are not the program's inputs",
    ),
    "block id is its key": (
        replace(GATED, blocks={**GATED.blocks, "b1": replace(GATED.blocks["b1"], id="b7")}),
        "block b1 calls itself b7",
    ),
    "subnet id is its key": (with_subnet(id="net7"), "sub-DNN net1 calls itself net7"),
    "no unreachable block": (
        with_block(replace(GATED.blocks["b1"], id="b3")),
        "block b3 is never reached",
    ),
    "target exists": (
        entry(terminator=replace(BRANCH, then=Target("b9", ("copy",)))),
        "block b0 goes to block b9, which does not exist",
    ),
    "target arity": (
        entry(terminator=replace(BRANCH, then=Target("b1", ()))),
        "block b0 gives 0 values to block b1, which takes 1",
    ),
    "argument dtype": (
        entry(terminator=replace(BRANCH, then=Target("b1", ("flag",)))),
        r"block b0 gives flag, which is bool\[\], to block b1, which takes float32\[2, 3\]",
    ),
    "argument static dimension": (with_input(TensorType("float32", (2, 4))), r"gives x, which is float32\[2, 4\]"),
    "argument rank": (with_input(TensorType("float32", ("batch",))), r"gives x, which is float32\[batch\]"),
    "argument defined": (
        entry(terminator=replace(BRANCH, then=Target("b1", ("nowhere",)))),
        "block b0 uses nowhere before it is defined",
    ),
    "names are local to a block": (
        with_block(replace(GATED.blocks["b1"], steps=(Run("net1", ("x",), ("scaled",), span(1)),))),
        "block b1 uses x before it is defined",
    ),
    "defined before use": (
        entry(Run("net2", ("copy",), ("other",), span(1)), RUN),
        "block b0 uses copy before it is defined",
    ),
    "defined once": (entry(RUN, RUN), "block b0 defines flag twice"),
    "a step does not redefine a parameter": (entry(RUN, Let("x", Literal(1), span(1))), "block b0 defines x twice"),
    "parameters are distinct": (
        with_block(replace(LOOP.blocks["b1"], parameters=(Parameter("n", COUNT), Parameter("n", COUNT))), LOOP),
        "block b1 defines n twice",
    ),
    "run's subnet exists": (
        entry(replace(RUN, subnet="net9")),
        "block b0 runs sub-DNN net9, which does not exist",
    ),
    "run's inputs": (entry(replace(RUN, inputs=())), "block b0 gives 0 values to sub-DNN net0, which takes 1"),
    "run's outputs": (entry(replace(RUN, outputs=("flag",))), "names 1 outputs of sub-DNN net0, which has 2"),
    "run's input type": (
        entry(Let("n", Literal(1), span(1)), replace(RUN, inputs=("n",))),
        "gives n, which is int, to sub-DNN net0",
    ),
    "let's weight exists": (
        entry(RUN, Let("w", Weight("none"), span(1))),
        "block b0 uses weight none, which does not exist",
    ),
    "literal fits 64 bits": (entry(RUN, Let("n", Literal(2**63), span(1))), "does not fit 64 bits"),
    "subnet's weights exist": (with_subnet(weights=("none",)), "sub-DNN net1 is bound to weight none"),
    "weights are static": (
        replace(GATED, weights={"scale": TensorType("float32", ("n",))}),
        "weight scale has a symbolic dimension",
    ),
    "branch on a flag": (
        entry(terminator=replace(BRANCH, condition="copy")),
        r"block b0 decides on copy, which is float32\[2, 3\] and not one flag",
    ),
    "branch on one flag": (
        with_block(
            Block(
                "b0",
                (Parameter("x", TensorType("bool", (2,))),),
                (),
                Branch("x", Target("b1", ("x",)), Target("b2", ("x",)), span(1)),
                span(1),
            ),
            replace(
                GATED,
                inputs=(Parameter("x", TensorType("bool", (2,))),),
                blocks={
                    key: replace(block, parameters=(Parameter("y", TensorType("bool", (2,))),), steps=())
                    for key, block in GATED.blocks.items()
                },
            ),
        ),
        "and not one flag",
    ),
    "check on a flag": (
        entry(RUN, Check("copy", "ValueError", "no", span(1))),
        "block b0 decides on copy",
    ),
    "switch on an integer": (
        entry(terminator=Switch("copy", (), "IndexError", "no", span(1))),
        "block b0 switches on copy",
    ),
    "switch cases are distinct": (
        entry(
            RUN,
            Let("n", Literal(1), span(1)),
            terminator=Switch("n", ((1, Target("b1", ("x",))), (1, Target("b2", ("x",)))), "E", "no", span(1)),
        ),
        "the cases of the switch in block b0 are not distinct",
    ),
    "switch cases fit 64 bits": (
        entry(
            RUN,
            Let("n", Literal(1), span(1)),
            terminator=Switch("n", ((2**63, Target("b1", ("x",))), (1, Target("b2", ("x",)))), "E", "no", span(1)),
        ),
        "a case that does not fit 64 bits",
    ),
    "return uses every value": (
        returning(Items("tuple", (Slot(0, "tensor"), Slot(1, "tensor")))),
        "the result of block b2 does not use each of its 3 values",
    ),
    "return has no other slots": (
        returning(Items("tuple", (*THREE, Slot(3, "tensor")))),
        "the result of block b2 does not use each of its 3 values",
    ),
    "return's negative slots": (
        returning(Items("tuple", (*THREE, Slot(-1, "tensor")))),
        "the result of block b2 does not use each of its 3 values",
    ),
    "return's kinds": (
        returning(Items("tuple", (Slot(0, "int"), Slot(1, "tensor"), Slot(2, "int")))),
        "the result of block b2 takes negated as int",
    ),
    "return's nesting": (returning(Items("tuple", (*THREE, DEEP))), "nests more than 32 containers"),
    "names of a table": (
        returning(Table("dict", ("a", "b"), THREE)),
        "a dict of the result of block b2 has 2 names for 3 values",
    ),
    "names of a table are distinct": (returning(Table("dict", ("a", "b", "a"), THREE)), "are not distinct"),
    "names of a record": (returning(Record("dataclass", "Out", ("a", "b"), THREE)), "has 2 names for 3 values"),
    "fields are identifiers": (
        returning(Record("dataclass", "Out", ("a", "b", "c=print()"), THREE)),
        "a field of Out in the result of block b2 is not a plain identifier",
    ),
    "fields are no keywords": (
        returning(Record("dataclass", "Out", ("a", "b", "import"), THREE)),
        "is not a plain identifier: 'import'",
    ),
    "fields are in normal form": (
        returning(Record("namedtuple", "Out", ("fi", "b", "\ufb01"), THREE)),
        "is not a plain identifier",
    ),
    "fields are not special": (
        returning(Record("dataclass", "Out", ("a", "b", "__class__"), THREE)),
        "starts with an underscore",
    ),
    "fields of a named tuple are public": (
        returning(Record("namedtuple", "Out", ("a", "b", "_c"), THREE)),
        "starts with an underscore",
    ),
    "type names are identifiers": (
        returning(Record("dataclass", "Out(object)", ("a", "b", "c"), THREE)),
        "is not a plain identifier",
    ),
    "signature is a call": (
        replace(GATED, signature=Items("tuple", (Slot(0, "tensor"),))),
        "is not a pair of positional arguments and keyword arguments",
    ),
    "signature uses every input": (
        replace(GATED, signature=call_of()),
        "does not use each of the 1 inputs exactly once",
    ),
    "signature uses inputs once": (
        replace(GATED, signature=call_of(Slot(0, "tensor"), Slot(0, "tensor"))),
        "does not use each of the 1 inputs exactly once",
    ),
    "signature's kinds": (
        replace(GATED, signature=call_of(Slot(0, "int"))),
        "the program's signature takes input 0 as int",
    ),
    "signature's names": (
        replace(GATED, signature=call_of(Slot(0, "tensor"), Named("torch.float32"))),
        "something that no argument can be matched with",
    ),
    "signature's objects": (
        replace(GATED, signature=call_of(Record("object", "Cache", ("x",), (Slot(0, "tensor"),)))),
        "something that no argument can be matched with",
    ),
    "backend": (
        replace(GATED, subnets={**GATED.subnets, "net0": replace(GATED.subnets["net0"], backend="../up")}),
        "sub-DNN net0 is for a backend of the unusual name",
    ),
    "rank": (with_input(TensorType("float32", (1,) * 17)), "has 17 dimensions, more than 16"),
    "dimension": (with_input(TensorType("float32", (-1,))), "has the dimension -1"),
    "symbolic dimension has a name": (with_input(TensorType("float32", ("",))), "is empty"),
    "element type": (with_input(TensorType("complex64", ())), "unknown element type"),  # type: ignore[arg-type]
    "host kind": (with_input(HostType("complex")), "unknown kind"),  # type: ignore[arg-type]
    "parameter names are identifiers": (replace(GATED, parameter_names=("x y",)), "is not a plain identifier"),
    "parameter names are distinct": (replace(GATED, parameter_names=("x", "x")), "are not distinct"),
    "names are printable": (replace(GATED, name="Gated\n"), "the program's name is empty, too long or not printable"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_is_named(rule: str) -> None:
    hcfg, message = RULES[rule]
    with pytest.raises(HcfgError, match=message):
        verify(hcfg)


def test_a_flag_of_one_element_may_decide() -> None:
    one = TensorType("bool", (1, 1))
    block = Block("b0", (Parameter("x", one),), (), Branch("x", Target("b1", ()), Target("b1", ()), span(1)), span(1))
    last = Block("b1", (), (), Return((), Static(None), span(2)), span(2))
    verify(Hcfg("One", call_of(Slot(0, "tensor")), block.parameters, "b0", {"b0": block, "b1": last}, {}))


def test_a_host_value_travels_as_a_0d_array() -> None:
    subnet = Subnet("net", (COUNT,), (FLAG,), "onnxruntime", "code", ())
    n = Parameter("n", HostType("int"))
    block = Block("b0", (n,), (Run("net", ("n",), ("f",), span(1)),), Jump(Target("b1", ("f",)), span(1)), span(1))
    last = Block("b1", (Parameter("f", HostType("bool")),), (), Return(("f",), Slot(0, "bool"), span(1)), span(1))
    verify(Hcfg("Host", call_of(Slot(0, "int")), (n,), "b0", {"b0": block, "b1": last}, {"net": subnet}))


def test_a_value_may_be_returned_twice() -> None:
    verify(returning(Items("tuple", (*THREE, Slot(0, "tensor")))))


def _sized(*rules: SizeRule) -> Hcfg:
    """A program that returns its input, whose first size the input decides."""
    x = Parameter("x", TensorType("float32", ("n", 3)))
    block = Block("b0", (x,), (), Return(("x",), Slot(0, "tensor"), span(2)), span(1))
    return Hcfg("Sized", call_of(Slot(0, "tensor")), (x,), "b0", {"b0": block}, {}, sizes=rules)


def test_rules_of_sizes_pass() -> None:
    verify(_sized())
    verify(_sized(SizeRule("n", 1, 8, "n")))
    verify(_sized(SizeRule("n", 0, 8, "half", 2, -1)))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([SizeRule("m", 1, 8, "m")], "the rule for the size 'm' is about no dimension of an input"),
        ([SizeRule("n", 1, 8, "n")] * 2, "the names of the size rules are not distinct"),
        ([SizeRule("n", 8, 1, "n")], "the rule for the size 'n' goes from 8 to 1"),
        ([SizeRule("n", -1, 1, "n")], "the rule for the size 'n' goes from -1 to 1"),
        ([SizeRule("n", 1, 8, "half", 0)], "the rule for the size 'n' is 0*half"),
        ([SizeRule("n", 1, 8, "n", 2)], "the rule for the size 'n' says that it is 2*n"),
        ([SizeRule("n", 1, 8, "")], "the root of the rule for the size 'n' is empty"),
    ],
)
def test_rules_of_sizes_are_refused(rules: list[SizeRule], message: str) -> None:
    with pytest.raises(HcfgError, match=re.escape(message)):
        verify(_sized(*rules))
