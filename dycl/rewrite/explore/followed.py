"""Explores the one path that an input takes.

The machine runs as it does for the whole program, but each decision is made at once, by computing what it needs, and
only its outcome is followed. So nothing is merged and nothing widened: what the path determines, such as how often a
loop goes round and how long a list becomes, is known, as it is to a tracer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from dycl.hcfg.module import operands
from dycl.hcfg.subnet import Argument, DTypeArgument, Ref
from dycl.hcfg.types import Span
from dycl.rewrite.explore.drafts import Arrival, Draft, End, Entry, Failure, Onward, Result
from dycl.rewrite.explore.exploration import Exploration, Ran, ahead
from dycl.rewrite.explore.process import Process
from dycl.rewrite.explore.states import States
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.state.stops import Decided, Stop
from dycl.rewrite.tensor_types import torch_dtype


class Following(Exploration):
    """Explores the path that these arguments take, as blocks of which each leads to the next."""

    def __init__(self, process: Process, arguments: Sequence[torch.Tensor]) -> None:
        super().__init__(process, {})
        self.states = _Line(self.knowledge, process.budget)
        self._arguments = list(arguments)
        self._values = self._arguments

    def _run(self, entry: Entry) -> Ran | None:
        ran = super()._run(entry)
        self.ran.clear()  # The same state may come again, and go another way.
        return ran

    def _decided(self, stop: Decided) -> End:
        computed = _Computed(self.recorder.recording, self._values)
        value = computed[self.recorder.ref(stop.value.tensor)].item()
        outcome = next(outcome for outcome in stop.outcomes if outcome.case == value)
        arrival = self._arrival(outcome)
        self._values = [computed[leaf] for leaf in arrival.leaves]
        return Onward(ahead(arrival))

    def _end(self, stop: Stop) -> tuple[End, Span]:
        end, place = super()._end(stop)
        return (replace(end, next_call=None) if isinstance(end, Result | Failure) else end), place

    def _beginning(self) -> Draft:
        draft = super()._beginning()
        assert isinstance(draft.end, Onward)
        computed = _Computed(draft.recording, self._arguments)
        self._values = [*self._arguments, *(computed[leaf] for leaf in draft.end.edge.leaves)]
        return draft


class _Line(States):
    """Every state has a block of its own: the path knows where it goes."""

    def enter(self, arrival: Arrival) -> Entry:
        return self.queued((len(self),), arrival.skeleton, arrival.order)


class _Computed:
    """The values of a block's tensors, computed by PyTorch as they are asked for."""

    def __init__(self, recording: Recording, inputs: Sequence[torch.Tensor]) -> None:
        self._values = dict(zip(recording.inputs, inputs, strict=True))
        self._values |= {
            item.ref: torch.as_tensor(item.value) for item in (*recording.captured, *recording.weights.values())
        }
        self._makers = {ref: operation for operation in recording.operations for ref in operation.outputs}

    def __getitem__(self, ref: Ref) -> torch.Tensor:
        waiting = [ref]
        while waiting:
            maker = None if waiting[-1] in self._values else self._makers[waiting[-1]]
            if maker is None:
                waiting.pop()
                continue
            missing = [need for need in operands(maker) if need not in self._values]
            if missing:
                waiting.extend(missing)
                continue
            namespace, name, overload = maker.target.split(".")
            call = getattr(getattr(getattr(torch.ops, namespace), name), overload)
            tensors = {item.name for item in call._schema.arguments if "Tensor" in str(item.type)}
            with torch.inference_mode():
                result = call(**{key: self._concrete(value, key in tensors) for key, value in maker.arguments.items()})
            results = result if isinstance(result, tuple | list) else (result,)
            self._values |= {
                output: torch.as_tensor(value)
                for output, value in zip(maker.outputs, results, strict=True)
                if output is not None
            }
        return self._values[ref]

    def _concrete(self, argument: Argument, as_tensor: bool) -> Any:
        match argument:
            case Ref():
                return self._values[argument] if as_tensor else self._values[argument].item()
            case DTypeArgument(dtype=dtype):
                return torch_dtype(dtype)
            case tuple():
                return [self._concrete(item, as_tensor) for item in argument]
            case _:
                return argument
