"""The host that is always there: the graph interpreted in Python, sub-DNNs run by the engines of backends."""

from dycl.runtime.artefact import Artefact
from dycl.runtime.engines import open_engine
from dycl.runtime.executor import Executor


class PythonHost:
    """The reference: what other hosts do is right if it is what this one does."""

    def open(self, artefact: Artefact, threads: int) -> Executor:
        """The executor of `artefact`; its codes are checked by their backends before one of them is opened."""
        return Executor(artefact, open_engine(artefact, threads))
