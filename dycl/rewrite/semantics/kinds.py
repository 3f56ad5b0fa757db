"""What stands in for values of the program says of itself what those would say: their class, and which attributes.

The program must not see that something stands in. So only what Python's own class has is there; what that has and the
stand-in has not is refused.
"""

import types
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.own_code import is_own_file
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.number_classes import PYTHON_TYPES
from dycl.rewrite.semantics.dynamic import NOT_HANDLED
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Generator, HostRange, RangeIterator
from dycl.rewrite.state.lazy_iterators import KNOWN_ITERATORS, class_stood_for
from dycl.rewrite.state.tables import GrownList
from dycl.rewrite.tensor_types import dress_of

_OF_ITERATORS = ("__next__", "__iter__")


def class_of(value: Any) -> type | None:
    """The class that a value has in the user's program; None if it stands for nothing else, or for some iterator."""
    if isinstance(value, HostValue):
        return PYTHON_TYPES[value.kind]
    if type(value) is HostArray:
        return value.numpy_type()
    if isinstance(value, HostText):
        return str
    if isinstance(value, FakeTensor):
        is_parameter, is_buffer, _ = dress_of(value)
        return nn.Parameter if is_parameter else nn.Buffer if is_buffer else torch.Tensor
    if isinstance(value, KNOWN_ITERATORS):
        return class_stood_for(value)
    return range if isinstance(value, HostRange) else None


def is_some_iterator(value: Any) -> bool:
    """Whether this is an iterator of which nobody knows any more what made it."""
    if type(value) is Generator:
        return is_own_file(value.frame.function.code.co_filename)
    if isinstance(value, KNOWN_ITERATORS):
        return class_stood_for(value) is None
    return isinstance(value, RangeIterator)


def has(value: Any, name: str) -> bool | None:
    """Whether a stand-in's class has an attribute; None if the value stands for nothing else."""
    if is_some_iterator(value):
        if name in _OF_ITERATORS or hasattr(object, name):
            return True
        raise Refused("DY002", "which kind of iterator this is cannot be told")
    cls = wide_class_of(value)
    if cls is None or (isinstance(value, FakeTensor) and any(dress_of(value))):
        return None
    if name == "__dict__" and isinstance(value, FakeTensor):
        raise Refused("DY009", "the attributes of a tensor are asked for")
    return any(name in vars(base) for base in cls.__mro__)


def told_by_class(value: Any, name: str) -> Any:
    """What the class of a stand-in says in its place; `NOT_HANDLED` if the stand-in may answer itself."""
    if name not in ("__class__", "__doc__"):
        return NOT_HANDLED
    if is_some_iterator(value):
        raise Refused("DY002", "which kind of iterator this is cannot be told")
    cls = wide_class_of(value)
    return NOT_HANDLED if cls is None else cls if name == "__class__" else cls.__doc__


def wide_class_of(value: Any) -> type | None:
    """The class that a value has in the user's program, also where it says so itself."""
    return value.__class__ if type(value) in (GrownList, Generator) else class_of(value)


def name_of(value: Any) -> str:
    """What the class of a value is called in the user's program."""
    return getattr(wide_class_of(value), "__name__", "iterator")


def require_own(value: Any, name: str) -> None:
    """Refuse an attribute that a stand-in should have and has not."""
    if not hasattr(type(value), name):
        reason = f"`{name_of(value)}.{name}` needs a value that only the input determines"
        raise Refused("DY001", reason)


def method_of_iterators(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Any) -> Any:
    """A method that is taken from the class of an iterator: `type(it).__next__(it)`."""
    if not isinstance(callee, _DESCRIPTORS) or not args or not isinstance(args[0], KNOWN_ITERATORS):
        return NOT_HANDLED
    if class_stood_for(args[0]) is not callee.__objclass__ or callee.__name__ not in (*_OF_ITERATORS, _HINT):
        raise Refused("DY002", f"`{callee.__qualname__}` is called with an iterator")
    return getattr(args[0], callee.__name__)(*args[1:], **kwargs)


_HINT = "__length_hint__"
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
