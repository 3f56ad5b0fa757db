"""What the Python host asks of a backend: to check codes, and to open sub-DNNs and run them.

A backend sees sub-DNNs, never the graph around them. It is opened once for all of a program's sub-DNNs that name it,
as an engine. An engine keeps tensors between its sub-DNNs in whatever form suits it, packed ones included: the host
only hands values on. Where a program uses several backends, a value that comes from another engine is taken out of
that one as a numpy array and put into this one, so no engine ever meets a value of a class that it does not name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.types import DType, TensorType
from dycl.runtime.weight_store import Array

Value = object
"""A tensor in the form in which an engine passes it from one sub-DNN to the next."""

Slots = list[Value]
"""The values of a block by number: its arguments, then the outputs of its steps."""

SubnetCall = Callable[[Slots], Sequence[Value]]
"""Runs a sub-DNN on values in slots, and gives its outputs; the host indexes the result and keeps no hold of it.

Outputs have memory of their own: they share none with inputs, weights or the outputs of other calls. Neither the slots
nor a value in them is changed. May be called from several threads at a time; SubnetFailure if the backend fails.
"""


@dataclass(frozen=True, slots=True)
class SubnetSignature:
    """What a sub-DNN's code must fit: the types of its inputs, its outputs and the weights it is bound to."""

    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    weights: tuple[TensorType, ...]


@dataclass(frozen=True, slots=True)
class CompiledSubnet:
    """A sub-DNN as a backend gets it: its code and its weights, which nobody may change; `id` is for messages."""

    id: SubnetId
    code: bytes
    signature: SubnetSignature
    weights: tuple[Array, ...]


class Engine(Protocol):
    """A program's sub-DNNs of one backend, ready to run. All methods may be called from several threads."""

    @property
    def value_types(self) -> tuple[type, ...]:
        """The classes of this engine's values: `type(value)` is one of them, for whatever `put` and sub-DNNs give.

        A class stands for one form of tensors: engines that name the same class take each other's values as they are.
        An engine that names `numpy.ndarray` uses plain arrays in the form of `take`.
        """
        ...

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs an opened sub-DNN on the values at `inputs` in the slots."""
        ...

    def put(self, array: Array, dtype: DType) -> Value:
        """A value that holds `array`, and may use its memory if it keeps it alive: nobody changes it in the meantime.

        The array is in row-major order, may be read-only and may be the caller's own: a sub-DNN never changes its
        inputs. bfloat16 comes as uint16.
        """
        ...

    def take(self, value: Value, dtype: DType) -> Array:
        """The array that `value` holds, of the tensor's shape; bfloat16 as uint16.

        It may share the value's memory, which it keeps alive then. That of a sub-DNN's output is writable: the caller
        of a program may get it.
        """
        ...

    def number(self, value: Value) -> bool | int | float:
        """The one number that `value` holds; ValueError if it does not hold exactly one."""
        ...


class SubnetFailure(Exception):
    """A backend failed while it ran a sub-DNN; the message is its own."""


@runtime_checkable
class Backend(Protocol):
    """A backend's runtime half."""

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        """Nothing; ArtefactError unless `code` fits `signature` and asks for nothing but its inputs and weights.

        Codes come from files that nobody vouches for, so this must neither run nor believe anything in them. It is
        called for every code of a program before any backend opens one.
        """
        ...

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> Engine:
        """The engine that runs `subnets`, whose codes have passed `check`, on `threads` threads each."""
        ...
