"""The program's surroundings during a call: attributes that it sets, containers that it changes.

The user's model must come out of a compilation as it went in, and so must everything else that was there before the
call. So while the machine runs, an attribute that the program sets on a module goes to a table instead, reads of it
come from there, and containers that the program can reach are compared with a copy. Both are part of the machine's
state; `restore` puts everything back. What else the program can reach must stay as it is.

An attribute that is read before it is set carries state from one call to the next, and so do a container that a call
leaves changed and a tensor of the model that is written in place. Such state is kept: where the program returns, it is
frozen, and the next call is continued from there.
"""

import contextvars
import decimal
import sys
import types
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from dycl.rewrite.knowledge import ChangedContainers, FollowedClass, Kept, Knowledge, ReadAll, Suspect, Written
from dycl.rewrite.own_code import is_library
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.heap.attributes import Attributes, Key
from dycl.rewrite.state.heap.caches import Cached
from dycl.rewrite.state.heap.contents import (
    contents_of,
    freeze_contents,
    is_class_data,
    is_same,
    thaw_contents,
    values_of,
)
from dycl.rewrite.state.heap.diversion import ABSENT, diverted
from dycl.rewrite.state.heap.hanging import hanging_on
from dycl.rewrite.state.heap.surroundings import Surroundings
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import AttributeNode, HeapNode
from dycl.rewrite.tensor_types import dress, dress_of

_MISSING = object()
_PAST_PYTORCH = frozenset(("__getattribute__", "getattr_static"))


class Heap:
    """What was there before the call, as the program has changed it so far."""

    def __init__(self, model: nn.Module, pinned: Pinned, recorder: Recorder, knowledge: Knowledge) -> None:
        self.pinned = pinned
        self.recorder = recorder
        self.knowledge = knowledge
        recorder.keep_tensor = self.keep_tensor
        recorder.is_kept = self._is_kept
        self._written: dict[int, torch.Tensor] = {}
        """Tensors that are state: each stands for itself where a call begins, and for others later."""
        self._copies: dict[int, torch.Tensor] = {}
        """What stands for them in this call."""
        self._followed = 0
        """How many of them are followed under all of their names."""
        self._surroundings = Surroundings(pinned, self._found_module)
        recorder.lies_outside = self._lies_outside
        self._attributes = Attributes(
            pinned,
            knowledge,
            self._note_written,
            lambda: self._surroundings.names_one_of(_PAST_PYTORCH),
            self._surroundings.held_elsewhere,
        )
        self._context = contextvars.copy_context()
        self.modules_before = frozenset(sys.modules)
        self._raised: dict[int, tuple[BaseException, types.TracebackType | None]] = {}
        self.is_suspicious = False
        """Whether something changes that must not: every call is looked at, to find the one that does it."""
        self._surroundings.stays(model)
        self.watch(model, type(model).__name__)

    def _note_written(self, tensor: torch.Tensor) -> None:
        self._written[id(tensor)] = tensor

    def _found_module(self, module: nn.Module) -> Iterator[tuple[Any, str]]:
        """Take note of a module: what hangs on it, and how to put it back."""
        self._attributes.modules.add(module)
        self.pinned.add(module)
        yield from hanging_on(module, self._surroundings)

    def watch(self, value: Any, name: str) -> None:
        """Take note of a value that was there before the call, and of all that it leads to."""
        self._surroundings.watch(value, name)

    def watch_global(self, value: Any, name: str, namespace: dict[str, Any]) -> None:
        """Take note of a global variable; what a library keeps for itself, such as a cache, is nobody's state."""
        if not is_library(namespace.get("__name__")) and not isinstance(value, types.ModuleType):
            self.watch(value, name)

    @property
    def names(self) -> Collection[str]:
        """What the program's functions name, as far as they have been found."""
        return self._surroundings.names

    def asks_for_module(self, name: str) -> bool:
        """Whether the program may ask whether this module was imported."""
        return name in self._surroundings.asked_modules

    def watch_names(self, function: types.FunctionType) -> None:
        """Take note of all that a function names."""
        self._surroundings.watch_names(function)

    def is_watched(self, value: Any) -> bool:
        """Whether a value is known to have been there before the call."""
        return self._surroundings.knows(value)

    def untouchable(self, values: Iterable[Any]) -> str | None:
        """One of these values that can be neither copied nor compared, if there is one: its name, and why."""
        known = self._surroundings.untouchable
        if not known:
            return None
        told = (f"`{known[id(value)][1]}`, {known[id(value)][2]}" for value in values if id(value) in known)
        return next(told, None)

    @property
    def to_follow(self) -> str | None:
        """Something of which every use must be seen, if the model leads to such a thing: its name, and why."""
        told = next(iter(self._surroundings.untouchable.values()), None)
        return None if told is None else f"`{told[1]}`, {told[2]}"

    def lead_to_untouchable(self, values: Iterable[Any]) -> bool:
        """Whether one of these values leads to such a thing."""
        return self._surroundings.lead_to_untouchable(values)

    def note_linked(self, values: Collection[Any]) -> None:
        """Take note of values that something may have put into one another."""
        self._surroundings.note_linked(values)

    @property
    def names_to_follow(self) -> frozenset[str]:
        """The names under which such things were found."""
        known = self._surroundings.untouchable.values()
        return frozenset(name.rpartition(".")[2] for _, name, _ in known)

    @property
    def holders_of_caches(self) -> set[str]:
        """The names of functions whose results Python keeps."""
        return self._surroundings.caches.holders

    def caches_asked(self) -> list[tuple[int, int]]:
        """How often each of these functions was asked."""
        return self._surroundings.caches.asked()

    def cache_asked_since(self, before: list[tuple[int, int]]) -> str | None:
        """One of these functions that was asked since, if there is one."""
        return self._surroundings.caches.asked_since(before)

    @property
    def unread(self) -> list[str]:
        """The names of lists that the program adds to and never looks at."""
        return list(self._surroundings.unread.names)

    @property
    def keeps_state(self) -> bool:
        """Whether a call can change what later calls do."""
        return bool(self.knowledge.of(Kept, ReadAll, Written, ChangedContainers))

    @property
    def changed(self) -> set[int]:
        """The modules and containers that are not as they were before the first call."""
        return self._attributes.changed_modules() | self._surroundings.changed_containers()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Divert attribute access on modules to this heap; on the way out the model is as it was."""
        with diverted(self._attributes):
            for method in (nn.Module.__getattr__, nn.Module.__setattr__, nn.Module.__delattr__):
                self.pinned.add(method)  # a state may hold one, where a class's own way leads to it
            try:
                yield
            finally:
                self._attributes.modules.restore()
                self._surroundings.restore()
                for error, trace in self._raised.values():
                    error.__traceback__ = trace

    def note_raised(self, error: BaseException) -> bool:
        """Whether an error that is raised was there before the call; it has its traceback again afterwards."""
        if error in self.pinned:
            self._raised.setdefault(id(error), (error, error.__traceback__))
        return error in self.pinned

    def begin(self) -> None:
        """Start a call: every attribute has its first value, every container its first contents."""
        if len(self._written) != self._followed:
            self._followed = len(self._written)
            # By whatever name the program asks for such a tensor, it gets the same one.
            for module, name, tensor in list(self._attributes.modules.tensors()):
                if id(tensor) in self._written:
                    self._attributes.keep(self._attributes.adopt(module, name))
        copies = self._copies = {}

        def first(value: Any) -> Any:
            """A first value; a tensor that is state stands for itself no longer."""
            if id(value) not in self._written:
                return value
            if id(value) not in copies:
                copies[id(value)] = dress(value.detach().clone(), *dress_of(value))
                self.recorder.own(copies[id(value)])
                if self._surroundings.memories.shares(value) or self._surroundings.tensors.is_held_fast(value):
                    self.recorder.share_outside(copies[id(value)])
            return copies[id(value)]

        self._attributes.begin(first)
        self._surroundings.begin(first, self._written)

    def _is_kept(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor hangs on the model, or stands for one that does."""
        stand_for_others = any(tensor is copy for copy in self._copies.values())
        return stand_for_others or any(tensor is held for _, _, held in self._attributes.modules.tensors())

    def is_written(self, value: Any) -> bool:
        """Whether this is a tensor from before the call that is state: others stand for it."""
        return id(value) in self._written

    def _lies_outside(self, value: Any) -> bool:
        """Whether a write to this would be seen by something that the program does not carry along."""
        fast = isinstance(value, torch.Tensor) and self._surroundings.tensors.is_held_fast(value)
        return fast or self._surroundings.memories.reach(value) or self._surroundings.memories.shares(value)

    def keep_tensor(self, tensor: torch.Tensor) -> None:
        """Make a tensor that the program writes in place part of its state, if it hangs on the model."""
        tensors = list(self._attributes.modules.tensors())
        held = [(module, name) for module, name, value in tensors if value is tensor]
        containers = self._surroundings.containers
        in_container = any(value is tensor for watched in containers for value in values_of(watched.first))
        shares = self._surroundings.memories.shares(tensor) or self._surroundings.tensors.is_held_fast(tensor)
        if not (held or in_container) or id(tensor) in self._written or shares:
            return
        _require_bare(tensor)
        self._note_written(tensor)
        self.knowledge.learn(Written(id(tensor)))
        for module, name in held:
            self._attributes.keep(self._attributes.adopt(module, name))
        raise Again

    def freeze(self, freezer: Freezer) -> HeapNode:
        """What the program has changed so far and may still read."""
        return self._frozen(freezer, self._attributes.to_keep)

    def freeze_for_next_call(self, freezer: Freezer) -> HeapNode:
        """What the program has changed so far and its next call may read."""
        return self._frozen(freezer, self._attributes.kept)

    def _frozen(self, freezer: Freezer, keys: set[Key]) -> HeapNode:
        attributes = tuple(
            AttributeNode(key, None if value is ABSENT else freezer.freeze_at(key, value), self._attributes.home(key))
            for key, value in self._attributes.in_order(keys)
        )
        containers = tuple(
            freeze_contents(watched.container, (number, watched.name), freezer)
            for number, watched in self._surroundings.to_freeze()
        )
        variables = tuple(
            (freezer.freeze(variable), freezer.freeze(value)) for variable, value in self._set_variables()
        )
        return HeapNode(attributes, containers, variables)

    def thaw(self, node: HeapNode, thawer: Thawer) -> None:
        """Continue a call with the changes that `node` tells."""
        self.begin()
        for attribute in node.attributes:
            told = attribute.value
            value = ABSENT if told is None else thawer.thaw_at(attribute.place, told)
            self._attributes.thaw(attribute.place, value, attribute.home)
        for container in node.containers:
            thaw_contents(self._surroundings.containers[container.place[0]].container, container, thawer)
        for variable, value in node.variables:
            thawer.thaw(variable).set(thawer.thaw(value))

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

    def note_stop(self) -> None:
        """Take note of where a block ends: what the program has changed by other doors is found, or refused."""
        changed = self._attributes.absorb() or self._surroundings.changed(at_stop=True) or self._asked()
        if changed is None:
            return
        self._follow_class(None)
        if not self.is_suspicious:
            self.is_suspicious = True
            self.knowledge.learn(Suspect(changed))
            raise Again
        self.require_unchanged()

    def sets_class_attribute(self, cls: type, name: str, value: Any = None) -> bool:
        """Whether an attribute that a class gets or loses is part of the state: a plain value of a known class."""
        now = vars(cls).get(name)
        if not is_class_data(name, value) or not is_class_data(name, now):
            return False
        self._follow_class(cls)
        return self._surroundings.classes.follows(cls)

    def _follow_class(self, cls: type | None) -> None:
        """Let the plain values of a class be part of the state, and explore again."""
        followed = self._surroundings.follow_class(cls)
        if followed is not None:
            self.knowledge.learn(FollowedClass(followed.__qualname__, id(followed)))
            raise Again

    def _changed(self) -> str | None:
        return self._attributes.modules.changed() or self._surroundings.changed() or self._asked()

    def _asked(self) -> str | None:
        """A function whose results are cached and that was called natively, though it may see what the call changes."""
        caches = self._surroundings.caches
        return caches.told(self.changed) if caches.were_asked else None

    def require_unchanged(self) -> None:
        """Refuse a change of what must stay as it is."""
        changed = self._changed()
        if changed is not None:
            raise Refused("DY007", f"the call changes {changed}, which outlives it")

    @contextmanager
    def nothing_changed(self, name: str, function: Cached) -> Iterator[None]:
        """Refuse if a function whose results are cached changes anything that was there before the call."""
        before = [(watched.container, contents_of(watched.container)) for watched in self._surroundings.containers]
        values, tensors = self._attributes.values(), [tensor for _, _, tensor in self._attributes.modules.tensors()]
        versions = list(map(_version, tensors))
        with self._surroundings.caches.kept(function):
            yield
        now = self._attributes.values()
        same = all(now[key] is value for key, value in values.items()) and len(now) == len(values)
        same = same and versions == list(map(_version, tensors))
        if not same or not all(is_same(container, contents) for container, contents in before):
            raise Refused("DY007", f"`{name}`, whose results are cached, changes what outlives its call")
        self.require_unchanged()

    def note_end(self) -> None:
        """Take note of a call's end: a container of the model that it leaves changed is state."""
        for variable, _ in self._set_variables():
            raise Refused("DY007", f"the call leaves the context variable `{variable.name}` set")
        if not self.keeps_state and not self._surroundings.all_as_at_start:
            self.knowledge.learn(ChangedContainers())


def _version(tensor: torch.Tensor) -> int:
    """How often a tensor was written; PyTorch does not count it for all of them."""
    counted: Any = torch._C.TensorBase._version
    return -1 if tensor.is_inference() else int(counted.__get__(tensor))


def _require_bare(tensor: torch.Tensor) -> None:
    """Refuse to write a tensor to which more belongs than its elements: what stands in for it has no such thing."""
    if tensor.grad is not None:
        reason = "a parameter that has derivatives is changed in place"
        raise Refused("DY007", reason, "forget them first: `model.zero_grad()`")
    usual = ("_is_param", "_is_buffer", "persistent")
    attributes = [name for name in vars(tensor) if name not in usual]
    if attributes:
        raise Refused("DY007", f"a tensor that has an attribute of its own, `{attributes[0]}`, is changed in place")
