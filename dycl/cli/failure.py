"""The error that ends a command with a message instead of a traceback."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class Failure(Exception):
    """What the user asked for cannot be done; the message is one sentence that says why."""


@contextmanager
def needing(extra: str, what: str, packages: Mapping[str, str]) -> Iterator[None]:
    """Imports inside the `with` block may lack these modules, each of a package; the failure says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in packages:
            raise
        message = f"{what} needs {packages[missing]}, which is not installed: pip install 'dycl[{extra}]'"
        raise Failure(message) from error
