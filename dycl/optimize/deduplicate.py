"""Let equal sub-DNNs be one: those of the same operations on the same constants, wherever in the source they stand.

before                                  after
  b1: y = run net1(x)                     b1: y = run net0(x)
  b2: y = run net2(x)                     b2: y = run net0(x)
  net1: linear(x, w); net2: linear(x, w)  net0: linear(x, w)
"""

from dataclasses import replace

from dycl.hcfg.module import Module, SubDnn
from dycl.hcfg.nodes import Run, Step, SubnetId, WeightId
from dycl.hcfg.subnet import structure
from dycl.optimize.passes import Pass, Property


def deduplicate(module: Module) -> Module:
    """The same program, in which no two sub-DNNs are equal; they are numbered anew."""
    known: dict[tuple[str, tuple[WeightId, ...]], SubnetId] = {}
    stands_for: dict[SubnetId, SubnetId] = {}
    kept: dict[SubnetId, SubDnn] = {}
    for name, subnet in module.subnets.items():
        stands_for[name] = known.setdefault(_key(subnet), f"net{len(known)}")
        kept.setdefault(stands_for[name], subnet)

    def renamed(step: Step) -> Step:
        return replace(step, subnet=stands_for[step.subnet]) if isinstance(step, Run) else step

    blocks = {name: replace(block, steps=tuple(map(renamed, block.steps))) for name, block in module.blocks.items()}
    return replace(module, blocks=blocks, subnets=kept)


def _key(subnet: SubDnn) -> tuple[str, tuple[WeightId, ...]]:
    return structure(subnet.graph), subnet.weights


def _first_pair(module: Module) -> str | None:
    seen: dict[tuple[str, tuple[WeightId, ...]], SubnetId] = {}
    for name, subnet in module.subnets.items():
        other = seen.setdefault(_key(subnet), name)
        if other != name:
            return f"{other} and {name} are equal"
    return None


DISTINCT_SUBNETS = Property("no two sub-DNNs are equal", _first_pair)
DEDUPLICATE = Pass(
    "deduplicate",
    "equal sub-DNNs become one",
    deduplicate,
    ensures=(DISTINCT_SUBNETS,),
)
