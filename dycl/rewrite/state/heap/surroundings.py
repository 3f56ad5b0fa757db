"""All that was there before the call and that the program can reach, compared with what it was and put back."""

from collections.abc import Callable, Collection
from typing import Any

from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.state.heap.contents import BUFFERS, fill, holds_one_of, is_same, mapped
from dycl.rewrite.state.heap.found import Found
from dycl.rewrite.state.heap.shared_memory import GETS_AT_MEMORY
from dycl.rewrite.state.heap.watched import Watched


class Surroundings(Found):
    """What the program can reach: before, at and after a call."""

    def begin(self, first: Callable[[Any], Any], written: Collection[int]) -> None:
        """Start a call: containers have their first contents, with `first` in the place of each written tensor."""
        as_it_was, self._at_stop = self._at_stop, None
        self.caches.restore()
        if self.names_one_of(GETS_AT_MEMORY):
            self.guards.extend(self.memories.new_guards())
        if not as_it_was:
            if not self._is_quiet():
                self.undo()
                for watched in self.containers:
                    fill(watched.container, watched.first)
            for guard in [guard for guard in self._compared.guards_one_by_one if guard.changed() is not None]:
                guard.restore()
        for watched in self._compared.one_by_one:
            fill(watched.container, watched.first)
        if len(written) != self._written:
            self._written = len(written)
            self._mixed = [watched for watched in self.containers if holds_one_of(watched.first, written)]
            self._compared.begin_anew()
        for watched in self._mixed:
            watched.at_start = mapped(watched.first, first)
            fill(watched.container, watched.at_start)

    def restore(self) -> None:
        """Give everything the contents that it had before the call."""
        for table in [table for table, _ in self._empty if table]:
            table.clear()
        for watched in self.containers:
            if isinstance(watched.container, dict) and FakeTensor not in watched.first:
                dict.pop(watched.container, FakeTensor, None)
            fill(watched.container, watched.first)
        self.undo()

    def undo(self) -> None:
        """Undo changes of what must not change."""
        self._at_stop = None
        self.caches.restore()
        for guard in self.guards:
            guard.restore()

    def changed(self, at_stop: bool = False) -> str | None:
        """What has changed that must not, in words; where a block ends, nothing changes until the next one begins."""
        quiet = self._is_quiet()
        asked = self._compared.guards_one_by_one if quiet else self.guards
        told = next((told for guard in asked if (told := guard.changed()) is not None), None)
        self._at_stop = quiet if at_stop and told is None else None
        if told is not None:
            return told
        arrays = (watched for watched in self._changed_in_call() if isinstance(watched.container, BUFFERS))
        shared = (watched.name for watched in arrays if self.memories.shares(watched.container))
        return next((f"`{name}`, whose memory something else shares" for name in shared), None)

    def to_freeze(self) -> list[tuple[int, Watched]]:
        """The containers that hold something else than they did at first, with their numbers."""
        changed = {id(watched) for watched in (*self._changed_in_call(), *self._mixed)}
        return [(number, one) for number, one in enumerate(self.containers) if id(one) in changed] if changed else []

    def changed_containers(self) -> set[int]:
        """The containers that hold something else than before the first call."""
        return {id(watched.container) for watched in self.containers if not is_same(watched.container, watched.first)}

    @property
    def all_as_at_start(self) -> bool:
        """Whether every container holds what it held when the call began."""
        return not self._changed_in_call()

    def _changed_in_call(self) -> list[Watched]:
        quiet = self._is_quiet() if self._at_stop is None else self._at_stop
        asked = [*self._compared.one_by_one, *self._mixed] if quiet else self.containers
        changed = [watched for watched in asked if not is_same(watched.container, watched.at_start)]
        return [watched for watched in changed if not self.unread.has(watched)]

    def _is_quiet(self) -> bool:
        """Whether nothing has changed of what is compared all at once."""
        if len(self._empty_tables) != len(self._empty):
            self._empty_tables = [table for table, _ in self._empty]
        if any(self._empty_tables):
            full = [(table, name) for table, name in self._empty if table]
            self._empty = [(table, name) for table, name in self._empty if not table]
            for table, name in full:
                self.containers.append(Watched(table, type(table)(), type(table)(), name))
        return self._compared.hold(self._mixed)
