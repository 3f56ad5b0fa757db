"""The host that is always there: the graph interpreted in Python, sub-DNNs run by the engines of backends."""

from dycl.runtime.artefact import Artefact
from dycl.runtime.engines import open_engine
from dycl.runtime.executor import Executor


class PythonHost:
    """The reference: what other hosts do is right if it is what this one does.

    Codes are checked by their backends before one of them is opened, unless they were compiled right here.
    """

    def __init__(self, *, checks: bool = True) -> None:
        self._checks = checks

    def open(self, artefact: Artefact, threads: int) -> Executor:
        """The executor of `artefact`."""
        return Executor(artefact, open_engine(artefact, threads, self._checks))
