"""A compiled program: call it like the model it was made from."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dycl.hcfg.nodes import BlockId, Hcfg
from dycl.hcfg.structure import Slot
from dycl.hcfg.types import Span, carrier
from dycl.runtime import artefact as artefact_file
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Frame, find_backend
from dycl.runtime.call_inputs import Signature
from dycl.runtime.executor import Executor, ResultForm, Visit
from dycl.runtime.results import arrange, types_by_name
from dycl.runtime.tensors import to_torch


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

    Tensors may be numpy arrays or PyTorch tensors. If any is a PyTorch tensor, the results are PyTorch tensors on the
    CPU, else numpy arrays; bfloat16, which numpy lacks, comes as an array of its bits. No result shares memory with an
    argument or a weight.
    """

    def __init__(self, artefact: Artefact, *, threads: int = 1, types: Mapping[str, type] | None = None) -> None:
        if threads < 1:
            raise ValueError(f"threads is {threads}, it must be at least 1")
        self.timings: dict[str, float] = {}
        """How many seconds each stage of the compilation took; empty for a program from a file."""
        self._artefact = artefact
        self._types = dict(types or {})
        self._signature = Signature(artefact.hcfg)
        self._engine = find_backend(artefact.backend).open(artefact, threads)
        self._executor = Executor(artefact.hcfg, self._engine)
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
        values, form = self._executor.run(frame, visits)
        return self._result(values, form, inputs.from_torch)

    def _result(self, values: Frame, form: ResultForm, as_torch: bool) -> object:
        def take(slot: Slot) -> object:
            value, dtype = values[slot.index], form.dtypes[slot.index]
            if slot.kind != "tensor":
                return self._engine.number(value)
            array = self._engine.take(value, dtype)
            if self._executor.is_constant(value):
                array = array.copy()
            return to_torch(array, dtype) if as_torch else array

        return arrange(form.structure, take, self._types)


def load(path: str | os.PathLike[str], *, threads: int = 1, types: Iterable[type] = ()) -> Program:
    """The program in the file at `path`, checked through before anything of it runs.

    `types` are the classes of the model's results, if it returns dataclasses, named tuples or subclasses of dict.
    """
    return Program(artefact_file.read(path), threads=threads, types=types_by_name(types))
