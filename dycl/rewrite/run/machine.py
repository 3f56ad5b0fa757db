"""Run the user's program on fake tensors until it needs a value that only the input determines.

The machine interprets flat functions. Straight-line work is done by Python itself: a call is simply made
(`run/calls.py`), and interpreted only if a decision hides in it. `run` stops at the first decision, at the
end of the program, or at an error that the program raises.
"""

import contextlib
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from dycl.hcfg.types import Span
from dycl.rewrite.knowledge import Knowledge
from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    Delete,
    Drop,
    GoTo,
    Instruction,
    Known,
    Leave,
    LoadCell,
    LoadGlobal,
    MakeFunction,
    Move,
    NextItem,
    Operand,
    PopHandler,
    PushHandler,
    Raise,
    RaiseAgain,
    Read,
    Register,
    StartLoop,
    StoreCell,
    Unpack,
    Unsupported,
    Yield,
)
from dycl.rewrite.own_code import is_own_file
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.run import calls, entering, errors, generators, native_code, stepped_through
from dycl.rewrite.run.arguments import identity, spread_over
from dycl.rewrite.run.following import followed
from dycl.rewrite.run.genuine import require_genuine
from dycl.rewrite.run.local_names import cell_contents
from dycl.rewrite.run.native_code import would_be_caught
from dycl.rewrite.run.rolled import rolled_up
from dycl.rewrite.run.touching import untouchable
from dycl.rewrite.semantics.dynamic import truth
from dycl.rewrite.semantics.in_python.builtin_functions import stands_in
from dycl.rewrite.signals import SIGNALS, CheckMet, DecisionMet, Refused, Restart
from dycl.rewrite.state.frames import (
    Frame,
    Generator,
    HostRange,
    ItemIterator,
    ParallelIterator,
    RangeIterator,
    over_container,
)
from dycl.rewrite.state.heap import Heap
from dycl.rewrite.state.lazy_iterators import LIST_ITERATOR, LazyIterator
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.state.stops import Decided, Outcome, Raised, Returned, Stop, Stopped
from dycl.rewrite.state.tables import GrownList

_MOST_ITEMS = 100_000
# Registers of a frame at an operation that may raise: how many checks hold, as a text since numbers widen; its error.
_CHECKS = "!checks"
_ERROR = "!error"


class Machine:
    """The state of one run: a stack of frames, the heap and the block being recorded."""

    def __init__(
        self,
        recorder: Recorder,
        heap: Heap,
        pinned: Pinned,
        knowledge: Knowledge,
        note: Callable[[str, Span], None],
    ) -> None:
        self.recorder, self.knowledge, self.heap, self.pinned, self.note = recorder, knowledge, heap, pinned, note
        recorder.places, recorder.catches_errors = self.places, self.catches_errors
        self.frames: list[Frame] = []
        self.waiting: list[Generator] = []
        self.entered: dict[types.CodeType, None] = {}
        """The functions that were interpreted."""
        self.watched: set[Any] = set()
        self.looked_at: set[Any] = set()
        self.nested: set[Any] = set()
        self.cached: dict[int, Any] = {}
        self.interned: dict[Any, tuple[Any, ...]] = {}
        self.contexts, self.recorded_before = contextlib.ExitStack(), 0
        self._tracebacks = errors.Tracebacks()
        self.last_places: tuple[Span, ...] = ()

    @property
    def span(self) -> Span:
        """Where the program is now, in the user's own words: what stands in for a builtin is where that is called."""
        own = [frame for frame in self.frames if not _stands_in(frame)]
        return own[-1].instruction.span if own else self.last_places[-1]

    def in_own_code(self) -> bool:
        """Whether the program is inside of DyCL's own code: numbers that only the input determines have some."""
        return is_own_file(self.frames[-1].function.code.co_filename)

    @property
    def module(self) -> str | None:
        """The name of the module whose code is interpreted."""
        return self.frames[-1].globals.get("__name__")

    @property
    def in_stand_in(self) -> bool:
        """Whether the program is inside of what stands in for a builtin."""
        return _stands_in(self.frames[-1])

    def catches_errors(self) -> bool:
        """Whether a `try` around the current instruction may catch an error."""
        return errors.may_be_caught(self) or would_be_caught()

    def handled(self) -> BaseException | None:
        """The error that is being handled now."""
        return errors.handled(self)

    def places(self) -> tuple[Span, ...]:
        """Where the program is now, outermost call first."""
        return tuple(frame.instruction.span for frame in self.frames if not _stands_in(frame))

    def run(self) -> Stop:
        """Go on until something only the input determines is needed, or to the end."""
        with self.recorder:
            while True:
                frame = self.frames[-1]
                passed = frame.registers.pop(_CHECKS, 0)
                self.recorder.checks_passed = int(passed)
                try:
                    if _ERROR in frame.registers:
                        error, given = frame.registers.pop(_ERROR)
                        stop = self.raise_error(errors.class_named(error)(*given))
                    else:
                        stop = self._step(frame, frame.instruction)
                except CheckMet as met:
                    stop = self._decide_check(frame, met, int(passed))
                except DecisionMet as decision:
                    stepped_through.require_known(self, decision)
                    raise decision.refusal("DY001", f"{decision.reason} is needed here") from None
                except SIGNALS:
                    raise
                except BaseException as error:
                    errors.require_known_kind(error)
                    require_genuine(self, frame, frame.instruction, error)
                    errors.add_context(error, self)
                    stop = self.raise_error(error)
                if stop is not None:
                    return stop

    def _decide_check(self, frame: Frame, met: CheckMet, passed: int) -> Stop:
        """Whether an operation raises an error that the program may catch is a decision: go on with it, or raise."""
        goes_on = Outcome(True, frame.position, {_CHECKS: str(passed + 1)})
        raises = Outcome(False, frame.position, {_ERROR: (met.error, met.given)})
        return Decided(HostValue("bool", met.condition, self.recorder), (goes_on, raises))

    def value(self, frame: Frame, operand: Operand) -> Any:
        if isinstance(operand, Known):
            return operand.value
        try:
            return self.number(frame.registers[operand.register])
        except KeyError:
            message = f"cannot access local variable '{operand.register}' where it is not associated with a value"
            raise UnboundLocalError(message) from None

    def number(self, value: Any) -> Any:
        """The value itself; a size that PyTorch handed out as a symbol as a host value."""
        symbolic = isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)
        return import_symbol(value, self.recorder) if symbolic else value

    def _step(self, frame: Frame, instruction: Instruction) -> Stop | None:
        match instruction:
            case Call():
                return calls.call(self, frame, instruction)
            case Move(dest=dest, source=source):
                frame.registers[dest] = self.value(frame, source)
            case LoadGlobal(dest=dest, name=name):
                frame.registers[dest] = self._global(frame, name)
            case LoadCell(dest=dest, cell=cell):
                frame.registers[dest] = cell_contents(frame.registers[cell], cell, frame)
            case StoreCell(cell=cell, source=source):
                frame.registers[cell].cell_contents = self.value(frame, source)
            case MakeFunction(dest=dest):
                frame.registers[dest] = entering.make_function(self, frame, instruction)
            case GoTo(label=label):
                frame.position = label
                return None
            case BranchOn(condition=condition, then=then, orelse=orelse):
                return self._branch(frame, self.value(frame, condition), then, orelse)
            case StartLoop(dest=dest, source=source):
                value = self.value(frame, source)
                rolled = self.knowledge.rolls((frame.function.code, dest))
                frame.registers[dest] = (rolled_up(value) if rolled else None) or self.iterator(value)
            case NextItem():
                return self._next_item(frame, instruction)
            case Unpack(dests=dests, star=star, source=source):
                self._unpack(frame, dests, star, self.value(frame, source))
            case PushHandler(label=label, exception=exception):
                frame.handlers.append((label, exception))
            case PopHandler():
                frame.handlers.pop()
            case Raise(exception=exception, cause=cause):
                error = errors.to_raise(self.value(frame, exception))
                if cause is not None:
                    error = errors.with_cause(error, self.value(frame, cause))
                errors.set_context(error, self.handled())
                return self.raise_error(error)
            case RaiseAgain(exception=exception):
                return self.raise_error(self.value(frame, exception))
            case Leave(source=source):
                return self._return(frame, self.value(frame, source))
            case Yield(source=source):
                generators.hand_out(self, self.value(frame, source))
                return None
            case Delete(register=register):
                self.value(frame, Read(register))
                del frame.registers[register]
            case Drop(iterator=iterator):
                calls.drop(self, frame, frame.registers.get(iterator))
                return None
            case Unsupported(identifier=identifier, reason=reason):
                raise Refused(identifier, reason)
        frame.position += 1
        return None

    def _global(self, frame: Frame, name: str) -> Any:
        builtins = frame.globals["__builtins__"]
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        if name not in frame.globals and name not in table:
            raise NameError(f"name '{name}' is not defined", name=name)
        value = frame.globals.get(name, table.get(name))
        if not isinstance(value, torch.Tensor | int | float | str | tuple):
            self.pinned.add(value)
        self.heap.watch_global(value, name, frame.globals)
        return value

    def _branch(self, frame: Frame, condition: Any, then: int, orelse: int) -> Stop | None:
        if calls.begin_special(self, bool, ((condition,), {})):
            return None
        try:
            holds = truth(condition, self)
        except DecisionMet as met:
            if native_code.mark(self, met):
                raise Restart from None
            raise
        if isinstance(holds, HostValue):
            return Decided(holds, (Outcome(True, then, {}), Outcome(False, orelse, {})))
        frame.position = then if holds else orelse
        return None

    def iterator(self, source: Any) -> Any:
        """An iterator over `source` that can be copied with the state."""
        name = self.heap.untouchable((source,))
        if name is not None:
            raise untouchable(name)
        match source:
            case ItemIterator() | ParallelIterator() | LazyIterator() | Generator() | RangeIterator():
                return source
            case itertools.count():
                return source  # whoever else holds it sees how far it has come
            case GrownList():
                return RangeIterator(0, None, 1, source)
            case list():
                return ItemIterator(source, known=len(source), kind=LIST_ITERATOR)
            case range():
                return ItemIterator(source, kind=type(iter(source)))
            case _ if type(source) is HostArray and source.ndim and isinstance(source.tensor.shape[0], int):
                return ItemIterator(source)
            case HostRange():
                return RangeIterator(source.start, source.stop, source.step)
            case torch.Tensor() if source.dim() and not isinstance(source.shape[0], int):
                return RangeIterator(0, import_symbol(source.shape[0], self.recorder), 1, source)
        watching = over_container(source)
        if watching is not None:
            return watching
        # Others may hold an iterator that is written in C, too: it must give each item once.
        given = syntax.is_iterator(source) and hasattr(type(source), "__iter__")
        return source if given else self.over(followed(self, iter, (source,), {}))

    def over(self, source: Iterator[Any]) -> ItemIterator:
        """An iterator over items; those that never change are kept once, so that states need not look at them."""
        items: tuple[Any, ...] = followed(self, tuple, (itertools.islice(source, _MOST_ITEMS + 1),), {})
        if len(items) > _MOST_ITEMS:
            raise Refused("DY011", f"a loop runs over more than {_MOST_ITEMS} items")
        key = identity(items)
        if key is not None:
            items = self.interned.setdefault(key, items)
            self.pinned.add(items)
        return ItemIterator(items, kind=type(source))

    def _next_item(self, frame: Frame, instruction: NextItem) -> Stop | None:
        iterator = frame.registers[instruction.iterator]
        if isinstance(iterator, RangeIterator):
            following = Outcome(
                True, frame.position + 1, {instruction.dest: iterator.position}, (iterator, iterator.following())
            )
            unfinished = iterator.unfinished()
            if isinstance(unfinished, HostValue):
                return Decided(unfinished, (following, Outcome(False, instruction.exhausted, {})))
            if not unfinished:
                frame.position = instruction.exhausted
                return None
            frame.registers[instruction.dest] = iterator.position
            iterator.position = iterator.following()
            frame.position += 1
            return None
        if isinstance(iterator, Generator):
            if not iterator.finished:
                return generators.resume(self, iterator)
            generators.require_over(iterator)
            frame.position = instruction.exhausted
            return None
        if syntax.gives_items_itself(iterator):
            self.frames.append(entering.frame(self, type(iterator).__next__, ((iterator,), {}), "item"))
            return None
        try:
            item = followed(self, next, (iterator,), {})
        except StopIteration:
            frame.position = instruction.exhausted
            return None
        frame.registers[instruction.dest] = item
        frame.position += 1
        return None

    def _unpack(self, frame: Frame, dests: tuple[Register, ...], star: int | None, source: Any) -> None:
        items = source.unpacked(len(dests), star) if type(source) is GrownList else followed(self, list, (source,), {})
        if type(source) is GrownList:
            frame.registers.update(zip(dests, items, strict=True))
            return
        frame.registers.update(zip(dests, spread_over(items, len(dests), star), strict=True))

    def _return(self, frame: Frame, value: Any) -> Stop | None:
        self.frames.pop()
        if frame.purpose == "construct":
            if value is not None:
                return self.raise_error(TypeError(f"__init__() should return None, not '{type(value).__name__}'"))
            value = frame.constructed
        if not self.frames:
            self.last_places = (frame.instruction.span,)
            return Returned(value)
        caller = self.frames[-1]
        waiting = caller.instruction
        if frame.purpose == "next":
            return generators.end(self, frame, value)
        if isinstance(waiting, BranchOn):
            return self._branch(caller, value, waiting.then, waiting.orelse)
        assert isinstance(waiting, Call | Drop | NextItem)
        if not isinstance(waiting, Drop):
            caller.registers[waiting.dest] = value
        caller.position += 1
        return None

    def raise_error(self, error: BaseException) -> Stop | None:
        """Let the innermost handler catch the error; with none left the program ends with it."""
        known = None if self.heap.note_raised(error) else self._tracebacks.places(error)
        places = known or self.places()
        self._tracebacks.mark(error, places)
        for depth in reversed(range(len(self.frames))):
            frame = self.frames[depth]
            if frame.handlers:
                label, register = frame.handlers.pop()
                frame.registers[register] = error
                frame.position = label
                return None
            if depth:
                self.frames.pop()
                waiting = self.frames[-1].instruction
                if frame.purpose == "item" and isinstance(error, StopIteration) and isinstance(waiting, NextItem):
                    self.frames[-1].registers[waiting.iterator] = Stopped(error.value)
                    self.frames[-1].position = waiting.exhausted
                    return None
                if frame.purpose == "next":
                    error = generators.fail(frame, error)
                    self._tracebacks.mark(error, self._tracebacks.places(error) or places)
                    if isinstance(error, StopIteration) and isinstance(waiting, NextItem):
                        self.frames[-1].position = waiting.exhausted
                        return None
        return Raised(error, places)


def _stands_in(frame: Frame) -> bool:
    """Whether a frame runs what stands in for a builtin."""
    return stands_in(frame.function.code)
