"""What an index means where there is nothing to find: as in PyTorch, operation by operation."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import dycl
from dycl.runtime.errors import ModelError
from tests.comparison import CallsWithTwo, assert_same, outcome_of

Snippet = Callable[[Tensor, Tensor], Any]

SNIPPETS: dict[str, Snippet] = {
    "index": lambda x, i: x[i],
    "second axis": lambda x, i: x[:, i],
    "two indices": lambda x, i: x[i, i],
    "index_put": lambda x, i: x.index_put((i,), torch.tensor(1.0)),
    "embedding": lambda x, i: F.embedding(i, x),
    "index_select": lambda x, i: x.index_select(0, i),
    "index_select of columns": lambda x, i: x.index_select(1, i),
    "index_fill": lambda x, i: x.index_fill(0, i, 1.0),
    "index_add": lambda x, i: x.index_add(0, i, torch.ones(1, x.shape[1])),
    "index_add of columns": lambda x, i: x.index_add(1, i, torch.ones(x.shape[0], 1)),
    "index_copy": lambda x, i: x.index_copy(0, i, torch.ones(1, x.shape[1])),
    "numbers": lambda x, i: x[:, 0].index_add(0, i, torch.ones(1)) if x.shape[1] else x,
}
OPEN = ({0: torch.export.Dim("rows", min=0), 1: torch.export.Dim("columns", min=0)}, None)
NUMBERS = (0, -1, 2, 7, -9)
SHAPES = ((3, 2), (0, 2), (3, 0), (0, 0), (1, 1))


def _assert_like_eager(snippet: Snippet, program: dycl.Program, x: Tensor) -> None:
    for number in NUMBERS:
        index = torch.tensor([number])
        expected = outcome_of(snippet, x, index)
        if isinstance(expected, Tensor):
            assert_same(expected, program(x, index))
        else:
            # Of no rows at all ONNX Runtime may be the first to complain.
            with pytest.raises((expected, ModelError)):
                program(x, index)


@pytest.mark.parametrize("name", SNIPPETS)
def test_open_sizes(name: str) -> None:
    """Rows and columns may both be none."""
    model = CallsWithTwo(SNIPPETS[name]).eval()
    program = dycl.compile(model, (torch.ones(3, 2), torch.tensor([1])), dynamic_shapes=OPEN)
    for shape in SHAPES:
        _assert_like_eager(SNIPPETS[name], program, torch.ones(shape))


@pytest.mark.parametrize("name", ["index", "index_put", "index_add", "index_fill", "index_copy"])
def test_known_sizes(name: str) -> None:
    """No index is looked at where parts have no elements."""
    program = dycl.compile(CallsWithTwo(SNIPPETS[name]).eval(), (torch.ones(3, 0), torch.tensor([1])))
    _assert_like_eager(SNIPPETS[name], program, torch.ones(3, 0))


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_way_that_a_handler_takes(name: str) -> None:
    """Errors are of PyTorch's classes, and an index that nobody looks at is none that a `try` could catch."""
    snippet = SNIPPETS[name]

    def caught(x: Tensor, index: Tensor) -> Any:
        try:
            found = snippet(x, index)
        except IndexError:
            return x, 1
        except RuntimeError:
            return x, 2
        return found, 0

    program = dycl.compile(CallsWithTwo(caught).eval(), (torch.ones(3, 2), torch.tensor([1])), dynamic_shapes=OPEN)
    for shape, number in itertools.product(SHAPES, NUMBERS):
        x, index = torch.ones(shape), torch.tensor([number])
        assert_same(caught(x, index), program(x, index))
