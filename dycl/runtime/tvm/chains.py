"""The elementwise operations of a group as a chain, and what it reads besides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dycl.runtime.tvm.code import Net, Step
from dycl.runtime.tvm.kernels.expressions import Applied, Chain


@dataclass(frozen=True, slots=True)
class Norm:
    """What a normalisation multiplies each channel with, or adds to it."""

    step: int
    part: str


Other = int | Norm


def chain_of(net: Net, steps: Sequence[Step], head: int | None) -> tuple[Chain, list[Other]]:
    """The chain of these steps, which starts with the value `head` if that is computed just before; and its others."""
    constants = {step.result: step for step in net.steps if step.kind == "constant"}
    inside = {step.result for step in steps} | ({head} if head is not None else set())
    others: list[Other] = []
    for step in steps:
        for other in _read(step):
            if other not in others and other not in inside and other not in constants:
                others.append(other)
    first = 0 if head is None else 1
    places: dict[Other, int] = {other: first + place for place, other in enumerate(others)}
    if head is not None:
        places[head] = 0
    given = first + len(others)
    applied: list[Applied] = []

    def add(kind: str, operands: Sequence[int], attributes: Mapping[str, object], dtype: str) -> int:
        applied.append(Applied(kind, tuple(operands), tuple(sorted(attributes.items())), dtype))
        return given + len(applied) - 1

    for step in steps:
        dtype = net.tensors[step.result].dtype
        for operand in step.operands:
            if operand in constants and operand not in places:
                told = constants[operand].attributes
                places[operand] = add("constant", (), told, told["dtype"])
        if step.kind == "batch_norm":
            scaled = add("mul", (places[step.operands[0]], places[Norm(step.result, "scale")]), {}, dtype)
            places[step.result] = add("add", (scaled, places[Norm(step.result, "shift")]), {}, dtype)
        else:
            operands = [places[operand] for operand in step.operands]
            places[step.result] = add(step.kind, operands, step.attributes, dtype)
    last = net.tensors[steps[-1].result if steps else head if head is not None else 0]
    return Chain(given, last.dtype, tuple(applied)), others


def _read(step: Step) -> Sequence[Other]:
    if step.kind == "batch_norm":
        return step.operands[0], Norm(step.result, "scale"), Norm(step.result, "shift")
    return step.operands
