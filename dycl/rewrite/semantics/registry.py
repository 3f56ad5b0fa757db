"""What a call means where it has to do with values that only the input determines: one list of rules, asked in order.

The first rule that answers decides; one that has nothing to say of a call answers `NOT_HANDLED`, and a call that no
rule knows is made as it is. So whoever wants to know what a callee means looks here, and whoever gives one a meaning
adds it to the table of its topic.
"""

import abc
import logging
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dycl.rewrite.own_thread import usual
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.semantics import (
    attribute_calls,
    builtin_calls,
    class_calls,
    indexing,
    kinds,
    mathematics,
    number_lists,
    random_numbers,
    ranges,
    size_tuples,
    table_calls,
    tensor_literals,
    texts,
)
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, mentions
from dycl.rewrite.semantics.in_python import builtin_functions, tensor_functions
from dycl.rewrite.semantics.in_python.signatures import fits
from dycl.rewrite.semantics.numpy import calls as numpy_calls
from dycl.rewrite.semantics.outside import beyond_the_program, logging_calls, weak_references
from dycl.rewrite.state.tables import GrownList

Apply = Callable[[Any, tuple[Any, ...], dict[str, Any], Running], Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """What one topic makes of calls."""

    about: str
    apply: Apply


# Tables of functions by topic; where several know a function, the topic that stands first is asked first.
_TOPICS: tuple[Mapping[Any, Handler], ...] = (
    ranges.HANDLERS,
    indexing.HANDLERS,
    number_lists.HANDLERS,
    size_tuples.HANDLERS,
    texts.HANDLERS,
    mathematics.HANDLERS,
    random_numbers.HANDLERS,
    tensor_literals.HANDLERS,
    beyond_the_program.HANDLERS,
    attribute_calls.HANDLERS,
    class_calls.HANDLERS,
    builtin_calls.HANDLERS,
)
FUNCTIONS: dict[Any, tuple[Handler, ...]] = {}
for _topic in _TOPICS:
    for _callee, _handler in _topic.items():
        FUNCTIONS[_callee] = (*FUNCTIONS.get(_callee, ()), _handler)

METHODS: dict[tuple[type, str], Handler] = {
    **{(torch.Tensor, name): handler for name, handler in builtin_calls.TENSOR_METHODS.items()},
    (torch.Tensor, "requires_grad_"): attribute_calls.set_derivative,
    **{(np.ndarray, name): attribute_calls.change_array for name in ("resize", "setflags")},
    (torch.Tensor, "new_tensor"): tensor_literals.new_tensor,
    (torch.Tensor, "new"): tensor_literals.new,
    (torch.Tensor, "tensor_split"): indexing.tensor_split,
    (torch.Tensor, "narrow"): indexing.narrow,
    (torch.Size, "numel"): size_tuples.count,
    (str, "join"): texts.join_method,
    (str, "format"): texts.format_method,
    (list, "sort"): number_lists.sort_in_place,
    (type, "__subclasses__"): class_calls.subclasses,
    (abc.ABCMeta, "__subclasses__"): class_calls.subclasses,
    (abc.ABCMeta, "register"): class_calls.registered,
}


def _stepped_into(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """Whether a builtin goes through a list of unknown length, or asks whether it has items: in Python, that is."""
    iterates = builtin_functions.iterates(callee, args)
    makes_tensor = any(callee is one for one in tensor_functions.TENSORS)
    if makes_tensor and tensor_functions.may_be_of_no_type(*args, **kwargs):
        return _STEP_INTO
    return _STEP_INTO if iterates and mentions(args, (GrownList,)) else NOT_HANDLED


def _function(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    try:
        handlers = FUNCTIONS.get(usual(callee), ())
    except TypeError:  # What has no hash has no meaning of its own.
        return NOT_HANDLED
    if handlers and not fits(callee, args, kwargs):
        return NOT_HANDLED  # Python says what is wrong
    for handler in handlers:
        result = handler(machine, args, kwargs)
        if result is not NOT_HANDLED:
            return result
    return NOT_HANDLED


def _method(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    owner = attribute(callee, "__self__")
    if type(owner) is HostValue:
        return callee(*args, **kwargs)
    if isinstance(owner, logging.Logger):
        return logging_calls.called(machine, owner, callee, (*args, *kwargs.values()))
    if isinstance(callee, types.MethodWrapperType) and callee.__name__ == "__hash__":
        return class_calls.hash_of_object(machine, (owner,), kwargs)
    kind = torch.Tensor if isinstance(owner, torch.Tensor) else type(owner)
    name, args = attribute(callee, "__name__", ""), (owner, *args)
    handler = METHODS.get((kind, name))
    return handler(machine, args, kwargs) if handler and fits(usual(getattr(kind, name)), args, kwargs) else NOT_HANDLED


_STEP_INTO = object()

RULES: tuple[Rule, ...] = (
    Rule("lists of unknown length", table_calls.apply),
    Rule("builtins that go through such a list", _stepped_into),
    Rule("NumPy", numpy_calls.apply),
    Rule("special methods of numbers", mathematics.special_method),
    Rule("weak references", weak_references.apply),
    Rule("functions, by identity", _function),
    Rule("functions of the classes that a module's tables are made from", attribute_calls.past_the_door),
    Rule("methods of iterators, taken from their classes", kinds.method_of_iterators),
    Rule("methods, by the type of their object", _method),
    Rule("PyTorch's functions, given NumPy's scalars", numpy_calls.in_torch),
)


def meaning(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """The result of a call that needs a meaning of its own, or `NOT_HANDLED`."""
    for rule in RULES:
        result = rule.apply(callee, args, kwargs, machine)
        if result is _STEP_INTO:
            return NOT_HANDLED
        if result is not NOT_HANDLED:
            return result
    return NOT_HANDLED
