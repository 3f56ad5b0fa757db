"""The modules of a model as they were before the call: their attributes, their tables, their tensors."""

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from dycl.rewrite.model_parts import require_python
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.heap.tally import Tally

TABLES = ("_parameters", "_buffers", "_modules")
INTERNALS = frozenset(vars(nn.Module())) - {"training"}
"""What PyTorch keeps in every module for itself."""


class Modules:
    """Modules, each with what it was made of."""

    def __init__(self) -> None:
        self.all: dict[int, nn.Module] = {}
        self.attributes: dict[int, dict[str, Any]] = {}
        """What stood in each module's `__dict__`."""
        self.tables: dict[int, dict[str, dict[str, Any]]] = {}
        """What stood in each module's tables of parameters, buffers and modules."""
        self._own: dict[int, dict[str, Any]] = {}
        self._tensors: dict[int, tuple[torch.Tensor, bool, torch.Tensor]] = {}
        self._tally: Tally | None = None

    def add(self, module: nn.Module) -> None:
        """Take note of a module."""
        require_python(module)
        number, own = id(module), vars(module)
        self.all[number] = module
        self._own[number] = own
        self.attributes[number] = dict(own)
        self.tables[number] = {table: dict(own[table]) for table in TABLES}
        for tensor in (*own["_parameters"].values(), *own["_buffers"].values()):
            if tensor is not None and tensor.layout is torch.strided:
                self._tensors[id(tensor)] = (tensor, tensor.requires_grad, tensor.data)
        self._tally = None

    def require_unheld(self, module: nn.Module, name: str, tables: Sequence[str] = TABLES) -> None:
        """Refuse an attribute in a module's `__dict__` beside one of the same name in one of these tables."""
        if any(name in self.tables[id(module)][table] for table in tables):
            raise Refused("DY007", f"a second attribute of the name `{name}` is put beside the first")

    def has_own_dict(self, module: nn.Module) -> bool:
        """Whether a module's `__dict__` is still the one that it had."""
        return raw(module) is self._own[id(module)]

    def replace_dict(self, module: nn.Module, replacement: dict[str, Any]) -> None:
        """Let a module have another `__dict__` until `restore`."""
        object.__setattr__(module, "__dict__", replacement)
        self._tally = None

    @property
    def is_quiet(self) -> bool:
        """Whether all modules have what they had, apart from attributes of those with another `__dict__`."""
        if self._tally is None:
            own = [number for number, module in self.all.items() if self.has_own_dict(module)]
            attributes = [(self._own[number], self.attributes[number]) for number in own]
            tables = [
                (self.attributes[number][table], before)
                for number, tables in self.tables.items()
                for table, before in tables.items()
            ]
            tensors = [(tensor, grad, data.data_ptr()) for tensor, grad, data in self._tensors.values()]
            self._tally = Tally([*attributes, *tables], tensors)
        return self._tally.holds()

    def changed(self) -> str | None:
        """What has changed of that which must not, in words; attributes and buffers are looked at elsewhere."""
        if self.is_quiet:
            return None
        for number, module in self.all.items():
            for table, before in self.tables[number].items():
                if not has_same_entries(self.attributes[number][table], before):
                    return f"the {table[1:]} of a `{type(module).__name__}`"
        for tensor, requires_grad, data in self._tensors.values():
            if tensor.requires_grad != requires_grad:
                return "whether a tensor of the model requires derivatives"
            if tensor.data_ptr() != data.data_ptr():
                return "the memory of a tensor of the model"
        return None

    def undo(self) -> None:
        """Undo changes of tables and tensors."""
        for number, tables in self.tables.items():
            for table, before in tables.items():
                _refill(self.attributes[number][table], before)
        for tensor, requires_grad, data in self._tensors.values():
            if tensor.data_ptr() != data.data_ptr():
                tensor.data = data
            if tensor.requires_grad != requires_grad:
                tensor.requires_grad_(requires_grad)

    def restore(self) -> None:
        """Give every module what it had."""
        for number, module in self.all.items():
            if not self.has_own_dict(module):
                object.__setattr__(module, "__dict__", self._own[number])
            _refill(self._own[number], self.attributes[number])
        self.undo()

    def tensors(self) -> Iterator[tuple[nn.Module, str, torch.Tensor]]:
        """Every tensor that hangs on a module now, with its name there."""
        for module in self.all.values():
            own = raw(module)
            for table in (own, own["_buffers"], own["_parameters"]):
                for name, value in dict.items(table):
                    if isinstance(value, torch.Tensor):
                        yield module, name, value


def raw(module: nn.Module) -> dict[str, Any]:
    """What Python finds in a module without asking anybody: to be used by the methods of `dict` itself."""
    return vars(module)


def has_same_entries(now: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a dict has exactly these entries, in this order."""
    return list(dict.keys(now)) == list(before) and all(map(operator.is_, dict.values(now), before.values()))


def _refill(table: dict[str, Any], before: dict[str, Any]) -> None:
    if not has_same_entries(table, before):
        table.clear()
        table.update(before)


def named_by_user(cls: type) -> set[str]:
    """The names that a module's class and those between it and PyTorch's `Module` define."""
    return {name for base in cls.__mro__[: cls.__mro__.index(nn.Module)] for name in vars(base)}
