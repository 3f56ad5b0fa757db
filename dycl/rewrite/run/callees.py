"""Which Python function a call comes down to, and the arguments that it gets."""

import abc
import functools
import inspect
import types
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.normalise import contexts
from dycl.rewrite.normalise.compiled_by_torch import original
from dycl.rewrite.normalise.lookups import require_plain_lookups
from dycl.rewrite.own_code import is_library, is_own_module
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.frames import Purpose

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def resolve(
    callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[types.FunctionType | None, Arguments, Purpose, Any]:
    """The Python function that a call comes down to, if any, and the arguments it gets."""
    if callee is contexts.enter_context and contexts.is_made_in_python(args[0]):
        return type(args[0]).__enter__, (args, {}), "call", None
    if callee is contexts.exit_context and contexts.is_made_in_python(args[0]):
        manager, error = args
        told = (None, None, None) if error is None else (type(error), error, error.__traceback__)
        return type(manager).__exit__, ((manager, *told), {}), "call", None
    callee = original(callee)
    match callee:
        case types.FunctionType():
            return callee, (args, kwargs), "call", None
        case types.MethodType():
            return resolve(callee.__func__, (callee.__self__, *args), kwargs)
        case types.BuiltinMethodType() if _is_autograd_function(callee):
            return resolve(*_forward_of(callee.__self__, args), kwargs)
        case functools.partial():
            if not all(isinstance(name, str) for name in callee.keywords):
                raise TypeError("keywords must be strings")
            return resolve(callee.func, (*callee.args, *args), {**callee.keywords, **kwargs})
        case nn.Module():
            return resolve(_module_function(callee), args, kwargs)
        case type():
            return _constructor(callee, args, kwargs)
    if (callee is getattr or callee is setattr) and len(args) > 1:
        return _property(callee, args)
    special = inspect.getattr_static(type(callee), "__call__", None)
    if isinstance(special, types.FunctionType):
        return special, ((callee, *args), kwargs), "call", None
    return None, (args, kwargs), "call", None


def _is_autograd_function(callee: Any) -> bool:
    """Whether this is `apply` of an operation with a derivative of its own."""
    owner = callee.__self__
    return callee.__name__ == "apply" and isinstance(owner, type) and issubclass(owner, torch.autograd.Function)


class _NoDerivative:
    """What an operation with a derivative of its own keeps for that: nothing."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None: ...

    def save_for_forward(self, *tensors: Any) -> None: ...

    def mark_non_differentiable(self, *tensors: Any) -> None: ...

    def set_materialize_grads(self, value: bool) -> None: ...


def _forward_of(cls: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The forward function of an operation with a derivative of its own, and its arguments."""
    if cls.setup_context is not torch.autograd.Function.setup_context:
        return cls.forward, args
    context = _NoDerivative()
    context.needs_input_grad = (False,) * len(args)
    return cls.forward, (context, *args)


def _module_function(module: nn.Module) -> Any:
    """What calling a module runs: its `forward`, unless hooks stand in between."""
    if type(module).__call__ is not nn.Module.__call__:
        return types.MethodType(type(module).__call__, module)
    hooks = torch.nn.modules.module
    if (
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or hooks._global_forward_hooks
        or hooks._global_forward_pre_hooks
        or hooks._global_backward_hooks
        or hooks._global_backward_pre_hooks
    ):
        return types.MethodType(nn.Module._call_impl, module)
    return module.forward


def _constructor(
    cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[types.FunctionType | None, Arguments, Purpose, Any]:
    maker: Any = cls
    init = maker.__init__
    is_error = issubclass(cls, BaseException) and isinstance(maker.__new__, types.BuiltinFunctionType)
    plain = (is_error or maker.__new__ is object.__new__) and type(cls) in (type, abc.ABCMeta)
    if not isinstance(init, types.FunctionType) or not plain:
        return None, (args, kwargs), "call", None
    # An error keeps what it is made with, whatever its `__init__` does.
    made: Any = maker.__new__(cls, *args, **kwargs) if is_error else object.__new__(cls)
    return init, ((made, *args), kwargs), "construct", made


_PLAIN = frozenset(
    (HostValue, types.NoneType, bool, int, float, str, tuple, list, dict, slice, torch.Size, torch.dtype)
)


def require_plain_objects(cls: type) -> None:
    """Refuse a class whose objects run code at times that are not kept track of: to be forgotten, to be looked at."""
    # A class of a metaclass is not looked for among others: the metaclass may say what it equals.
    if (cls in _PLAIN) if type(cls) is type else (cls is torch.Tensor or cls is FakeTensor or cls is nn.Parameter):
        return
    finaliser = getattr(cls, "__del__", None)
    if isinstance(finaliser, types.FunctionType) and not is_library(finaliser.__module__):
        raise Refused("DY002", f"an object of class `{cls.__name__}` runs `__del__` when nobody holds it any more")
    if isinstance(inspect.getattr_static(cls, "__class__", None), property) and not is_own_module(cls.__module__):
        raise Refused("DY002", f"an object of class `{cls.__name__}` says itself of which class it is")
    require_plain_lookups(cls)
    kind: Any = type(cls)
    compares = isinstance(kind.__eq__, types.FunctionType) or isinstance(kind.__hash__, types.FunctionType)
    if compares and not is_library(kind.__module__):
        raise Refused("DY002", f"the class `{cls.__name__}` says itself what it equals")


def _property(callee: Any, args: tuple[Any, ...]) -> tuple[types.FunctionType | None, Arguments, Purpose, Any]:
    """A property's function, for reading or setting an attribute that is one."""
    owner, name = args[0], args[1]
    descriptor = inspect.getattr_static(type(owner), name, None) if isinstance(name, str) else None
    if type(owner) is super and isinstance(name, str):
        asked: Any = owner
        owner, descriptor = asked.__self__, _behind(asked, name)
    is_tensors_own = isinstance(owner, torch.Tensor) and is_torch(getattr(descriptor, "fget", None))
    if isinstance(descriptor, property) and not is_tensors_own and (callee is setattr or len(args) == 2):
        function = descriptor.fget if callee is getattr else descriptor.fset
        if isinstance(function, types.FunctionType):
            return function, ((owner, *args[2:]), {}), "call", None
    if isinstance(descriptor, functools.cached_property) and callee is getattr and name not in vars(args[0]):
        reader: Any = type(descriptor).__get__
        return reader, ((descriptor, owner, type(owner)), {}), "call", None
    return None, (args, {}), "call", None


def _behind(owner: Any, name: str) -> Any:
    """What `super()` finds for an object by this name in its classes, if that is one's own object and not a class."""
    if owner.__self__ is None or isinstance(owner.__self__, type):
        return None
    classes = owner.__self_class__.__mro__
    behind = classes[classes.index(owner.__thisclass__) + 1 :]
    return next((vars(cls)[name] for cls in behind if name in vars(cls)), None)


def is_torch(callee: Any) -> bool:
    """Whether this is a function of PyTorch, or a method of a tensor."""
    module = attribute(callee, "__module__") or ""
    owner = attribute(callee, "__self__")
    described = attribute(callee, "__objclass__")
    return (
        module.partition(".")[0] == "torch"
        or isinstance(owner, torch.Tensor)
        or owner is torch._C._VariableFunctions
        or (isinstance(described, type) and issubclass(torch.Tensor, described) and described is not object)
    )
