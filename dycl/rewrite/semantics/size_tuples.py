"""What tuples of sizes mean where only the input determines some of them: `x.shape == y.shape`, `x.shape.numel()`."""

import math
import operator
from typing import Any

import torch

from dycl.rewrite.record.host_values import HostValue, kind_of, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, has_plain, is_dynamic


def has_dynamic(value: Any, machine: Running) -> bool:
    """Whether this is a list or tuple with an item that only the input determines."""
    return isinstance(value, list | tuple) and any(is_dynamic(item, machine) for item in value)


def same(wanted: bool) -> Handler:
    """The handler of `==`, or `!=` if not `wanted`, of two tuples."""

    def same_items(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        left, right = args
        method = "__eq__" if wanted else "__ne__"
        tuples = all(has_plain(value, method, (torch.Size, tuple)) for value in (left, right))
        if not tuples or not (has_dynamic(left, machine) or has_dynamic(right, machine)):
            return NOT_HANDLED
        pairs = [(machine.number(one), machine.number(other)) for one, other in zip(left, right, strict=False)]
        if any(kind_of(item) is None for pair in pairs for item in pair):
            return NOT_HANDLED
        flag: Any = lift(len(left) == len(right), "bool", machine.recorder)
        for one, other in pairs:
            if one is other:
                continue  # also if it is not a number, which does not equal itself
            known = not isinstance(one, HostValue) and not isinstance(other, HostValue)
            if len(left) != len(right) or (known and one != other):
                return not wanted
            flag = flag if known else flag & (one == other)
        return flag if wanted else HostValue("bool", torch.logical_not(flag.tensor), machine.recorder)

    return same_items


def count(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x.shape.numel()`."""
    (sizes,) = args
    return math.prod(map(machine.number, sizes)) if has_dynamic(sizes, machine) else NOT_HANDLED


HANDLERS: dict[Any, Handler] = {operator.eq: same(True), operator.ne: same(False)}
