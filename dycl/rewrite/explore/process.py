"""What all explorations of one program share: the model, the machine that runs it, and what is known."""

from collections.abc import Callable

import torch
from torch import nn

from dycl.hcfg.types import Span
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.budget import Budget
from dycl.rewrite.knowledge import Interpret, KeepViews, Knowledge, LargeNumbers
from dycl.rewrite.model_parts import tensors_of
from dycl.rewrite.normalise.source import span_of_function
from dycl.rewrite.record import number_classes
from dycl.rewrite.record.memory.aliases import memory
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.run import calls, entering
from dycl.rewrite.run.callees import resolve
from dycl.rewrite.run.machine import Machine
from dycl.rewrite.semantics.numpy.calls import ARRAY_OPERATIONS
from dycl.rewrite.signals import Again, Refused
from dycl.rewrite.state.heap import Heap
from dycl.rewrite.state.pinned import Pinned


class Process:
    """A program that can be run from any of its states."""

    def __init__(self, model: nn.Module, call: ExampleCall, supports: Callable[[str], bool], budget: Budget) -> None:
        self.call = call
        self.budget = budget
        self.pinned = Pinned()
        self.knowledge = Knowledge()
        self.knowledge.learn(*map(Interpret, calls.ALWAYS_INTERPRETED))
        self.recorder = Recorder(supports, lambda: self.machine.span, ARRAY_OPERATIONS)
        self.recorder.views_written = self._keep_views
        fact = LargeNumbers()
        self.recorder.large_numbers = number_classes.LargeNumbers(
            lambda: self.knowledge.learn(fact), lambda: self.knowledge.knows(fact)
        )
        self.heap = Heap(model, self.pinned, self.recorder, self.knowledge)
        self.notes: dict[tuple[str, Span], None] = {}
        self.machine = Machine(self.recorder, self.heap, self.pinned, self.knowledge, self._note)
        for _, tensor in tensors_of(model):
            self.pinned.add(tensor)
            if tensor.layout is torch.strided:
                self.recorder.model_memory.add(memory(tensor))
        entry = model.forward if call.callee is model else call.callee
        self.machine.last_places = (span_of_function(entry),)

    def _note(self, text: str, span: Span) -> None:
        self.notes[text, span] = None

    def _keep_views(self, sharing: list[torch.Tensor]) -> None:
        """Explore again with these tensors' views kept, unless that was done already."""
        places = self.recorder.recording.places
        facts = [KeepViews(places[id(tensor)]) for tensor in sharing if id(tensor) in places]
        if any(fact not in self.knowledge for fact in facts):
            self.knowledge.learn(*facts)
            raise Again

    def inputs(self) -> list[torch.Tensor]:
        """A parameter for each input."""
        return list(map(self.recorder.parameter, self.call.types, self.call.strides))

    def begin_call(self, inputs: list[torch.Tensor]) -> None:
        """Put the machine at the start of a call: what is called may hang on what an earlier one has changed."""
        self.machine.frames = []
        args, kwargs = self.call.arguments(inputs)
        function, arguments, purpose, made = resolve(self.call.callee, args, kwargs)
        if function is None:
            raise Refused("DY003", "the model's own method is not a Python function")
        try:
            self.machine.frames.append(entering.frame(self.machine, function, arguments, purpose, made))
        except TypeError as error:
            raise Refused("DY013", f"the example arguments do not fit the model: {error}") from None
