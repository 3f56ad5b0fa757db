"""A compiled program: call it like the model it was made from."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dycl.hcfg.nodes import BlockId, Hcfg, next_calls
from dycl.hcfg.structure import Slot
from dycl.hcfg.types import DType, Span, carrier
from dycl.runtime import artefact as artefact_file
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Engine, find_backend
from dycl.runtime.call_inputs import Signature
from dycl.runtime.executor import Executor, Result, Visit
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
    CPU, else numpy arrays; bfloat16, which numpy lacks, comes as an array of its bits. No result shares memory with an
    argument or a weight.
    """

    def __init__(self, artefact: Artefact, *, threads: int = 1, types: Mapping[str, Any] | None = None) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}, it must be at least 1")
        self.timings = Timings()
        """How many seconds each stage of the compilation took; empty for a program from a file."""
        self._artefact = artefact
        self._types = dict(types or {})
        self._signature = Signature(artefact.hcfg)
        self._engine = find_backend(artefact.backend).open(artefact, threads)
        self._executor = Executor(artefact.hcfg, self._engine)
        self._keeps_state = any(next_calls(block.terminator) for block in artefact.hcfg.blocks.values())
        self._kept = self._executor.first_call
        self._turn = threading.Lock()
        self._dtypes = [carrier(parameter.type).dtype for parameter in artefact.hcfg.inputs]

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
            self._kept = self._executor.first_call

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What the model returns for these arguments; InputError if they do not fit what was compiled."""
        return self._run(args, kwargs, None)

    def trace(self, *args: object, **kwargs: object) -> Trace:
        """What the model returns for these arguments, and the path that they take."""
        visits: list[Visit] = []
        outputs = self._run(args, kwargs, visits)
        return Trace(
            outputs,
            Path(
                blocks=tuple(visit.block.id for visit in visits),
                decisions=tuple(
                    Taken(visit.block.span, visit.outcome, visit.block.id)
                    for visit in visits
                    if visit.outcome is not None
                ),
                subnet_calls=sum(visit.block.subnet_calls for visit in visits),
            ),
        )

    def __repr__(self) -> str:
        hcfg = self.hcfg
        return f"<Program {hcfg.name}: {len(hcfg.blocks)} blocks, {len(hcfg.subnets)} sub-DNNs>"

    def _run(self, args: tuple[object, ...], kwargs: Mapping[str, object], visits: list[Visit] | None) -> object:
        inputs = self._signature.match(args, kwargs)
        put = self._engine.put
        frame = [put(array, dtype) for array, dtype in zip(inputs.arrays, self._dtypes, strict=True)]
        if not self._keeps_state:
            return self._arranged(self._executor.run(frame, self._kept, visits), inputs.from_torch)
        with self._turn:
            result = self._executor.run(frame, self._kept, visits)
            if result.kept is not None:
                self._kept = result.kept
        return self._arranged(result, inputs.from_torch)

    def _arranged(self, result: Result, as_torch: bool) -> object:
        return arrange(
            result.form.structure, _ResultValues(self._engine, self._executor, result, as_torch), self._types
        )


class _ResultValues:
    """The values of a result as the caller gets them; none shares memory with what the program still needs."""

    def __init__(self, engine: Engine, executor: Executor, result: Result, as_torch: bool) -> None:
        self._engine = engine
        self._executor = executor
        self._result = result
        self._as_torch = as_torch
        self._kept = () if result.kept is None else tuple(map(id, result.kept.values))

    def value(self, slot: Slot, row: int | None) -> object:
        value, dtype = self._result.values[slot.index], self._result.form.dtypes[slot.index]
        if row is not None:
            item = self._engine.take(value, dtype)[row]
            return item.item() if slot.kind != "tensor" else self._tensor(np.array(item), dtype)
        if slot.kind != "tensor":
            return self._engine.number(value)
        array = self._engine.take(value, dtype)
        shared = self._executor.is_constant(value) or id(value) in self._kept
        return self._tensor(array.copy() if shared else array, dtype)

    def length(self, index: int) -> int:
        return int(self._engine.take(self._result.values[index], self._result.form.dtypes[index]).shape[0])

    def _tensor(self, array: Array, dtype: DType) -> object:
        return to_torch(array, dtype) if self._as_torch else array


def load(path: str | os.PathLike[str], *, threads: int = 1, types: Iterable[type] = ()) -> Program:
    """The program in the file at `path`, checked through before anything of it runs.

    `types` are the classes of the model's results, if it returns dataclasses, named tuples or subclasses of dict.
    """
    return Program(artefact_file.read(path), threads=threads, types=types_by_name(types))
