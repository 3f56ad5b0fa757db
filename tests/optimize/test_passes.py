"""Each pass by its case files: the program above, the module before the pass and after it below.

`==== name` starts a case, `---- before` and `---- after` its expected halves; a pass that changes nothing has
`---- unchanged` in the place of the second. `make cases` writes them anew: look at the difference before you commit.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

import dycl
from dycl.backends import find_compiler
from dycl.compiler import called
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.module import Module, SubDnn
from dycl.hcfg.text import to_text
from dycl.hcfg.types import TensorType
from dycl.hcfg.verify_module import verify_module
from dycl.optimize.passes import Pass, Property
from dycl.optimize.pipeline import PASSES, PassError, chosen, optimize
from dycl.optimize.straighten import STRAIGHTEN
from dycl.rewrite import rewrite
from tests.case_module import import_program
from tests.comparison import assert_same

FOLDER = Path(__file__).parent / "cases"
_IMPORTS = "import torch\nfrom torch import nn\n\n\n"
_CASE = re.compile(r"^==== (?P<name>.+)\n(?P<program>(?:.*\n)*?)---- before\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One program and what a pass makes of it."""

    file: Path
    name: str
    program: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file.stem}-{self.name}".replace(" ", "_")

    @property
    def tested(self) -> Pass:
        return next(item for item in (*PASSES, STRAIGHTEN) if item.name == self.file.stem)


def _read(file: Path) -> list[Case]:
    text = file.read_text(encoding="utf-8")
    starts = list(_CASE.finditer(text))
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return [
        Case(file, match["name"], match["program"].strip() + "\n", text[match.end() : end].strip() + "\n")
        for match, end in zip(starts, ends, strict=True)
    ]


CASES = [case for file in sorted(FOLDER.glob("*.case")) for case in _read(file)]


def _rewritten(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Module:
    return rewrite(model, called(model, inputs, None, None, "forward"), find_compiler("onnxruntime").supports).module


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    program = import_program(_IMPORTS + case.program, tmp_path, monkeypatch)
    torch.manual_seed(0)
    model, inputs = program.Model().eval(), program.inputs()
    earlier = PASSES[: PASSES.index(case.tested)] if case.tested in PASSES else ()
    before = optimize(_rewritten(model, inputs), earlier)
    after = optimize(before, [case.tested])
    ending = "---- unchanged" if after == before else f"---- after\n{to_text(after)}"
    actual = f"{to_text(before)}\n{ending}".strip() + "\n"
    if request.config.getoption("--regenerate"):
        cases = [replace(item, expected=actual) if item.name == case.name else item for item in _read(case.file)]
        texts = [f"==== {item.name}\n{item.program}---- before\n{item.expected}" for item in cases]
        case.file.write_text("\n".join(texts), encoding="utf-8")
    else:
        assert actual == case.expected


def test_every_pass_has_a_case_that_it_changes_and_one_that_it_leaves_alone() -> None:
    changed = {case.file.stem: set[bool]() for case in CASES}
    for case in CASES:
        changed[case.file.stem].add("\n---- after\n" in case.expected)
    assert {item.name for item in (*PASSES, STRAIGHTEN)} == changed.keys()
    assert [name for name, kinds in changed.items() if len(kinds) < 2 and name != "straighten"] == []


class TwoExits(torch.nn.Module):
    """Decides once, and returns the same on both ways."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if x.sum() > 0:
            return y
        return y


def test_a_pass_is_switched_off_by_its_name() -> None:
    x = torch.ones(2)
    merged = dycl.compile(TwoExits().eval(), x)
    apart = dycl.compile(TwoExits().eval(), x, without=["merge_blocks"])
    assert (len(merged.hcfg.blocks), len(apart.hcfg.blocks)) == (2, 3)
    assert_same(merged(x), apart(x))


def test_an_unknown_pass_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no pass `drop_read`; the passes are: read_through, drop_unread"):
        dycl.compile(TwoExits().eval(), torch.ones(2), without=["drop_read"])


def test_two_passes_do_not_share_a_name() -> None:
    with pytest.raises(ValueError, match="two passes are called `drop_unread`"):
        chosen(more=[PASSES[1]])


def _broken(module: Module) -> Module:
    subnets = {
        name: SubDnn(replace(net.graph, operations=net.graph.operations[1:]), net.weights)
        for name, net in module.subnets.items()
    }
    return replace(module, subnets=subnets)


def test_a_pass_that_breaks_the_program_is_named() -> None:
    with pytest.raises(PassError, match=r"after the pass `breaks` the program is not well formed: sub-DNN net0 gives"):
        dycl.compile(TwoExits().eval(), torch.ones(2), passes=[Pass("breaks", "breaks it", _broken)])


def test_what_a_pass_requires_and_ensures_is_checked() -> None:
    never = Property("the moon is green", lambda module: "it is not")
    wants = Pass("wants", "", lambda module: module, requires=(never,))
    says = Pass("says", "", lambda module: module, ensures=(never,))
    for item, verb in ((wants, "requires"), (says, "should ensure")):
        with pytest.raises(PassError, match=f"the pass `{item.name}` {verb} that the moon is green"):
            dycl.compile(TwoExits().eval(), torch.ones(2), passes=[item])


def test_a_path_cannot_be_straightened_while_it_decides() -> None:
    with pytest.raises(PassError, match=r"line of blocks that ends in a result: b0 ends in a Branch"):
        optimize(_rewritten(TwoExits().eval(), (torch.ones(2),)), [STRAIGHTEN])


def test_the_verifier_looks_inside_sub_dnns() -> None:
    module = _rewritten(TwoExits().eval(), (torch.ones(2),))
    (name, net), *_ = module.subnets.items()
    graph = net.graph
    broken = {
        r"defines %1 twice": replace(graph, operations=(graph.operations[0], *graph.operations)),
        r"uses %\d+ in aten\.\S+ before it is defined": replace(graph, operations=graph.operations[::-1]),
        r"gives out %1, which nothing in it defines": replace(graph, operations=graph.operations[1:]),
        r"defines %1, which has no type": replace(graph, types=graph.types[:1]),
        r"value %0 of sub-DNN net0 has the dimension -1": replace(
            graph, types=(TensorType("float32", (-1,)), *graph.types[1:])
        ),
    }
    for message, changed in broken.items():
        with pytest.raises(HcfgError, match=message):
            verify_module(replace(module, subnets={**module.subnets, name: SubDnn(changed, net.weights)}))


def test_the_verifier_compares_weights_with_constants() -> None:
    module = _rewritten(torch.nn.Linear(2, 3).eval(), (torch.ones(1, 2),))
    for message, constants in (
        (r"takes weight as float32\[3, 2\], but it is float32\[2, 3\]", {"weight": TensorType("float32", (2, 3))}),
        (r"takes weight as float32\[3, 2\], but it is float64\[3, 2\]", {"weight": TensorType("float64", (3, 2))}),
    ):
        with pytest.raises(HcfgError, match=message):
            verify_module(replace(module, constants={**module.constants, **constants}))
