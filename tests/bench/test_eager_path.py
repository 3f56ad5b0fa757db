"""The tests that Python makes while a model runs."""

from pathlib import Path

import pytest
import torch

from dycl.bench.eager_path import eager_path
from tests.case_module import import_program

PROGRAM = f"""
def items(count):
    for item in range(count):  # 3
        yield item

def run(count, x):
    total = 0
    for item in items(count):  # 8
        if item % 2 and item != 1:  # 9
            total += 1
    while x > 0 and not total == 7:  # 11
        x = x - 1
    assert total >= 0  # 13
    match count:
        case 2:  # 15
            total = 9
        case _:
            total = 8
    chosen = x if x else total  # 19
    flags = not x, bool(x)
    either = x or total  # 21
    if not x:  # 22
        total += 1
    if 0 < x < 3:  # 24
        total += 2
    if x == 0:  # 26
        {"; ".join(f"total = total + {number} * count" for number in range(100))}
    return [item for item in range(count) if item or x]  # 28
"""
ITEMS = [(3, True), (8, True), (9, False), (3, True), (8, True), (9, True), (9, False), (3, False), (8, False)]


@pytest.mark.parametrize(
    ("value", "tests", "tensor_tests"),
    [
        (
            1.0,
            [(11, True), (11, False), (11, False), (13, True), (15, True), (19, False), (21, False), (22, False)]
            + [(24, False), (26, True), (28, True), (28, False), (28, False), (28, True), (28, True), (28, False)],
            [(11, True), (11, False), (19, False), (21, False), (22, False), (24, False), (26, True), (28, False)],
        ),
        (
            -1.0,
            [(11, False), (13, True), (15, True), (19, True), (21, True), (22, True)]
            + [(24, False), (26, False), (28, True), (28, False), (28, True), (28, True), (28, True), (28, False)],
            [(11, False), (19, True), (21, True), (22, True), (24, False), (26, False), (28, True)],
        ),
    ],
    ids=["to zero", "negative"],
)
def test_every_test_is_seen(
    value: float,
    tests: list[tuple[int, bool]],
    tensor_tests: list[tuple[int, bool]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_program(PROGRAM, tmp_path, monkeypatch)
    for _ in range(2):  # Python may treat code differently when it runs for the first time
        with torch.no_grad(), eager_path({str(module.__file__)}) as path:
            module.run(2, torch.tensor(value))
        assert [(place and place[1], outcome) for place, outcome in path.tests] == ITEMS + tests
        assert [(place and place[1], outcome) for place, outcome in path.tensor_tests] == tensor_tests
