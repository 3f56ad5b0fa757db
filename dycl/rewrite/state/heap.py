"""The model's own mutable state during a call: attributes that the program sets, containers that it changes.

The user's model must come out of a compilation as it went in. So while the machine runs, an attribute that the
program sets on a module goes to a table instead, reads of it come from there, and containers that hang on modules are
compared with a copy. Both are part of the machine's state; `restore` puts everything back.

An attribute that is read before it is set carries state from one call to the next, and so do a container that a call
leaves changed and a tensor of the model that is written in place. Such state is kept: where the program returns, it is
frozen, and the next call is continued from there.
"""

import builtins
import collections
import contextvars
import decimal
import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.knowledge import Adopted, ChangedContainers, Kept, Knowledge, ReadLater, Written
from dycl.rewrite.own_thread import is_compiling
from dycl.rewrite.record.aliases import memory
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.contents import (
    ITERATORS,
    contents_of,
    fill,
    freeze_contents,
    is_same,
    iterator_state,
    mapped,
    same_contents,
    thaw_contents,
    values_of,
)
from dycl.rewrite.state.diversion import ABSENT, diverted
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.skeleton import Pinned
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import AttributeNode, HeapNode

Key = tuple[int, str]
# A larger container is a table, such as a vocabulary, that no program changes during a call.
_MOST_CONTENTS = 10_000
_MISSING = object()


class Heap:
    """Attributes and containers of the modules under `model`, as the program has changed them so far."""

    def __init__(self, model: nn.Module, pinned: Pinned, recorder: Recorder, knowledge: Knowledge) -> None:
        self.pinned = pinned
        self.recorder = recorder
        self.knowledge = knowledge
        recorder.keep_tensor = self.keep_tensor
        self._written: dict[int, torch.Tensor] = {}
        self._table: dict[Key, Any] = {}
        self._set_in_call: set[Key] = set()
        self._initial: dict[Key, Any] = {}
        self._hidden: dict[tuple[type, str], Any] = {}
        self._from_class: set[Key] = set()
        self._modules: dict[int, nn.Module] = {}
        self._containers: list[tuple[Any, Any]] = []
        self._classes: dict[type, dict[str, Any]] = {}
        self._iterators: list[tuple[str, Any, str]] = []
        self._at_start: list[Any] = []
        self._context = contextvars.copy_context()
        self._names: list[str] = []
        self._watched: set[int] = set()
        self._snapshot: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._tensors: list[tuple[torch.Tensor, bool, torch.Tensor]] = []
        self._watch_module(model)

    def _watch_module(self, model: nn.Module) -> None:
        """Take note of a module and all below it: what hangs on them, and how to put them back."""
        for module in model.modules():
            if id(module) in self._modules:
                continue
            self._modules[id(module)] = module
            self.pinned.add(module)
            internals = [value for name, value in vars(module).items() if name in _MODULE_INTERNALS]
            tables = [vars(module), *(value for value in internals if isinstance(value, dict))]
            self._snapshot.extend((table, dict(table)) for table in tables)
            for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
                if tensor.layout is not torch.strided:
                    continue
                self._tensors.append((tensor, tensor.requires_grad, tensor.data))
            if type(module).__module__.startswith("torch.nn"):
                continue
            for name, value in vars(module).items():
                if name not in _MODULE_INTERNALS:
                    self.watch(value, f"{type(module).__name__}.{name}")
            for cls in type(module).__mro__:
                if not cls.__module__.startswith("torch") and cls is not object:
                    self._classes[cls] = {name: value for name, value in vars(cls).items() if not callable(value)}
                    for name, value in vars(cls).items():
                        if isinstance(value, list | dict | set | collections.deque):
                            self.watch(value, f"{cls.__name__}.{name}")

    def watch(self, value: Any, name: str) -> None:
        """Take note of a container or plain object that existed before the call, and of all below it."""
        if id(value) in self._watched or isinstance(value, type) or value is vars(builtins):
            return
        self._watched.add(id(value))
        if isinstance(value, nn.Module):
            self._watch_module(value)
            return
        if isinstance(value, ITERATORS):
            self._iterators.append((name, value, str(iterator_state(value))))
        contents = contents_of(value)
        if contents is not None:
            self.pinned.add(value)
            if len(contents) > _MOST_CONTENTS:
                return
            self._containers.append((value, contents))
            self._at_start.append(contents)
            self._names.append(name)
        inside = contents if contents is not None else value if isinstance(value, tuple) else ()
        for item in inside.values() if isinstance(inside, dict) else inside:
            self.watch(item, name)

    @property
    def keeps_state(self) -> bool:
        """Whether a call can change what later calls do."""
        return bool(self.knowledge.of(Kept, Written, ChangedContainers))

    @property
    def _kept(self) -> set[Key]:
        return {(fact.owner, fact.name) for fact in self.knowledge.of(Kept)}

    @contextmanager
    def active(self) -> Iterator[None]:
        """Divert attribute access on modules to this heap; on the way out the model is as it was."""
        with diverted(self):
            try:
                yield
            finally:
                self.restore()

    def holds(self, module: nn.Module) -> bool:
        """Whether a module belongs to the model, or was met while it ran."""
        return id(module) in self._modules

    def find(self, module: nn.Module, name: str) -> Any:
        """An attribute that this heap has taken over; `ABSENT` if it is none."""
        key = (id(module), name)
        if key in self._initial:
            return self.get(module, key) if is_compiling() else self.first(module, key)
        hidden = [cls for cls in type(module).__mro__ if (cls, name) in self._hidden]
        return self._hidden[hidden[0], name] if hidden else ABSENT

    def first(self, module: nn.Module, key: Key) -> Any:
        """An attribute as it was before the compilation, and is for everybody else."""
        value = self._initial[key]
        if value is _MISSING:
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{key[1]}'")
        return value

    def leaked(self) -> str | None:
        """The name of an attribute that the program set behind PyTorch's back to a value that the input determines."""
        for table, before in self._snapshot:
            for name, value in table.items():
                if before.get(name, _MISSING) is not value and isinstance(value, FakeTensor | HostValue):
                    return str(name)
        return None

    def restore(self) -> None:
        """Give every module and container the contents it had before the call."""
        for (cls, name), value in self._hidden.items():
            setattr(cls, name, value)
        for key, value in self._initial.items():
            module = self.pinned[key[0]]
            if value is not _MISSING and key[1] not in module._buffers and key not in self._from_class:
                vars(module)[key[1]] = value
        for container, contents in self._containers:
            if isinstance(container, dict) and FakeTensor not in contents:
                container.pop(FakeTensor, None)
            fill(container, contents)
        for table, before in self._snapshot:
            fill(table, before)
        for tensor, requires_grad, data in self._tensors:
            if tensor.data_ptr() != data.data_ptr():
                tensor.data = data
            if tensor.requires_grad != requires_grad:
                tensor.requires_grad_(requires_grad)

    def begin(self) -> None:
        """Start a call: every attribute has its first value, every container its first contents."""
        copies: dict[int, torch.Tensor] = {}

        def first(value: Any) -> Any:
            """A first value; a tensor that is state stands for itself no longer."""
            if id(value) not in self._written:
                return value
            if id(value) not in copies:
                copies[id(value)] = value.detach().clone()
                self.recorder.own(copies[id(value)])
            return copies[id(value)]

        self._table = {key: first(value) for key, value in self._initial.items() if value is not _MISSING}
        self._set_in_call = set(self._kept)
        for key in self._initial:
            vars(self.pinned[key[0]]).pop(key[1], None)
        self._at_start = [mapped(contents, first) for _, contents in self._containers]
        for (container, _), contents in zip(self._containers, self._at_start, strict=True):
            fill(container, contents)

    def keep_tensor(self, tensor: torch.Tensor) -> None:
        """Make a tensor that the program writes in place part of its state, if it hangs on the model."""
        held = [
            (module, name)
            for module in self._modules.values()
            for table in (vars(module), module._buffers, module._parameters)
            for name, value in table.items()
            if value is tensor
        ]
        in_container = any(value is tensor for _, contents in self._containers for value in values_of(contents))
        sharing = sum(memory(other) == memory(tensor) for other in self._tensors_of_model())
        if not (held or in_container) or id(tensor) in self._written or sharing > 1:
            return
        self._written[id(tensor)] = tensor
        self.knowledge.learn(Written(id(tensor)))
        for module, name in held:
            if (id(module), name) not in self._initial:
                self._adopt(module, (id(module), name))
            self._keep((id(module), name))
        raise Again

    def _tensors_of_model(self) -> list[torch.Tensor]:
        """Every tensor that hangs on a module, each once."""
        found = {
            id(value): value
            for module in self._modules.values()
            for table in (vars(module), module._buffers, module._parameters)
            for value in table.values()
            if isinstance(value, torch.Tensor)
        }
        return list(found.values())

    def _keep(self, key: Key) -> None:
        self.knowledge.learn(ReadLater(*key), Kept(*key))
        value = self._initial[key]
        if isinstance(value, torch.Tensor):
            self._written[id(value)] = value

    def set(self, module: nn.Module, name: str, value: Any, plain: Any) -> None:
        descriptor = inspect.getattr_static(type(module), name, None)
        if hasattr(descriptor, "__set__") or id(module) not in self._modules:
            plain(module, name, value)
            return
        if self._current(module, name) is value:
            return
        if isinstance(value, nn.Module | nn.Parameter) or name in module._parameters or name in module._modules:
            raise Refused("DY007", f"the module or parameter `{name}` is replaced during the call")
        key = (id(module), name)
        if key not in self._initial:
            self._adopt(module, key)
        self._table[key] = value
        self._set_in_call.add(key)

    def _current(self, module: nn.Module, name: str) -> Any:
        """What an attribute is now, without counting as a read."""
        key = (id(module), name)
        if key in self._initial:
            return self._table.get(key, _MISSING)
        for table in (vars(module), module._parameters, module._buffers, module._modules):
            if name in table:
                return table[name]
        return _MISSING

    def _adopt(self, module: nn.Module, key: Key) -> None:
        """Take over an attribute when the program first sets it."""
        name = key[1]
        self.pinned.add(module)
        first = module._parameters.get(name, module._buffers.get(name, _MISSING))
        self._initial[key] = vars(module).get(name, first)
        vars(module).pop(name, None)
        for cls in type(module).__mro__:
            # A value on the class would be found before the table is asked.
            if name in vars(cls):
                self._hidden[cls, name] = vars(cls)[name]
                delattr(cls, name)
                self._initial[key] = self._hidden[cls, name] if self._initial[key] is _MISSING else self._initial[key]
                self._from_class.add(key)
        self.knowledge.learn(Adopted(*key))

    def delete(self, module: nn.Module, name: str) -> None:
        key = (id(module), name)
        if key not in self._initial:
            self._adopt(module, key)
        self._table.pop(key, None)
        self._set_in_call.add(key)

    def get(self, module: nn.Module, key: Key) -> Any:
        if key not in self._set_in_call:
            if ReadLater(*key) not in self.knowledge:
                # A block before this one may have set it, and left it out of the state: nobody was known to read it.
                self.knowledge.learn(ReadLater(*key))
                raise Again
            self._keep(key)
        if key not in self._table:
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{key[1]}'")
        return self._table[key]

    def freeze(self, freezer: Freezer) -> HeapNode:
        """What the program has changed so far and may still read."""
        return self._frozen(freezer, {key for key in self._set_in_call if ReadLater(*key) in self.knowledge})

    def freeze_for_next_call(self, freezer: Freezer) -> HeapNode:
        """What the program has changed so far and its next call may read."""
        return self._frozen(freezer, self._kept)

    def _frozen(self, freezer: Freezer, keys: Iterable[Key]) -> HeapNode:
        numbers = {module: number for number, module in enumerate(self._modules)}
        attributes = tuple(
            AttributeNode(key, freezer.freeze_at(key, self._table[key]) if key in self._table else None)
            for key in sorted(keys, key=lambda key: (numbers[key[0]], key[1]))
        )
        containers = tuple(
            freeze_contents(container, (number, self._names[number]), freezer)
            for number, ((container, first), contents) in enumerate(zip(self._containers, self._at_start, strict=True))
            if not is_same(container, contents) or not same_contents(first, contents)
        )
        variables = tuple(
            (freezer.freeze(variable), freezer.freeze(value)) for variable, value in self._set_variables()
        )
        return HeapNode(attributes, containers, variables)

    def _set_variables(self) -> list[tuple[contextvars.ContextVar[Any], Any]]:
        """The variables of the context that the program has set."""
        now = contextvars.copy_context()
        changed = [
            (variable, value)
            for variable, value in now.items()
            # PyTorch's own arithmetic of sizes uses decimal numbers.
            if self._context.get(variable, _MISSING) is not value and not isinstance(value, decimal.Context)
        ]
        return sorted(changed, key=lambda item: item[0].name)

    def require_no_variable(self) -> None:
        """Refuse a call that leaves a variable of the context set: the next call would see it."""
        for variable, _ in self._set_variables():
            raise Refused("DY007", f"the call leaves the context variable `{variable.name}` set")

    def thaw(self, node: HeapNode, thawer: Thawer) -> None:
        """Continue a call with the changes that `node` tells."""
        self.begin()
        for attribute in node.attributes:
            key = attribute.place
            self._set_in_call.add(key)
            if attribute.value is not None:
                self._table[key] = thawer.thaw_at(key, attribute.value)
            else:
                self._table.pop(key, None)
        for container in node.containers:
            thaw_contents(self._containers[container.place[0]][0], container, thawer)
        for variable, value in node.variables:
            thawer.thaw(variable).set(thawer.thaw(value))

    def _require_no_other_change(self) -> None:
        """Refuse a call that changes what cannot be kept: attributes of classes, iterators from before the call."""
        for cls, before in self._classes.items():
            for name, value in before.items():
                if (cls, name) not in self._hidden and vars(cls).get(name, _MISSING) is not value:
                    setattr(cls, name, value)
                    raise Refused("DY007", f"the call changes `{name}` of the class `{cls.__name__}`")
        for name, iterator, state in self._iterators:
            if str(iterator_state(iterator)) != state:
                raise Refused("DY007", f"the call takes items from `{name}`, an iterator that outlives it")

    def note_end(self) -> None:
        """Take note of a call's end: a container of the model that it leaves changed is state."""
        self._require_no_other_change()
        if not self.keeps_state and not all(
            is_same(container, contents)
            for (container, _), contents in zip(self._containers, self._at_start, strict=True)
        ):
            self.knowledge.learn(ChangedContainers())


_MODULE_INTERNALS = frozenset(vars(nn.Module()))
