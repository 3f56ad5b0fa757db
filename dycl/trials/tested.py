"""A backend as far as it was found right: what it got wrong it refuses from then on, as if it had no translation."""

from dycl.backends import Compiler
from dycl.backends.errors import Miscompiled, Untranslatable
from dycl.hcfg.subnet import SubnetGraph, structure
from dycl.trials.verdicts import Wrong


class Tested:
    """A compiler that remembers: each structure is compiled once, and what was found wrong is refused."""

    def __init__(self, compiler: Compiler) -> None:
        self.name = compiler.name
        self.strengths: frozenset[str] = getattr(compiler, "strengths", frozenset())
        self.right: set[str] = set()
        self.wrong: dict[str, Miscompiled] = {}
        self._compiler = compiler
        self._known: dict[str, bytes | Untranslatable] = {}

    def supports(self, target: str) -> bool:
        """Whether the backend translates an operation."""
        return self._compiler.supports(target)

    def compile(self, graph: SubnetGraph) -> bytes:
        """The code of a sub-DNN; Untranslatable if the backend refuses it, or was found to be wrong."""
        key = structure(graph)
        if key in self.wrong:
            raise self.wrong[key]
        if key not in self._known:
            try:
                self._known[key] = self._compiler.compile(graph)
            except Untranslatable as refusal:
                self._known[key] = refusal
        found = self._known[key]
        if isinstance(found, Untranslatable):
            raise found
        return found

    def distrust(self, graph: SubnetGraph, wrong: Wrong) -> Miscompiled:
        """Refuse a structure from now on; gives what is said then."""
        operation = wrong.operation or graph.operations[-1]
        where = f" from `{operation.target}` on" if wrong.operation is not None else ""
        told = f"the backend {self.name} is wrong{where}: {wrong.told}"
        self.wrong[structure(graph)] = refusal = Miscompiled(told, operation.span)
        return refusal
