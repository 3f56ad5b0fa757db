"""Let Python's search for garbage wait until much work is done."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Let Python look for garbage that refers to itself afterwards: with PyTorch loaded, each look takes long.

    What the model left behind earlier is not finalised in the middle of it either.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
