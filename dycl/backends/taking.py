"""Whether a backend takes a sub-DNN, and why not."""

from collections import Counter
from collections.abc import Callable, Iterable

from dycl.backends import Compiler
from dycl.backends.errors import Untranslatable
from dycl.hcfg.module import Module
from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.subnet import SubnetGraph
from dycl.runtime.choice import Left


def refusal(compiler: Compiler, graph: SubnetGraph) -> Untranslatable | None:
    """Why a backend does not take all of a graph; None if it does."""
    for operation in graph.operations:
        if not compiler.supports(operation.target):
            return Untranslatable(f"`{operation.target}` has no translation", operation.span)
    try:
        compiler.compile(graph)
    except Untranslatable as found:
        return found
    return None


def left(module: Module, rivals: Callable[[SubnetId], Iterable[Compiler]]) -> tuple[Left, ...]:
    """Which sub-DNNs the `rivals` of those that run them do not take, by reason, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for name, subnet in module.subnets.items():
        for compiler in rivals(name):
            found = refusal(compiler, subnet.graph)
            if found is not None:
                counts[compiler.name, f"{found.reason} ({found.span})"] += 1
    return tuple(Left(backend, reason, count) for (backend, reason), count in counts.most_common())
