"""Explores the one path that an input takes.

The machine runs as it does for the whole program, but each decision is made at once, by computing what it needs, and
only its outcome is followed. So nothing is merged and nothing widened: what the path determines, such as how often a
loop goes round and how long a list becomes, is known, as it is to a tracer.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from dycl.hcfg.module import operands
from dycl.hcfg.subnet import Argument, DTypeArgument, Ref
from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.drafts import Edge, End, Entry, Onward, Result
from dycl.rewrite.explore.explorer import Explorer
from dycl.rewrite.record.recording import Recording
from dycl.rewrite.state.skeleton import Skeleton
from dycl.rewrite.state.stops import Decided, Stop
from dycl.rewrite.tensor_types import torch_dtype


class Follower(Explorer):
    """Explores the path that these arguments take, as blocks of which each leads to the next."""

    def __init__(
        self, model: nn.Module, call: ExampleCall, supports: Callable[[str], bool], arguments: Sequence[torch.Tensor]
    ) -> None:
        self._arguments = list(arguments)
        super().__init__(model, call, supports)

    def _begin(self) -> None:
        super()._begin()
        self._values = self._arguments

    def _roll_long_loops(self) -> None:
        """Nothing: how often a loop goes round is known."""

    def _end(self, stop: Stop) -> End:
        if not isinstance(stop, Decided):
            end = super()._end(stop)
            if isinstance(end, Result):
                end.next_call = None
            return end
        self.last_place = self.machine.span
        computed = _Computed(self.recorder.recording, self._values)
        value = computed[self.recorder.ref(stop.value.tensor)].item()
        outcome = next(outcome for outcome in stop.outcomes if outcome.case == value)
        edge = self._enter(outcome)
        self._values = [computed[leaf] for leaf in edge.leaves]
        return Onward(edge)

    def _next_call(self) -> Edge:
        edge = super()._next_call()
        computed = _Computed(self.recorder.recording, self._arguments)
        self._values = [*self._arguments, *(computed[leaf] for leaf in edge.leaves)]
        return edge

    def _entry(self, skeleton: Skeleton, order: Any) -> Entry:
        self.count += 1
        entry = Entry(self.count, skeleton, order)
        if not entry.begins_call or self.count == 1:
            heapq.heappush(self.queue, (order, entry.number, entry))
        return entry


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
