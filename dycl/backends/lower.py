"""Lower a module: each sub-DNN is compiled by the backend chosen for it, or the first that translates all of it.

Sub-DNNs of one structure are compiled once, whatever constants they are bound to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dycl.backends import Compiler
from dycl.backends.errors import Untranslatable
from dycl.hcfg.module import Module, with_subnets
from dycl.hcfg.nodes import Hcfg, Subnet, SubnetId
from dycl.hcfg.subnet import SubnetGraph, structure
from dycl.runtime.artefact import code_digest


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program whose sub-DNNs have code, and the codes by their digests; or what no backend translates."""

    hcfg: Hcfg
    codes: dict[str, bytes]
    refused: tuple[Untranslatable, ...]


def lower(
    module: Module,
    compilers: Sequence[Compiler],
    progress: Callable[[int, int], None] = lambda done, left: None,
    chosen: Mapping[SubnetId, str] = MappingProxyType({}),
) -> Lowered:
    """The program with each sub-DNN compiled, some of them by the backend that is `chosen`."""
    codes: dict[str, bytes] = {}
    compiled: dict[tuple[str, str | None], tuple[str, str]] = {}
    subnets: dict[SubnetId, Subnet] = {}
    refused: list[Untranslatable] = []
    for number, (name, subnet) in enumerate(module.subnets.items(), start=1):
        key = (structure(subnet.graph), chosen.get(name))
        if key not in compiled:
            able = [compiler for compiler in compilers if chosen.get(name) in (None, compiler.name)]
            try:
                backend, code = _compiled(subnet.graph, able)
            except Untranslatable as untranslatable:
                refused.append(untranslatable)
                continue
            compiled[key] = (backend, code_digest(code))
            codes[code_digest(code)] = code
        inputs, outputs = (tuple(map(subnet.graph.type_of, refs)) for refs in subnet.graph.ends)
        subnets[name] = Subnet(name, inputs, outputs, *compiled[key], subnet.weights)
        progress(number, len(module.subnets) - number)
    return Lowered(with_subnets(module, subnets), codes, tuple(refused))


def _compiled(graph: SubnetGraph, compilers: Sequence[Compiler]) -> tuple[str, bytes]:
    """The backend of a sub-DNN and its code; what the last backend says if none translates it."""
    for compiler in compilers[:-1]:
        if all(compiler.supports(operation.target) for operation in graph.operations):
            try:
                return compiler.name, compiler.compile(graph)
            except Untranslatable:
                continue
    return compilers[-1].name, compilers[-1].compile(graph)
