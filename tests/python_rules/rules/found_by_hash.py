"""Sets and dicts look for what has the same hash: a tensor is found there only by itself, in lists by what it holds."""

from typing import Any

from torch import Tensor


def tensors_in_sets(x: Tensor) -> Any:
    double = x * 2
    seen = {double}
    if x.sum() > 0:
        x = x + 1
    return double in seen, x in seen, double not in seen, 1 in seen, x + 1


def tensors_among_numbers(x: Tensor) -> Any:
    total = x.sum()
    in_lists = total in [2.0, 5.0], total in (2.0,), total in {1: 2.0}.values(), [2.0, 5.0].count(total)
    in_sets = total in {2.0, 5.0}, total in frozenset([2.0]), total in {2.0: 1}, total in {2.0: 1}.keys()
    return in_lists, in_sets, total.item() in {2.0, 5.0}, 2.0 in {total}, len({total, 2.0})


def tensors_as_keys(x: Tensor) -> Any:
    total, known = x.sum(), {2.0: "two", 5.0: "five"}
    try:
        found = known[total]  # type: ignore[index]
    except KeyError:
        found = "none"
    return known.get(total, "none"), found  # type: ignore[call-overload]
