"""Which numbers of the input an operation takes: PyTorch is asked, and the program checks.

Most operations convert a number to an element type first, and refuse one that does not fit; some let it wrap around or
become infinite, some compute with more bits. While compiling, PyTorch sees a symbol and says nothing. So it is asked on
small real tensors, once for each operation and each kind of arguments, from which number on it refuses.
"""

import functools
import struct
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.element_types import ask, kind_of_arguments
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.schemas import name_of, parameters

_SYMBOLS = (torch.SymInt, torch.SymFloat)
_DOES_NOT_FIT = "without overflow"
# Their numbers say how many elements there are, and asking would make as many.
_NOT_ASKED = ("aten.arange", "aten.range", "aten.linspace", "aten.logspace")
# Of 0-d tensors of these, PyTorch may take the number.
_NUMBERS = (torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64)

Takes = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Limits:
    """The numbers that are taken: from the least to the most of them, and whether what is no finite number is."""

    least: float
    most: float
    infinite: bool
    nan: bool
    message: str

    def admit(self, numbers: Tensor) -> Tensor:
        """Whether a number is taken."""
        inside = torch.logical_and(torch.ge(numbers, self.least), torch.le(numbers, self.most))
        if self.infinite:
            inside = torch.logical_or(inside, torch.isinf(numbers))
        return torch.logical_or(inside, torch.isnan(numbers)) if self.nan else inside


_KNOWN: dict[Hashable, _Limits | None] = {}


def require_taken(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records) -> None:
    """Check that PyTorch takes the numbers of the input that are among these arguments."""
    if not any(map(_may_be_number, (*args, *kwargs.values()))):
        return
    if name_of(func).startswith(_NOT_ASKED) or func.namespace != "aten":
        return
    for place, number in _numbers(func, args, kwargs, recorder):
        # To one element PyTorch has another way than to many.
        sizes = [_size(func, args, kwargs), *(tensor.shape for tensor in tensors_in((args, kwargs)))]
        kind = (func, place, kind_of_arguments(args), kind_of_arguments(kwargs), *map(_is_single, sizes))
        takes = functools.partial(_called, func, args, kwargs, place, getattr(number, "dtype", None))
        _require(recorder, number, _limits(kind, takes, _wide(number)), guards=True)


def _size(func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
    """The size that an operation is given for its result, if it is given one."""
    found: Sequence[Any] = parameters(func).bound(args, kwargs).get("size", ())
    return found


def _is_single(size: Sequence[Any]) -> bool:
    return all(isinstance(one, int) and one == 1 for one in size)


def _may_be_number(value: Any) -> bool:
    return isinstance(value, _SYMBOLS) or (isinstance(value, Tensor) and not value.dim())


def _called(
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: int | str,
    dtype: torch.dtype | None,
    number: Any,
) -> None:
    """Call the operation with this number, or with a tensor of it, at the place of the input's."""
    instead: dict[int | str, Any] = {place: number if dtype is None else torch.tensor(number, dtype=dtype)}
    if "size" in parameters(func).names:
        # Two elements tell as much as many.
        size = _size(func, args, kwargs)
        few = [1 if _is_single(size) else 2] * len(size)
        instead["size" if "size" in kwargs else parameters(func).names.index("size")] = few
    ask(func, args, kwargs, instead)


def require_storable(recorder: Records, number: Any, dtype: torch.dtype) -> None:
    """Check that a number of the input can be stored by an index into a tensor of this element type."""

    def takes(value: Any) -> None:
        torch.zeros(1, dtype=dtype)[0] = value

    _require(recorder, number, _limits(("stored", dtype, type(number)), takes, _wide(number)), guards=False)


def _require(recorder: Records, number: Any, limits: _Limits | None, guards: bool) -> None:
    if limits is not None:
        with recorder:
            value = number if isinstance(number, Tensor) else recorder.materialise(number)
            recorder.check(limits.admit(value), "RuntimeError", limits.message, guards)


def _wide(number: Any) -> torch.dtype:
    if isinstance(number, Tensor):
        return number.dtype
    return torch.float64 if isinstance(number, torch.SymFloat) else torch.int64


def _numbers(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
) -> Iterator[tuple[int | str, Any]]:
    """The numbers of the input among the arguments, and where they stand."""
    kinds = dict(zip(parameters(func).names, parameters(func).kinds, strict=True))
    mixed = len({tensor.dtype for tensor in tensors_in((args, kwargs))}) > 1
    for place, (name, number) in enumerate(parameters(func).bound(args, kwargs).items()):
        if isinstance(number, _SYMBOLS):
            takes = kinds[name].removeprefix("Optional[").removesuffix("]") in ("number", "Tensor")
        else:
            takes = mixed and isinstance(number, Tensor) and number.dtype in _NUMBERS and not number.dim()
            takes = takes and recorder.is_dynamic(number)
        if takes:
            yield (name if name in kwargs else place), number


def _limits(kind: Hashable, takes: Takes, wide: torch.dtype) -> _Limits | None:
    """The limits of the numbers that are taken; None if all numbers of this wide an element type are."""
    if kind not in _KNOWN:
        with _disable_current_modes(), torch.no_grad():
            _KNOWN[kind] = _asked(takes, wide)
    return _KNOWN[kind]


def _asked(takes: Takes, wide: torch.dtype) -> _Limits | None:
    floats = wide.is_floating_point
    ends = torch.finfo(wide) if floats else torch.iinfo(wide)
    message = _refusal(takes, ends.max) or _refusal(takes, ends.min)
    one = 1.0 if floats else 1
    if not message or _refusal(takes, one):
        return None
    infinite, nan = (floats and not _refusal(takes, float(name)) for name in ("inf", "nan"))
    return _Limits(_last(takes, -one, ends.min), _last(takes, one, ends.max), infinite, nan, message)


def _refusal(takes: Takes, number: Any) -> str:
    """What PyTorch says against a number because it does not fit."""
    try:
        takes(number)
    except Exception as error:
        return str(error) if _DOES_NOT_FIT in str(error) else ""
    return ""


def _last(takes: Takes, first: Any, end: Any) -> Any:
    """The last number on the way from the first to the end that is taken."""
    if not _refusal(takes, end):
        return end
    low, high = _rank(first), _rank(end)
    while abs(high - low) > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if not _refusal(takes, _of_rank(middle, first)) else (low, middle)
    return _of_rank(low, first)


def _rank(number: Any) -> int:
    """The place of a number among those of its kind."""
    if isinstance(number, int):
        return number
    bits: int = struct.unpack("<q", struct.pack("<d", abs(number)))[0]
    return bits if number >= 0 else -bits


def _of_rank(rank: int, like: Any) -> Any:
    if isinstance(like, int):
        return rank
    number: float = struct.unpack("<d", struct.pack("<q", abs(rank)))[0]
    return number if rank >= 0 else -number
