"""A compiled program: call it like the model it was made from."""

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dycl.hcfg.nodes import BlockId, Hcfg, Return, Run, next_calls
from dycl.hcfg.structure import Slot
from dycl.hcfg.types import Span
from dycl.runtime import artefact as artefact_file
from dycl.runtime.artefact import Artefact, Source
from dycl.runtime.call_inputs import Signature
from dycl.runtime.choice import processor
from dycl.runtime.errors import ChoiceWarning
from dycl.runtime.host import CallResult, Host, Visit
from dycl.runtime.python_host import PythonHost
from dycl.runtime.results import arrange, types_by_name
from dycl.runtime.tensors import to_torch
from dycl.runtime.timings import Timings
from dycl.runtime.weight_store import Array


@dataclass(frozen=True, slots=True)
class Taken:
    """A decision as one input took it: where it stands in the source, how it went, in which block."""

    span: Span
    outcome: bool | int
    block: BlockId

    def __str__(self) -> str:
        return f"{self.span}: {self.outcome} ({self.block})"


@dataclass(frozen=True, slots=True)
class Path:
    """The blocks that one input visited and the decisions it took, in order."""

    blocks: tuple[BlockId, ...]
    decisions: tuple[Taken, ...]
    subnet_calls: int

    def __str__(self) -> str:
        count = f"{len(self.blocks)} blocks, {len(self.decisions)} decisions, {self.subnet_calls} sub-DNN calls"
        return "\n".join(
            (f"path: {count}", f"  {' -> '.join(self.blocks)}", *(f"  {taken}" for taken in self.decisions))
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """What a call returned, and the path it took."""

    outputs: Any
    path: Path

    @property
    def subnet_calls(self) -> int:
        """How many sub-DNNs ran."""
        return self.path.subnet_calls

    def __iter__(self) -> Iterator[object]:
        """Outputs and path, so that `outputs, path = program.trace(x)` reads well."""
        return iter((self.outputs, self.path))

    def __str__(self) -> str:
        return str(self.path)


class Program:
    """A compiled model. It may be called from several threads at the same time.

    If the model keeps state from one call to the next (a hidden state on `self`, a buffer updated in place), so does
    the program: it starts from the model's state, and `reset` brings it back there. Calls of such a program take turns.
    A call that raises leaves the state as it was before.

    Tensors may be numpy arrays or PyTorch tensors. If any is a PyTorch tensor, the results are PyTorch tensors on the
    CPU, else numpy arrays; bfloat16, which numpy lacks, comes as an array of its bits. A call reads its arguments where
    they lie, and never changes them. No result shares memory with an argument or a weight.

    `host` is what runs the graph: the Python executor unless another one is given.
    """

    def __init__(
        self,
        artefact: Artefact,
        *,
        threads: int = 1,
        types: Mapping[str, Any] | None = None,
        host: Host | None = None,
    ) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}, it must be at least 1")
        self.timings = Timings()
        """How many seconds each stage of the compilation took; empty for a program from a file."""
        self._artefact = artefact
        self._types = dict(types or {})
        self._signature = Signature(artefact.hcfg)
        self._hosted = (host or PythonHost()).open(artefact, threads)
        blocks = artefact.hcfg.blocks.values()
        self._structures = {
            block.id: block.terminator.structure for block in blocks if isinstance(block.terminator, Return)
        }
        self._subnet_calls = {block.id: sum(isinstance(step, Run) for step in block.steps) for block in blocks}
        self._keeps_state = any(next_calls(block.terminator) for block in blocks)
        self._kept: object | None = None
        self._turn = threading.Lock()

    @property
    def artefact(self) -> Artefact:
        """Everything that `save` writes."""
        return self._artefact

    @property
    def hcfg(self) -> Hcfg:
        """The program's graph."""
        return self._artefact.hcfg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Nothing; the program is in the file at `path` afterwards."""
        artefact_file.write(self._artefact, path)

    @property
    def keeps_state(self) -> bool:
        """Whether a call can change what later calls return."""
        return self._keeps_state

    def reset(self) -> None:
        """Nothing; the next call begins with the state that the model had when it was compiled."""
        with self._turn:
            self._kept = None

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What the model returns for these arguments; InputError if they do not fit what was compiled."""
        return self._run(args, kwargs, None)

    def trace(self, *args: object, **kwargs: object) -> Trace:
        """What the model returns for these arguments, and the path that they take."""
        visits: list[Visit] = []
        outputs = self._run(args, kwargs, visits)
        blocks, calls = self.hcfg.blocks, self._subnet_calls
        return Trace(
            outputs,
            Path(
                blocks=tuple(visit.block for visit in visits),
                decisions=tuple(
                    Taken(blocks[visit.block].terminator.span, visit.outcome, visit.block)
                    for visit in visits
                    if visit.outcome is not None
                ),
                subnet_calls=sum(calls[visit.block] for visit in visits),
            ),
        )

    def __repr__(self) -> str:
        hcfg = self.hcfg
        return f"<Program {hcfg.name}: {len(hcfg.blocks)} blocks, {len(hcfg.subnets)} sub-DNNs>"

    def _run(self, args: tuple[object, ...], kwargs: Mapping[str, object], visits: list[Visit] | None) -> object:
        inputs = self._signature.match(args, kwargs)
        if not self._keeps_state:
            return self._arranged(self._hosted.run(inputs.arrays, None, visits), inputs.from_torch)
        with self._turn:
            result = self._hosted.run(inputs.arrays, self._kept, visits)
            if result.kept is not None:
                self._kept = result.kept
        if result.error is not None:
            raise result.error
        return self._arranged(result, inputs.from_torch)

    def _arranged(self, result: CallResult, as_torch: bool) -> object:
        return arrange(self._structures[result.block], _ResultValues(result.outputs, as_torch), self._types)


class _ResultValues:
    """The values of a result as the caller gets them."""

    def __init__(self, arrays: Sequence[Array], as_torch: bool) -> None:
        self._arrays = arrays
        self._as_torch = as_torch

    def value(self, slot: Slot, row: int | None) -> object:
        array = self._arrays[slot.index]
        if row is not None:
            array = np.array(array[row])
        match slot.kind:
            case "tensor":
                return to_torch(array) if self._as_torch else array
            case "array":
                return array
            case "scalar":
                # NumPy has two kinds of whole number with 64 bits; its own results are of the one with the plain name.
                return np.dtype(array.dtype.name).type(array[()])
            case _:
                return array.item()

    def length(self, index: int) -> int:
        return self._arrays[index].shape[0]


def load(source: Source, *, threads: int = 1, types: Iterable[type] = (), host: Host | None = None) -> Program:
    """The program in `source`, checked through before anything of it runs.

    `source` is the path of a file, or its bytes, or a file open for reading bytes, which is read to its end. A file
    that is named by its path is mapped into memory instead of being copied there, so it must stay as it is while the
    program is in use; `save` may replace it, since that makes a new file.

    `types` are the classes of the model's results, if it returns dataclasses, named tuples or subclasses of dict.
    `host` runs the program's graph: the Python executor unless another one is given.

    A warning, ChoiceWarning, says so if the fastest backends were chosen on another processor: the program is right all
    the same.
    """
    artefact = artefact_file.read(source)
    if artefact.choice is not None and artefact.choice.processor != processor():
        told = f"the backends of {artefact.hcfg.name} were chosen on {artefact.choice.processor}"
        warnings.warn(f"{told}: `dycl tune` chooses again", ChoiceWarning, stacklevel=2)
    return Program(artefact, threads=threads, types=types_by_name(types), host=host)
