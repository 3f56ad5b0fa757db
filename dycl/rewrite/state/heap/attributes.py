"""Attributes of modules that the program sets: a table of them, from which all reads come.

An attribute is adopted when the program first sets it: from then on it lives in the table, the module does not have it,
and PyTorch's `__getattr__` is asked for it. An attribute that the module's class has too would be found there instead;
such a one stays in the module and is part of every state. One that nobody reads is part of none. The table knows of
each attribute where the module would have it, in its `__dict__` or among its buffers.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from dycl.rewrite.knowledge import Adopted, Kept, Knowledge, ReadAll, ReadLater
from dycl.rewrite.own_thread import is_compiling
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.heap.diversion import ABSENT
from dycl.rewrite.state.heap.doors import Door
from dycl.rewrite.state.heap.modules import INTERNALS, TABLES, Modules, has_same_entries, named_by_user, raw
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.whole_state import Home

Key = tuple[int, str]
Keys = set[Key]
_MISSING = object()
_WITH_DOORS = ("_buffers", "_parameters")


class Attributes:
    """The attributes of modules that the program has set so far."""

    def __init__(
        self,
        pinned: Pinned,
        knowledge: Knowledge,
        keep_tensor: Callable[[torch.Tensor], None],
        looks_up_directly: Callable[[], bool],
        held_elsewhere: Mapping[int, str],
    ) -> None:
        self.modules = Modules()
        self._pinned, self._knowledge, self._keep_tensor = pinned, knowledge, keep_tensor
        self._looks_up_directly, self._held_elsewhere = looks_up_directly, held_elsewhere
        self._initial: dict[Key, Any] = {}
        self._table: dict[Key, Any] = {}
        self._first_homes: dict[Key, Home] = {}
        self._homes: dict[Key, Home] = {}
        self._in_place, self._set_in_call = set[Key](), set[Key]()
        self._with_doors, self._quiet_at_stop = list[nn.Module](), False

    def holds(self, module: nn.Module) -> bool:
        """Whether a module belongs to the model, or was met while it ran."""
        return id(module) in self.modules.all

    def changed_modules(self) -> set[int]:
        """The modules of which an attribute is not as it was before the first call."""
        return {key[0] for key, value in self.values().items() if self._initial[key] is not value}

    def values(self) -> dict[Key, Any]:
        """Those attributes that calls set, as they are now."""
        return {key: self.current(self._pinned[key[0]], key[1]) for key in self._initial}

    # Before, at and after a call.

    def begin(self, first: Callable[[Any], Any]) -> None:
        """Start a call: every attribute has its first value, with `first` in its place."""
        self._set_in_call = set(self.kept)
        self._table, self._homes = {}, dict(self._first_homes)
        if not (self._quiet_at_stop or self.modules.is_quiet):
            self.modules.undo()
            for module in self.modules.all.values():
                self._clear_away(module)
        self._quiet_at_stop = False
        for module in self._with_doors:
            self._clear_away(module)
        for key, value in self._initial.items():
            dict.pop(raw(self._pinned[key[0]]), key[1], None)
            if value is not _MISSING:
                self._store(key, first(value))

    def _clear_away(self, module: nn.Module) -> None:
        """Undo what a failed or refused run has set behind PyTorch's back."""
        now, before = raw(module), self.modules.attributes[id(module)]
        if has_same_entries(now, before):
            return
        for name in [name for name in dict.keys(now) if name not in before]:
            dict.pop(now, name)
        for name, value in before.items():
            if (id(module), name) not in self._initial and name not in TABLES:
                dict.__setitem__(now, name, value)

    def absorb(self) -> str | None:
        """Take what was set behind PyTorch's back into the table; what has changed that must not, in words."""
        quiet = self.modules.is_quiet
        modules = self._with_doors if quiet else list(self.modules.all.values())
        for module in [module for module in modules if id(module) not in self._held_elsewhere]:
            self._absorb_buffers(module)
            self._absorb_from(module)
        changed = self.modules.changed() if modules else None
        # Nothing changes from where a block ends until the next one begins.
        self._quiet_at_stop = quiet and changed is None
        return changed

    def _absorb_from(self, module: nn.Module) -> None:
        number, now = id(module), raw(module)
        before = self.modules.attributes[number]
        for name, value in list(dict.items(now)):
            key = (number, name)
            if name in INTERNALS or key in self._in_place:
                continue
            if key in self._initial:
                dict.pop(now, name)
                self.write(module, "__dict__", name, value)
            elif before.get(name, _MISSING) is not value:
                self._adopt(module, key)
                raise Again
        for name in before:
            if name not in dict.keys(now) and (number, name) not in self._initial:
                self._adopt(module, (number, name))
                raise Again

    def _absorb_buffers(self, module: nn.Module) -> None:
        entries = dict.__getitem__(raw(module), "_buffers")
        before = self.modules.tables[id(module)]["_buffers"]
        if isinstance(entries, Door) or has_same_entries(entries, before):
            return
        names = (*reversed(entries), *before)
        changed = next((name for name in names if entries.get(name, self) is not before.get(name, self)), names[0])
        self._adopt(module, (id(module), changed), "_buffers")
        raise Again

    # Reading and setting by name.

    def find(self, module: nn.Module, name: str) -> Any:
        """An attribute that lives in the table; `ABSENT` if it does not."""
        return self.read(module, name) if self.is_diverted(module, name) else ABSENT

    def is_diverted(self, module: nn.Module, name: str) -> bool:
        key = (id(module), name)
        return key in self._initial and key not in self._in_place

    def read(self, module: nn.Module, name: str) -> Any:
        key = (id(module), name)
        if is_compiling():
            self._note_read(key)
        value = (self._table if is_compiling() else self._initial).get(key, _MISSING)
        if value is _MISSING:
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{name}'")
        return value

    def entry(self, module: nn.Module, table: str, name: str) -> Any:
        """An attribute that a module has in this table."""
        key = (id(module), name)
        if table == "__dict__" and self.is_diverted(module, name) and name in dict.keys(raw(module)):
            self.write(module, table, name, dict.pop(raw(module), name))  # where `object.__setattr__` has put it
        if is_compiling():
            self._note_read(key)
        values, homes = (self._table, self._homes) if is_compiling() else (self._initial, self._first_homes)
        if values.get(key, _MISSING) is _MISSING or homes[key].table != table:
            raise KeyError(name)
        return values[key]

    def _note_read(self, key: Key) -> None:
        if key in self._set_in_call:
            return
        if not self._is_read(key):
            # A block before this one may have set it, and left it out of the state: nobody was known to read it.
            self._knowledge.learn(ReadLater(*key))
            raise Again
        self.keep(key)

    def set(self, module: nn.Module, name: str, value: Any, plain: Callable[..., None]) -> None:
        descriptor = inspect.getattr_static(type(module), name, None)
        if hasattr(descriptor, "__set__") or not self.holds(module):
            plain(module, name, value)
            return
        if self.current(module, name) is value:
            return
        tables = self.modules.tables[id(module)]
        is_module, is_parameter = isinstance(value, nn.Module), isinstance(value, nn.Parameter)
        of_another_kind = value is not None and (
            (name in tables["_modules"] and not is_module) or (name in tables["_parameters"] and not is_parameter)
        )
        is_buffer = self._is_buffer(module, name)
        if of_another_kind and not (is_module or is_parameter):
            plain(module, name, value)  # PyTorch says that this is no module or no parameter
            return
        if is_module or is_parameter or name in tables["_modules"] or name in tables["_parameters"]:
            raise Refused("DY007", f"the module or parameter `{name}` is replaced during the call")
        if name in INTERNALS:
            raise Refused("DY007", f"PyTorch's own table `{name}` is replaced during the call")
        becomes_buffer = isinstance(value, nn.Buffer) and not is_buffer
        if (is_buffer and not isinstance(value, torch.Tensor | None)) or (
            becomes_buffer and self.current(module, name) is not _MISSING
        ):
            plain(module, name, value)  # PyTorch says that this is no buffer, or that there is an attribute already
            return
        key = (id(module), name)
        if key not in self._initial:
            self._adopt(module, key, "_buffers" if becomes_buffer else "__dict__")
        self._put(module, key, value, "_buffers" if is_buffer or becomes_buffer else "__dict__")
        if isinstance(value, nn.Buffer):
            (set.discard if value.persistent else set.add)(raw(module)["_non_persistent_buffers_set"], name)

    def _is_buffer(self, module: nn.Module, name: str) -> bool:
        """Whether a module has a buffer of this name now."""
        key = (id(module), name)
        if self.is_diverted(module, name):
            return key in self._table and self._homes[key].table == "_buffers"
        return name in dict.keys(raw(module)["_buffers"])

    def _put(self, module: nn.Module, key: Key, value: Any, table: str) -> None:
        """Let a module have an attribute in this table."""
        if self.current(module, key[1]) is _MISSING:
            if table == "__dict__" and key not in self._in_place and self._is_asked_directly(module, key[1]):
                raise Refused("DY007", f"the buffer `{key[1]}` becomes a plain attribute during the call")
            self._homes[key] = Home(table, is_new=True)
            if table == "_buffers":
                self._open_door(module, table)
        self._store(key, value)
        self._set_in_call.add(key)

    def delete(self, module: nn.Module, name: str) -> None:
        key = self.adopt(module, name)
        self._note_read(key)  # whether there is one to delete
        if self.current(module, name) is _MISSING:
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{name}'")
        if self._is_buffer(module, name):
            set.discard(raw(module)["_non_persistent_buffers_set"], name)
        self._drop(key)
        self._set_in_call.add(key)

    def current(self, module: nn.Module, name: str) -> Any:
        """What an attribute is now, without counting as a read."""
        key, own = (id(module), name), raw(module)
        if self.is_diverted(module, name):
            return self._table.get(key, _MISSING)
        for table in (own, own["_parameters"], own["_buffers"], own["_modules"]):
            if name in dict.keys(table):
                return dict.__getitem__(table, name)
        return _MISSING

    def _store(self, key: Key, value: Any) -> None:
        if key in self._in_place:
            dict.__setitem__(raw(self._pinned[key[0]]), key[1], value)
        else:
            self._table[key] = value

    def _drop(self, key: Key) -> None:
        if key in self._in_place:
            dict.pop(raw(self._pinned[key[0]]), key[1], None)
        else:
            self._table.pop(key, None)

    def adopt(self, module: nn.Module, name: str) -> Key:
        """Take over an attribute, unless that is done."""
        key = (id(module), name)
        if key not in self._initial:
            self._adopt(module, key)
        return key

    def _adopt(self, module: nn.Module, key: Key, table: str = "__dict__") -> None:
        """Take over an attribute when the program first sets it; in this table, if the module does not have it yet."""
        name = key[1]
        if id(module) in self._held_elsewhere:
            held = f"whose `__dict__` or table is held as `{self._held_elsewhere[id(module)]}` too"
            raise Refused("DY007", f"the call sets or writes `{name}` of a `{type(module).__name__}`, {held}")
        self._pinned.add(module)
        tables = {"__dict__": self.modules.attributes[id(module)], **self.modules.tables[id(module)]}
        home = next((held for held in ("__dict__", *_WITH_DOORS) if name in tables[held]), None)
        if name in dict.keys(raw(module)):
            self.modules.require_unheld(module, name)
        self._initial[key] = _MISSING if home is None else tables[home][name]
        self._first_homes[key] = self._homes[key] = Home(home or table, is_new=home is None)
        if self.modules.has_own_dict(module):
            self.modules.replace_dict(module, self._door(module, "__dict__", raw(module)))
            self._with_doors.append(module)
        table = home or table
        if table == "__dict__" and self._is_asked_directly(module, name):
            self._in_place.add(key)
            self.keep(key)
        else:
            dict.pop(raw(module), name, None)
        if table != "__dict__":
            self._open_door(module, table)
        self._knowledge.learn(Adopted(*key))

    def _open_door(self, module: nn.Module, table: str) -> None:
        if not isinstance(dict.__getitem__(raw(module), table), Door):
            door = self._door(module, table, self.modules.tables[id(module)][table])
            dict.__setitem__(raw(module), table, door)

    def _door(self, module: nn.Module, table: str, entries: dict[str, Any]) -> Door:
        door = Door(module, table, self, entries)
        self._pinned.add(door)
        return door

    def _is_asked_directly(self, module: nn.Module, name: str) -> bool:
        """Whether an attribute may be looked up without asking PyTorch's `__getattr__` for it."""
        cls = type(module)
        asks_itself = cls.__getattribute__ is not object.__getattribute__ or "__getattr__" in named_by_user(cls)
        return asks_itself or self._looks_up_directly() or any(name in vars(base) for base in cls.__mro__)

    # Reading and setting through a door.

    def names(self, module: nn.Module, table: str) -> list[str]:
        number = id(module)
        if is_compiling() and ReadAll(number) not in self._knowledge:
            self._knowledge.learn(ReadAll(number))
            raise Again
        first = self.modules.attributes[number] if table == "__dict__" else self.modules.tables[number][table]
        values, homes = (self._table, self._homes) if is_compiling() else (self._initial, self._first_homes)
        now = dict.keys(raw(module) if table == "__dict__" else raw(module)[table])

        def is_there(name: str) -> bool:
            key = (number, name)
            if not self.is_diverted(module, name):
                return name in now
            return values.get(key, _MISSING) is not _MISSING and homes[key] == Home(table)

        new = [name for name in now if name not in first and not self.is_diverted(module, name)]
        tabled = [key[1] for key, value in values.items() if key[0] == number and value is not _MISSING]
        behind = [name for name in tabled if homes[number, name] == Home(table, is_new=True)]
        return [*filter(is_there, first), *new, *(name for name in behind if (number, name) not in self._in_place)]

    def write(self, module: nn.Module, table: str, name: str, value: Any) -> None:
        if dict.get(raw(module) if table == "__dict__" else raw(module)[table], name, _MISSING) is value and (
            name in INTERNALS or table == "_parameters"
        ):
            return
        if table == "_parameters" or name in INTERNALS:
            kind = "parameter" if table == "_parameters" else "table"
            raise Refused("DY007", f"the {kind} `{name}` of a module is replaced or registered during the call")
        has_it = self.current(module, name) is not _MISSING
        self.modules.require_unheld(module, name, ("_parameters", "_modules"))
        if has_it and self._is_buffer(module, name) != (table == "_buffers"):
            raise Refused("DY007", f"a second attribute of the name `{name}` is put beside the first")
        key = (id(module), name)
        if key not in self._initial:
            self._adopt(module, key, table)
        self._put(module, key, value, table)

    def remove(self, module: nn.Module, table: str, name: str) -> None:
        if table == "_parameters" or name in INTERNALS:
            raise Refused("DY007", f"the parameter `{name}` is replaced during the call")
        self.delete(module, name)

    # What is state.

    @property
    def kept(self) -> Keys:
        """The attributes whose values the next call may read."""
        everything = {fact.owner for fact in self._knowledge.of(ReadAll)}
        every = {key for key in self._initial if key[0] in everything} if everything else set()
        return {(fact.owner, fact.name) for fact in self._knowledge.of(Kept)} | every

    @property
    def to_keep(self) -> Keys:
        """The attributes that the call has set and later blocks may read."""
        return {key for key in self._set_in_call if self._is_read(key)}

    def _is_read(self, key: Key) -> bool:
        return ReadLater(*key) in self._knowledge or ReadAll(key[0]) in self._knowledge

    def keep(self, key: Key) -> None:
        """Keep an attribute from call to call."""
        self._knowledge.learn(ReadLater(*key), Kept(*key))
        if isinstance(self._initial[key], torch.Tensor):
            self._keep_tensor(self._initial[key])

    def in_order(self, keys: Keys) -> Iterator[tuple[Key, Any]]:
        """These attributes and their values, `ABSENT` where one is not set; in Python's order where that is asked."""
        numbers = {module: number for number, module in enumerate(self.modules.all)}
        order = {key: number for number, key in enumerate(self._table)}

        def place(key: Key) -> tuple[int, int, str]:
            return numbers[key[0]], order.get(key, -1) if ReadAll(key[0]) in self._knowledge else -1, key[1]

        for key in sorted(keys, key=place):
            if key in self._in_place:
                yield key, dict.get(raw(self._pinned[key[0]]), key[1], ABSENT)
            else:
                yield key, self._table.get(key, ABSENT)

    def home(self, key: Key) -> Home | None:
        """Where a module has an attribute, as far as the program can tell; None if it has none."""
        if self.current(self._pinned[key[0]], key[1]) is _MISSING:
            return None
        home = self._homes[key]
        return home if ReadAll(key[0]) in self._knowledge else Home(home.table)

    def thaw(self, key: Key, value: Any, home: Home | None) -> None:
        """Let an attribute have the value that a state tells, or none if it is `ABSENT`."""
        self._set_in_call.add(key)
        if home is None:
            self._drop(key)
        else:
            self._homes[key] = home
            self._store(key, value)
