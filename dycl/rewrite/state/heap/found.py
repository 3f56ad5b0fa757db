"""All that was there before the call and that the program can reach, found before the program can change it.

From the model's attributes it goes on to what they hold, to their classes, to functions and what those are closed over,
called with or name: global variables, attributes of modules, methods. Of all that, containers and plain objects are
followed from state to state, classes and modules must stay as they are, and what can be neither copied nor compared
must not be touched.
"""

import abc
import builtins
import collections
import functools
import itertools
import logging
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.own_code import is_library
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.state.heap.caches import Caches
from dycl.rewrite.state.heap.compared import Compared
from dycl.rewrite.state.heap.contents import (
    BUFFERS,
    CONTAINERS,
    ClassData,
    contents_of,
    items_of,
    slots_of,
    values_of,
)
from dycl.rewrite.state.heap.held_tensors import HeldTensors
from dycl.rewrite.state.heap.leading import Leading
from dycl.rewrite.state.heap.modules import TABLES
from dycl.rewrite.state.heap.reach import (
    PLAINEST,
    data_of,
    functions_of,
    has_objects_in_fields,
    held_by,
    hung_on_descriptor,
    is_plain_object,
    is_writable,
    leads_nowhere,
    leads_on,
    names_in,
    parts_in_c,
    runs_python,
)
from dycl.rewrite.state.heap.shared_memory import Memories, owners_of
from dycl.rewrite.state.heap.unchanged import guards, object_guards
from dycl.rewrite.state.heap.unchanged.libraries import Libraries
from dycl.rewrite.state.heap.unchanged.process_settings import setting_guards
from dycl.rewrite.state.heap.unread import UnreadLists
from dycl.rewrite.state.heap.watched import Watched
from dycl.rewrite.state.heap.weak import WeakReferences, is_proxy, require_no_callback
from dycl.rewrite.state.pinned import Pinned


class Found:
    """What the program can reach, as far as it has been found."""

    def __init__(self, pinned: Pinned, found_module: Callable[[nn.Module], Iterable[tuple[Any, str]]]) -> None:
        self.containers: list[Watched] = []
        self._functions, self._objects, self.classes = guards.Functions(), guards.Objects(), guards.Classes()
        self.memories, self.tensors, self.caches = Memories(), HeldTensors(), Caches()
        kept = (self._functions, self._objects, self.tensors)
        self.guards: list[guards.Guard] = [*(one.guard() for one in kept), *setting_guards()]
        self.unread = UnreadLists(self.names_one_of)
        self.untouchable: dict[int, tuple[Any, str, str]] = {}
        """What can be neither copied nor compared, the name under which it was found, and why."""
        self._leading, self._led_of = Leading(), (0, 0)
        self._weak = WeakReferences()
        self.held_elsewhere: dict[int, str] = {}
        """Modules whose `__dict__`, or a table in it, is held under a name of its own."""
        self._of_modules: dict[int, nn.Module] = {}
        self.asked_modules: set[Any] = set()
        """The texts in functions that ask which modules were imported."""
        self._pinned, self._found_module = pinned, found_module
        self._seen, self._leads_on, self._lies_in_memory = dict[int, Any](), dict[type, bool](), set[type]()
        self.names, self._waiting = {"forward"}, list[tuple[Any, str]]([(torch.Tensor, "Tensor")])
        self._methods: dict[str, list[Any]] = collections.defaultdict(list)
        self._bases, self._looked_at = list[type](), set[type]()
        self._empty, self._empty_tables, self._written = list[tuple[Any, str]](), list[Any](), 0
        self._at_stop: bool | None = None
        self._mixed: list[Watched] = []
        """The containers that hold tensors which the program writes."""
        self._compared = Compared(self.containers, self.guards)
        self._libraries = Libraries(self.guards, self._seen, lambda value, name: self._waiting.append((value, name)))

    def watch(self, value: Any, name: str) -> None:
        """Take note of a value that was there before the call, and of all that it leads to."""
        self._waiting.append((value, name))
        while self._waiting or self._look_at_weak_references():
            value, name = self._waiting.pop()
            kind = type(value)
            if kind not in self._leads_on:
                self._leads_on[kind] = not leads_nowhere(kind)
                if issubclass(kind, (torch.Tensor, torch.UntypedStorage, torch.TypedStorage, *BUFFERS)):
                    self._lies_in_memory.add(kind)
            if kind in self._lies_in_memory:
                self.memories.add(value)
                if isinstance(value, torch.Tensor) and self.tensors.meet(value):
                    self.watch_parts(value, name)
            if kind is tuple and all(type(item) in PLAINEST for item in value):
                continue
            if id(value) in self._seen:
                self.unread.met_again.add(id(value))
                continue
            if isinstance(value, logging.Logger):
                self._libraries.meet_logger(value, name)
            elif kind is np.ufunc and runs_python(value):
                self.untouchable[id(value)] = (value, name, "which calls a function in Python")
            if not self._leads_on[kind] or value is vars(builtins):
                if kind not in PLAINEST and kind is not FakeTensor:
                    self._pinned.add(value)
                continue
            self._seen[id(value)] = value
            if id(value) in self._of_modules:
                self._note_held(self._of_modules[id(value)], name)
            self._waiting.extend(self._found(value, name))

    def watch_parts(self, tensor: torch.Tensor, name: str) -> None:
        """Take note of what hangs on a tensor: attributes that somebody gave it, and its derivative."""
        self.tensors.keep(tensor)
        if type(tensor) is not FakeTensor and (own := tensor.__dict__):
            self._seen[id(own)] = own
            self._waiting.extend(self._container(own, name))
        if tensor.is_leaf and tensor.grad is not None:
            self._waiting.append((tensor.grad, name))

    def stays(self, model: nn.Module) -> None:
        """Take note of the model itself, which no call can drop."""
        self._weak.stays([model])

    def _look_at_weak_references(self) -> bool:
        """Go on with what is referred to weakly, when all else is found; whether there is any."""
        for value, name, targets, stay in self._weak.taken(self.knows):
            if not stay:
                self.untouchable[id(value)] = (value, name, "a weak reference to what a call may drop")
            self._waiting.extend((target, name) for target in targets)
        return bool(self._waiting)

    def watch_tables(self, tables: Mapping[str, Any]) -> None:
        """Take note of tables that PyTorch keeps in a module, of hooks for instance: nearly all of them are empty."""
        by_number = {id(table): table for table in tables.values()}
        self._seen.update(by_number)
        self._pinned.add_all(by_number)
        if any(tables.values()):
            for name, table in tables.items():
                if table:
                    self._waiting.extend(self._container(table, name))
        self._empty.extend([(table, name) for name, table in tables.items() if not table])

    def note_tables(self, module: nn.Module) -> None:
        """Take note of the dicts that a module is made of: somebody may hold them under another name."""
        own = vars(module)
        self._weak.stays(own["_modules"].values())
        for table in (own, *(own[name] for name in TABLES)):
            self._pinned.add(table)
            self._of_modules[id(table)] = module
            if id(table) in self._seen:
                self._note_held(module, "?")

    def _note_held(self, module: nn.Module, name: str) -> None:
        if id(module) not in self.held_elsewhere:
            self.held_elsewhere[id(module)] = name
            self.guards.append(guards.own_dict_guard(module, vars(module), name))

    def knows(self, value: Any) -> bool:
        """Whether a value has been found."""
        return id(value) in self._seen

    def lead_to_untouchable(self, values: Iterable[Any]) -> bool:
        """Whether one of these values leads to what can be neither copied nor compared."""
        if self._led_of != (len(self._seen), len(self.untouchable)):
            new = list(itertools.islice(self._seen.values(), self._led_of[0], None))
            self._leading.learn(new, self.untouchable)
            self._led_of = len(self._seen), len(self.untouchable)
        return self._leading.any_of(values)

    def note_linked(self, values: Collection[Any]) -> None:
        """Take note of values that something may have put into one another: if one leads there, so may all."""
        if self.lead_to_untouchable(values):
            self._leading.learn((), [id(value) for value in values if id(value) in self._seen])

    def names_one_of(self, names: frozenset[str]) -> bool:
        """Whether a function that was found names one of these."""
        return not self.names.isdisjoint(names)

    def watch_names(self, function: types.FunctionType) -> None:
        """Take note of all that a function names, though not of what it is closed over: the call may have made that."""
        self._waiting.extend(self._named_by(function))
        self.watch(None, "")

    def _found(self, value: Any, name: str) -> Iterable[tuple[Any, str]]:
        require_no_callback(value, name)
        if self._weak.add(value, name) and is_proxy(value):
            self._pinned.add(value)
            return
        if isinstance(value, nn.Module):
            self._objects.add(value)
            yield type(value), name
            yield from self._found_module(value)
            return
        if isinstance(value, type):
            yield from self._class(value)
            return
        if isinstance(value, types.ModuleType):
            if not is_library(value.__name__):
                self._guard(vars(value))
                yield from data_of(value)
            return
        self.guards.extend(object_guards.guards_of_parts(value, name, self.names_one_of))
        yield from ((owner, name) for owner in owners_of(value, self.names))
        held = held_by(value)
        if held is not None:
            if isinstance(value, types.FunctionType):
                self._pinned.add(value)
                self._functions.add(value)
                yield from [(value.__annotations__, name)] if "__annotations__" in self.names else []
                yield from self._named_by(value)
                yield from zip(value.__closure__ or (), value.__code__.co_freevars, strict=True)
            elif isinstance(value, functools._lru_cache_wrapper):
                self.caches.add(value, name)
            yield from ((item, name) for item in held)
        elif isinstance(value, object_guards.GUARDED):
            self.guards.append(object_guards.guarded(value, name))
            self._pinned.add(value)
            if is_library(type(value).__module__):
                return
        elif isinstance(value, CONTAINERS) and not has_objects_in_fields(value):
            yield from self._container(value, name)
        elif not is_plain_object(value) or isinstance(value, np.ndarray):
            self._pinned.add(value)
            if type(value).__module__.partition(".")[0] != "torch":
                self.untouchable[id(value)] = (value, name, "which outlives it and cannot be copied")
            yield from ((item, name) for item in parts_in_c(value))
            return
        yield from self._attributes(value, name)

    def _container(self, value: Any, name: str, attributes: bool = False) -> Iterator[tuple[Any, str]]:
        """What a container holds; attributes go by names of their own."""
        self._pinned.add(value)
        if not is_writable(value):
            return
        contents = contents_of(value)
        self.containers.append(Watched(value, contents, contents, name))
        if not isinstance(contents, set):
            self.tensors.note_replaceable(values_of(contents))
        if isinstance(value, collections.defaultdict):
            self.guards.append(object_guards.factory_guard(value, name))
            if not leads_on(value.default_factory):
                self.untouchable[id(value)] = (value, name, "whose missing items come from where nobody sees")
            yield value.default_factory, name
        if attributes:
            yield from ((item, _inside(name, key)) for key, item in contents.items() if type(item) not in PLAINEST)
        else:
            yield from ((item, name) for item in items_of(contents) if type(item) not in PLAINEST)

    def _attributes(self, value: Any, name: str) -> Iterator[tuple[Any, str]]:
        """What an object holds in attributes, and its class."""
        if isinstance(value, types.FunctionType | types.CellType):
            return
        slots = slots_of(value)
        if slots is not None:
            yield from self._container(slots, name, attributes=True)
        own = attribute(value, "__dict__")
        if isinstance(own, dict):
            self._seen[id(own)] = own
            yield from self._container(own, name, attributes=True)
        self._objects.add(value, own if isinstance(own, dict) else None)
        self._pinned.add(value)
        yield type(value), name

    def _class(self, cls: type) -> Iterator[tuple[Any, str]]:
        if is_library(cls.__module__):
            self._libraries.meet(cls, cls.__name__, ())
            yield from self._hung_on(cls)
            return
        if isinstance(cls, abc.ABCMeta):
            self.guards.append(object_guards.abstract_guard(cls))
        self.guards.append(self.classes.add(cls))
        self._bases.append(cls)
        yield from self._subclasses([cls]) if "__subclasses__" in self.names else []
        for name, value in vars(cls).items():
            functions = functions_of(value)
            yield from ((one, name) for one in hung_on_descriptor(value))
            if not functions:
                yield value, f"{cls.__name__}.{name}"
            elif name in self.names or name.startswith("__"):
                yield from ((function, name) for function in functions)
            else:
                self._methods[name].extend(functions)
        yield from ((base, base.__name__) for base in (*cls.__mro__[1:], type(cls)))

    def _subclasses(self, bases: Iterable[type]) -> Iterator[tuple[Any, str]]:
        found: Any = [type.__subclasses__(base) for base in bases]
        yield from ((one, one.__name__) for some in found for one in some)

    def _hung_on(self, cls: type) -> Iterator[tuple[Any, str]]:
        """The containers that hang on a library's class, if the program names them."""
        bases = [base for base in cls.__mro__ if base not in self._looked_at]
        self._looked_at.update(bases)
        for name, value in [item for base in bases for item in vars(base).items()]:
            if type(value) in (list, dict, set, collections.deque) and not name.startswith("__"):
                if name in self.names:
                    yield value, f"{cls.__name__}.{name}"
                self._methods[name].append(value)

    def _named_by(self, function: types.FunctionType) -> Iterator[tuple[Any, str]]:
        """What a function names, and the methods by these names of all classes that were found."""
        space = function.__globals__
        if is_library(space.get("__name__")):
            return
        self._guard(space)
        self.unread.codes[function.__code__] = None
        for one in (self._libraries, self.tensors, self._functions):
            one.note_stores(function.__code__)
        names = dict.fromkeys(names_in(function.__code__))
        for name in names:
            found = space[name] if name in space else vars(builtins).get(name, sys.modules.get(name))
            self._libraries.meet_named(found, name, names)
            if found is sys.modules or (found is sys and "modules" in names):
                self.asked_modules.update(function.__code__.co_consts)
            if not isinstance(found, types.ModuleType):
                yield found, name
            yield from self._of_module(found, name, names)
        for name in [name for name in names if name not in self.names]:
            self.names.add(name)
            yield from self._functions.annotations() if name == "__annotations__" else []
            yield from ((owner, name) for owner in self.memories.owners(name))
            yield from self._subclasses(self._bases) if name == "__subclasses__" else []
            yield from ((method, name) for method in self._methods.pop(name, ()))

    def _of_module(self, found: Any, name: str, names: dict[str, None]) -> Iterator[tuple[Any, str]]:
        """Those attributes of a module that are named as well, and so on for modules inside."""
        if not isinstance(found, types.ModuleType):
            return
        if is_library(found.__name__):
            self._libraries.meet(found, name, names)
            return
        self._guard(vars(found))
        inside = {inner: None for inner in names if inner != name}
        for inner in inside:
            if inner in vars(found):
                yield vars(found)[inner], f"{name}.{inner}"
                yield from self._of_module(vars(found)[inner], inner, inside)

    def _guard(self, space: dict[str, Any]) -> None:
        self._pinned.add(space)
        self._libraries.guard_namespace(space)

    def follow_class(self, cls: type | None) -> type | None:
        """Follow the plain values of a class, or of the first one that has changed; None if there is none to follow."""
        guard = self.classes.to_follow(cls)
        if guard is None:
            return None
        self.containers.append(Watched(ClassData(guard.cls), guard.data, guard.data, guard.cls.__name__))
        return guard.cls


def _inside(name: str, attribute: str) -> str:
    """What an attribute is called; of a long way to it, its beginning and its end."""
    first, *between = name.split(".")
    return f"{name}.{attribute}" if len(between) < _MOST_BETWEEN else f"{first}...{attribute}"


_MOST_BETWEEN = 3
