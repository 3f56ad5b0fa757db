"""Contents of the containers and plain objects that a model holds: to copy, to compare, to put back."""

import collections
import enum
import functools
import itertools
import logging
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.state.freeze import Freezer
from dycl.rewrite.state.thaw import Thawer
from dycl.rewrite.state.whole_state import ContainerNode, Hidden


def contents_of(value: Any) -> Any:
    """A copy of what a container or plain object holds; None for a value that holds nothing to watch."""
    if isinstance(value, dict):
        # Not `dict(value)`, which asks a subclass for its items in the subclass's own way.
        return dict(dict.items(value))
    if isinstance(value, list | collections.deque):
        return list(value)
    if isinstance(value, set):
        return set(value)
    return None if isinstance(value, _NOT_WATCHED) or not hasattr(value, "__dict__") else dict(vars(value))


ITERATORS: tuple[type, ...] = (
    itertools.count,
    itertools.cycle,
    type(iter([])),
    type(iter(())),
    type(iter(range(0))),
    zip,
    enumerate,
)
_NOT_WATCHED = (
    torch.Tensor,
    np.ndarray,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    functools.partial,
    enum.Enum,
    logging.Logger,
    torch.dtype,
    torch.device,
)


def iterator_state(iterator: Any) -> Any:
    """How far an iterator has come: a maker of such iterators and its arguments."""
    with warnings.catch_warnings():
        # Python 3.12 and 3.13 warn that those of itertools will not be pickled one day; nothing else tells their place.
        warnings.simplefilter("ignore", DeprecationWarning)
        return iterator.__reduce__()


def values_of(contents: Any) -> Any:
    """The items of contents, for a dict its values."""
    return contents.values() if isinstance(contents, dict) else contents


def mapped(contents: Any, change: Callable[[Any], Any]) -> Any:
    """Contents with each item changed."""
    if isinstance(contents, dict):
        return {key: change(value) for key, value in contents.items()}
    return contents if isinstance(contents, set) else [change(value) for value in contents]


def _live_contents(container: Any) -> Any:
    return container if isinstance(container, dict | list | collections.deque | set) else vars(container)


def is_same(container: Any, contents: Any) -> bool:
    """Whether a container still holds exactly these contents."""
    return same_contents(_live_contents(container), contents)


def same_contents(live: Any, contents: Any) -> bool:
    """Whether two contents are the same objects in the same places."""
    if isinstance(live, dict) and FakeTensor in live and FakeTensor not in contents:
        # A table by type has learnt a type that exists only while compiling.
        live = {key: value for key, value in dict.items(live) if key is not FakeTensor}
    if len(live) != len(contents):
        return False
    if isinstance(contents, dict):
        own = dict.__getitem__ if isinstance(live, dict) else operator.getitem
        return all(name in live and own(live, name) is value for name, value in contents.items())
    if isinstance(contents, set):
        return bool(live == contents)
    return all(left is right for left, right in zip(live, contents, strict=True))


def fill(container: Any, contents: Any) -> None:
    """Let a container hold exactly these contents."""
    if is_same(container, contents):
        return
    live = _live_contents(container)
    live.clear()
    live.update(contents) if isinstance(contents, dict | set) else live.extend(contents)


def freeze_contents(container: Any, place: tuple[int, str], freezer: Freezer) -> ContainerNode:
    """What a container at this place holds now; keys are hidden from widening, since only known ones can be keys."""
    freezer.place = place
    live = _live_contents(container)
    if isinstance(live, set):
        return ContainerNode(place, Hidden(freezer.freeze(tuple(sorted(live, key=repr)))), None)
    if not isinstance(live, list | collections.deque):
        keys = Hidden(freezer.freeze(tuple(live)))
        return ContainerNode(place, keys, freezer.freeze(tuple(live.values())))
    return ContainerNode(place, None, freezer.freeze(tuple(live)))


def thaw_contents(container: Any, node: ContainerNode, thawer: Thawer) -> None:
    """Let a container hold what a node tells."""
    thawer.place = node.place
    live = _live_contents(container)
    known: Any = None if node.keys is None else thawer.thaw(node.keys.skeleton)
    items = () if node.values is None else thawer.thaw(node.values)
    live.clear()
    if isinstance(live, set):
        live.update(known)
    elif known is not None:
        live.update(zip(known, items, strict=True))
    else:
        live.extend(items)
