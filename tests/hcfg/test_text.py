"""The text form shows a graph as a person reads it."""

from dycl.hcfg.nodes import Block, Fail, Hcfg, Jump, Let, Literal, Return, Target
from dycl.hcfg.structure import Items, Record, Slot, Static, Table
from dycl.hcfg.text import to_text
from tests.hand_built import call_of, counting_loop, gated, routed, span

GATED = """\
hcfg Gated(x: float32[2, 3])
  call ((x,), {})
  weights 1, sub-DNNs 3, entry b0

b0(x: float32[2, 3]):                                   # net.py:12
  flag, copy = run net0(x)                              # net.py:13:9
  branch flag ? b1(copy) : b2(x)                        # net.py:14:12

b1(y: float32[2, 3]):                                   # net.py:15
  scaled = run net1(y)                                  # net.py:15:9
  return scaled                                         # net.py:15:9

b2(y: float32[2, 3]):                                   # net.py:16
  negated = run net2(y)                                 # net.py:16:9
  why = weight scale                                    # net.py:17:9
  count = 7                                             # net.py:18:9
  return {'row': negated, 'why': why, 'count': int(count)}  # net.py:19:9

net0(float32[2, 3]) -> bool[], float32[2, 3]
net1(float32[2, 3]) with scale -> float32[2, 3]
net2(float32[2, 3]) -> float32[2, 3]
"""

ROUTED = """\
hcfg Routed(which: int, ready: bool, first: float, second: float)
  call ((int(which), bool(ready), float(first), float(second)), {})
  weights 0, sub-DNNs 0, entry b0

b0(which: int, ready: bool, first: float, second: float):  # net.py:7
  check ready else AssertionError('not ready')          # net.py:7:9
  switch which                                          # net.py:8:9
    0: b1(first)
    1: b2(second)
    else: IndexError('list index out of range')

b1(value: float):                                       # net.py:8
  jump b3(value)                                        # net.py:8:9

b2(value: float):                                       # net.py:8
  jump b3(value)                                        # net.py:8:9

b3(value: float):                                       # net.py:9
  return [float(value)]                                 # net.py:9:9
"""


def test_branches_runs_and_constants() -> None:
    assert to_text(gated().hcfg) == GATED


def test_checks_and_switches() -> None:
    assert to_text(routed().hcfg) == ROUTED


def test_keyword_inputs_and_back_edges() -> None:
    text = to_text(counting_loop().hcfg)
    assert "  call ((), {'n': int(n)})" in text
    assert "  branch flag ? b1(less, more) : b2(more, less)" in text


def test_failures_and_every_structure() -> None:
    structure = Items(
        "tuple",
        (
            Record("namedtuple", "Pair", ("left", "right"), (Slot(0, "float"), Static(None))),
            Table("pkg.Output", ("loss",), (Static("none"),)),
            Items("list", ()),
        ),
    )
    blocks = [
        Block("b0", (), (Let("half", Literal(0.5), span(2)),), Jump(Target("b1", ()), span(2)), span(1)),
        Block("b1", (), (), Fail("ValueError", "bad 'input'", span(3)), span(3)),
        Block("b2", (), (Let("half", Literal(0.5), span(4)),), Return(("half",), structure, span(4)), span(4)),
    ]
    text = to_text(Hcfg("Failing", call_of(), (), "b0", {block.id: block for block in blocks}, {}))
    assert "  half = 0.5 " in text
    assert "  jump b1() " in text
    assert """  fail ValueError("bad 'input'") """ in text
    assert "  return (Pair(left=float(half), right=None), pkg.Output({'loss': 'none'}), [])" in text
