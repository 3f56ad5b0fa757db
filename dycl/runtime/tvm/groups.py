"""Which operations one kernel does together: one that takes a tail, and the elementwise operations behind it."""

from collections import Counter
from dataclasses import dataclass

from dycl.runtime.tvm.code import Net, Step
from dycl.runtime.tvm.kinds import KINDS

WITH_TAIL = frozenset(("conv2d", "linear", "matmul", "max_pool", "avg_pool", "resize"))
_MOST_TAIL = 32


@dataclass(frozen=True, slots=True)
class Group:
    """A first operation and those that follow on its result, which nobody else reads; `last` is the result of all."""

    head: Step
    tail: tuple[Step, ...]

    @property
    def last(self) -> int:
        """The value that is left at the end."""
        return self.tail[-1].result if self.tail else self.head.result


def is_elementwise(step: Step) -> bool:
    """Whether each element of the result depends on one of each operand."""
    return KINDS[step.kind].elementwise or step.kind == "batch_norm"


def grouped(net: Net) -> list[Group]:
    """The groups, in an order in which each one finds what it reads. Constants are left to those that read them."""
    needed = _needed(net)
    steps = [step for step in net.steps if step.result in needed]
    uses = Counter(operand for step in steps for operand in step.operands)
    uses.update(net.outputs)
    readers = {operand: step for step in steps for operand in step.operands}
    constants = {step.result for step in steps if step.kind == "constant"}
    absorbed: set[int] = set()
    groups = []
    for step in steps:
        if step.result in absorbed or (step.kind == "constant" and step.result not in net.outputs):
            continue
        tail: list[Step] = []
        if step.kind in WITH_TAIL or is_elementwise(step):
            tail = _tail(net, step, uses, readers, constants, absorbed)
            absorbed.update(item.result for item in tail)
        groups.append(Group(step, tuple(tail)))
    return sorted(groups, key=lambda group: group.last)


def _needed(net: Net) -> set[int]:
    """The results that outputs depend on."""
    needed = set(net.outputs)
    for step in reversed(net.steps):
        if step.result in needed:
            needed.update(step.operands)
    return needed


def _tail(
    net: Net, head: Step, uses: Counter[int], readers: dict[int, Step], constants: set[int], taken: set[int]
) -> list[Step]:
    """The elementwise operations behind `head` that no other group has taken."""
    tail: list[Step] = []
    value = head.result
    while uses[value] == 1 and value in readers and len(tail) < _MOST_TAIL:
        reader = readers[value]
        if reader.result in taken:
            break
        tensors = [net.tensors[operand] for operand in reader.operands if operand not in constants]
        fits = is_elementwise(reader) and net.tensors[reader.result].shape == net.tensors[value].shape
        if head.kind in WITH_TAIL:
            fits = fits and all(told.dtype == "float32" for told in (*tensors, net.tensors[reader.result]))
        if not fits:
            break
        tail.append(reader)
        value = reader.result
    return tail
