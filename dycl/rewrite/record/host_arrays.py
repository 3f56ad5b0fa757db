"""NumPy arrays and scalars whose contents only the input determines.

A host array is a tensor of the block that stands for an `ndarray`, or, without dimensions, for a NumPy scalar such as
`np.float32(...)`. NumPy hands its own functions and operators over by `__array_function__` and `__array_ufunc__`, so
that natively run code works on host arrays too. An array of `x.numpy()` shares the tensor's memory, as in eager
PyTorch, because it wraps that very tensor.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from dycl.rewrite.record.contract import ArrayOperations, Records
from dycl.rewrite.record.number_classes import Undetermined
from dycl.rewrite.signals import DecisionMet, Refused

NUMPY_DTYPES: dict[torch.dtype, Any] = {
    torch.bool: np.dtype(np.bool_),
    torch.uint8: np.dtype(np.uint8),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.float16: np.dtype(np.float16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
}
TORCH_DTYPES: dict[Any, torch.dtype] = {element: dtype for dtype, element in NUMPY_DTYPES.items()}
HELP = "use the tensor operation that computes the same, or do this part before or behind the compiled program"


class HostArray(Undetermined):
    """A NumPy array, or a NumPy scalar, of known element type and unknown contents."""

    __slots__ = ("scalar", "tensor")

    def __init__(self, tensor: torch.Tensor, scalar: bool = False) -> None:
        if tensor.dtype not in NUMPY_DTYPES:
            raise TypeError(f"Got unsupported ScalarType {str(tensor.dtype).removeprefix('torch.')}")
        self.tensor = tensor
        self.scalar = scalar

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What NumPy's own value would be, so that `isinstance` says what it would say of it."""
        return self.numpy_type()

    def numpy_type(self) -> type:
        """The type of the array or scalar that this stands for."""
        cls: type = self.dtype.type if self.scalar else np.ndarray
        return cls

    def stand_in(self, fill: int = 1, size: int = 1) -> Any:
        """A real array or scalar of this type; what is open has this size."""
        sizes = tuple(known if isinstance(known, int) else size for known in self.tensor.shape)
        made = np.full(sizes, fill, dtype=self.dtype)
        return made[()] if self.scalar else made

    def truth(self) -> torch.Tensor:
        """What decides whether this counts as true."""
        if self.size != 1:
            kind = "an empty array" if self.size == 0 else "an array with more than one element"
            raise ValueError(f"The truth value of {kind} is ambiguous.")
        return torch.ne(self.tensor.reshape(()), 0)

    @property
    def dtype(self) -> Any:
        return NUMPY_DTYPES[self.tensor.dtype]

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return self.tensor.dim()

    @property
    def size(self) -> Any:
        return self.tensor.numel()

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def T(self) -> "HostArray":
        return HostArray(self.tensor.permute(*reversed(range(self.ndim))), self.scalar)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            raise refused(f"`np.{ufunc.__name__}.{method}`")
        return _operations().function(ufunc, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _operations().function(function, args, kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise DecisionMet("the contents of an array that only the input determines")

    def __getattr__(self, name: str) -> Any:
        if hasattr(self.numpy_type(), name) and not name.startswith("__"):
            raise refused(f"`{name}` of an array")
        raise AttributeError(f"'{self.numpy_type().__name__}' object has no attribute '{name}'")

    def __bool__(self) -> bool:
        raise DecisionMet("the truth of an array that only the input determines")

    def __hash__(self) -> int:
        raise DecisionMet("a number that only the input determines is used as a key")

    def __repr__(self) -> str:
        raise DecisionMet("the text of an array that only the input determines")

    __str__ = __repr__

    def __format__(self, style: str) -> str:
        raise DecisionMet("the text of an array that only the input determines")

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return len(self.tensor)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        if not isinstance(self.tensor.shape[0], int):
            raise refused("iteration over an array whose length depends on the input")
        return iter([self[place] for place in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        return _operations().get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _operations().set_item(self, index, value)

    def __contains__(self, value: Any) -> Any:
        raise refused("`in` on an array")

    def __eq__(self, other: Any) -> Any:
        return _operator(operator.eq, np.equal, self, other)

    def __ne__(self, other: Any) -> Any:
        return _operator(operator.ne, np.not_equal, self, other)


def _operations() -> ArrayOperations:
    return current_recorder().arrays


def current_recorder() -> Records:
    """The recorder of the block that is being recorded."""
    modes: list[Any] = [mode for mode in _get_current_dispatch_mode_stack() if hasattr(mode, "recording")]
    recorder: Records = modes[-1]
    return recorder


def refused(what: str) -> Refused:
    """The refusal of something that NumPy does and DyCL has no translation for."""
    return Refused("DY014", f"{what} has no translation for contents that only the input determines", HELP)


def _operator(plain: Callable[..., Any], ufunc: Any, *operands: Any) -> Any:
    return _operations().operator(plain, ufunc, operands)


def _binary(plain: Callable[..., Any], ufunc: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: HostArray, other: Any) -> Any:
        return _operator(plain, ufunc, self, other)

    def reflected(self: HostArray, other: Any) -> Any:
        return _operator(plain, ufunc, other, self)

    return forward, reflected


def _in_place(plain: Callable[..., Any], ufunc: Any) -> Callable[..., Any]:
    def update(self: HostArray, other: Any) -> Any:
        return _operations().in_place(plain, ufunc, self, other)

    return update


def _unary(plain: Callable[..., Any], ufunc: Any) -> Callable[..., Any]:
    def compute(self: HostArray) -> Any:
        return _operator(plain, ufunc, self)

    return compute


def _method(name: str) -> Callable[..., Any]:
    def method(self: HostArray, *args: Any, **kwargs: Any) -> Any:
        return _operations().method(self, name, args, kwargs)

    method.__name__ = name
    return method


BINARY: dict[str, tuple[Callable[..., Any], Any]] = {
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "truediv": (operator.truediv, np.true_divide),
    "floordiv": (operator.floordiv, np.floor_divide),
    "mod": (operator.mod, np.remainder),
    "pow": (operator.pow, np.power),
    "matmul": (operator.matmul, np.matmul),
    "and": (operator.and_, np.bitwise_and),
    "or": (operator.or_, np.bitwise_or),
    "xor": (operator.xor, np.bitwise_xor),
    "lshift": (operator.lshift, np.left_shift),
    "rshift": (operator.rshift, np.right_shift),
}
COMPARISONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal),
}
UNARY: dict[str, tuple[Callable[..., Any], Any]] = {
    "neg": (operator.neg, np.negative),
    "pos": (operator.pos, np.positive),
    "abs": (operator.abs, np.absolute),
    "invert": (operator.invert, np.invert),
}
METHODS = (
    *("sum", "mean", "std", "var", "max", "min", "prod", "any", "all", "argmax", "argmin", "argsort", "cumsum"),
    *("round", "clip", "dot", "nonzero", "reshape", "ravel", "flatten", "transpose", "squeeze", "swapaxes", "copy"),
    *("astype", "item", "tolist", "repeat", "take", "sort", "fill"),
)
for _name, (_plain, _ufunc) in BINARY.items():
    _forward, _reflected = _binary(_plain, _ufunc)
    setattr(HostArray, f"__{_name}__", _forward)
    setattr(HostArray, f"__r{_name}__", _reflected)
    setattr(HostArray, f"__i{_name}__", _in_place(getattr(operator, f"i{_name}"), _ufunc))
for _name, (_plain, _ufunc) in COMPARISONS.items():
    setattr(HostArray, f"__{_name}__", _binary(_plain, _ufunc)[0])
for _name, (_plain, _ufunc) in UNARY.items():
    setattr(HostArray, f"__{_name}__", _unary(_plain, _ufunc))
for _name in METHODS:
    setattr(HostArray, _name, _method(_name))
