"""What a row of the table is: a model that uses one construct, and what becomes of it.

A group is a module, and its docstring the text above its table. A row is a class with one of the decorators below. The
lines at which a refused model is refused carry the identifier as a comment: `text = str(v)  # DY001`.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

WIDTH = 3


class Base(nn.Module):
    """Three linear layers to choose between. `paths` is how many ways the inputs go at least, `notes` how many notes
    `dycl.explain` has.
    """

    paths = 2
    dynamic_shapes: Any = None
    in_training = False
    notes = 0
    construct: "Construct"

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(WIDTH, WIDTH)
        self.b = nn.Linear(WIDTH, WIDTH)
        self.c = nn.Linear(WIDTH, WIDTH)
        self.layers = nn.ModuleList([self.a, self.b, self.c])

    @staticmethod
    def inputs(generator: torch.Generator) -> tuple[Any, ...]:
        """The arguments of one call."""
        return (torch.randn(WIDTH, generator=generator),)

    @staticmethod
    def expected(result: Any) -> Any:
        """What a program returns where eager PyTorch returns `result`."""
        return result

    @staticmethod
    def beyond() -> tuple[Any, ...] | None:
        """The arguments of a call that leaves the limits of a bounded construct, and therefore fails."""
        return None


Status = Literal["supported", "bounded", "refused"]


@dataclass(frozen=True)
class Construct:
    """A row: `name` and `remark` are Markdown."""

    model: Any
    status: Status
    name: str
    remark: str

    def __str__(self) -> str:
        return f"{self.model.__module__.rpartition('.')[2]}-{self.model.__name__}"

    @property
    def refusals(self) -> list[tuple[str, int]]:
        """The identifiers in the model's comments, and the lines of its module that they stand in."""
        lines, first = inspect.getsourcelines(self.model)
        found = [(number, re.search(r"  # (DY\d{3})$", line.rstrip())) for number, line in enumerate(lines, first)]
        return [(match[1], number) for number, match in found if match is not None]


_Decorator = Callable[[type[Base]], type[Base]]


def supported(name: str, remark: str = "") -> _Decorator:
    """The model does what eager PyTorch does."""
    return _row("supported", name, remark)


def bounded(name: str, limit: str) -> _Decorator:
    """The model does what eager PyTorch does, within a limit."""
    return _row("bounded", name, limit)


def refused(name: str, instead: str = "") -> _Decorator:
    """The model is refused while compiling."""
    return _row("refused", name, instead)


def _row(status: Status, name: str, remark: str) -> _Decorator:
    def marked(model: type[Base]) -> type[Base]:
        model.construct = Construct(model, status, name, remark)
        return model

    return marked
