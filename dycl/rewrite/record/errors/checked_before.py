"""Operations of which it is known already that they do not fail: they need no checks.

The views of a state that a block begins with were checked when the program took them, and a loop goes on to the next
row only if there is one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _State(threading.local):
    known = False


_STATE = _State()


@contextmanager
def checked_before() -> Iterator[None]:
    """Record what is inside the `with` block without checks."""
    outer, _STATE.known = _STATE.known, True
    try:
        yield
    finally:
        _STATE.known = outer


def needs_no_checks() -> bool:
    """Whether the operation at hand is known not to fail."""
    return _STATE.known
