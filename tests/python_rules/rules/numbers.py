"""Numbers as keys, in containers and in comparisons: what equals, and what is the same."""

from typing import Any

import numpy as np
from torch import Tensor

from tests.python_rules.rule import refused


def whole_number_finds_a_float_key(x: Tensor) -> Any:
    table = {1.0: "a", 2.5: "b", -1: "c"}
    number = int(x[0])
    found = table[number] if number in table else "none"
    return found, table.get(number, "none"), table.get(bool(x[1] > 0), "none")


def float_finds_float_keys(x: Tensor) -> Any:
    table = {1.5: "a", 0.5: "b", 3: "c", float("inf"): "d", 2**53 + 1: "e"}
    half = x[0].item() / 2
    return table.get(half, "none"), table.get(half * 2), half in table, (half * 2.0) not in table


def whole_number_finds_the_key_of_another_kind(x: Tensor) -> Any:
    table: dict[Any, str] = {np.int64(3): "a", True: "b", complex(-1, 0): "c", "3": "d", None: "e"}
    return table.get(int(x[0]), "none"), table.get(int(x[1]))


def key_stays_what_it_is_where_the_dict_has_another_kind(x: Tensor) -> Any:
    table = {1.0: 5, 3.0: 6, -1.0: 7}
    number = int(x[0])
    table[number] += 1
    return number, list(table.values())


@refused("DY008")
def float_must_find_a_key(x: Tensor) -> Any:
    return {1.0: "a", 3.0: "b"}[x[0].item()]
