"""What operations on complex numbers are on pairs of real ones, one small function an operation."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from dycl.rewrite.record.contract import Records
from dycl.rewrite.signals import Refused

aten = torch.ops.aten

REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64}
COMPLEX = {real: whole for whole, real in REAL.items()}


class Pair:
    """A pair that becomes a complex tensor."""

    def __init__(self, pair: Tensor) -> None:
        self.pair = pair


class Call:
    """One operation on complex numbers: `of` gives the pair of a tensor."""

    def __init__(
        self,
        of: Callable[[Tensor], Tensor],
        recorder: Records,
        func: OpOverload[Any, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.of, self.recorder = of, recorder
        self.func, self.args, self.kwargs = func, args, kwargs

    def parts(self, value: Any) -> tuple[Any, Any]:
        """The real and the imaginary part of a tensor or number."""
        if isinstance(value, Tensor) and value.is_complex():
            pair = self.of(value)
            return pair.select(-1, 0), pair.select(-1, 1)
        if isinstance(value, complex):
            return value.real, value.imag
        return value, 0.0

    def result_type(self) -> torch.dtype:
        """The real type of the operation's result."""
        with _disable_current_modes(), self.recorder.fake_mode:
            dtype = self.func(*self.args, **self.kwargs).dtype
        if dtype not in REAL:
            raise Refused("DY004", f"tensors of type `{dtype}` are not supported")
        return REAL[dtype]

    def joined(self, real: Any, imaginary: Any, dtype: torch.dtype | None = None) -> Pair:
        """A pair of two parts, which are broadcast together."""
        dtype = dtype or self.result_type()
        if isinstance(real, Tensor) and not isinstance(imaginary, Tensor):
            imaginary = torch.full_like(real, imaginary)
        elif real.shape != imaginary.shape:
            real, imaginary = torch.broadcast_tensors(real, imaginary)  # type: ignore[no-untyped-call]
        return Pair(torch.stack([real.to(dtype), imaginary.to(dtype)], -1))


# Making, and taking apart.


def _view_as_complex(call: Call, tensor: Tensor) -> Pair:
    with _disable_current_modes(), call.recorder.fake_mode:
        call.func(tensor)  # which says so where sizes or strides do not allow it
    return Pair(aten.alias.default(tensor))


def _view_as_real(call: Call, tensor: Tensor) -> Any:
    return aten.alias.default(call.of(tensor))


def _complex(call: Call, real: Tensor, imag: Tensor) -> Pair:
    return call.joined(real, imag)


def _polar(call: Call, abs: Tensor, angle: Tensor) -> Pair:
    return call.joined(abs * torch.cos(angle), abs * torch.sin(angle))


def nonzero(call: Call, tensor: Tensor) -> Tensor:
    """Whether each number is another one than zero."""
    real, imaginary = call.parts(tensor)
    return torch.logical_or(torch.ne(real, 0), torch.ne(torch.as_tensor(imaginary), 0))


def _to(call: Call, tensor: Tensor, dtype: torch.dtype | None = None, **options: Any) -> Any:
    dtype = dtype or tensor.dtype
    real, imaginary = call.parts(tensor)
    if dtype == torch.bool:
        return nonzero(call, tensor)
    if not dtype.is_complex:
        return real.to(dtype, copy=True)
    if tensor.is_complex():
        return Pair(call.of(tensor).to(_real_type(dtype), copy=True))
    return call.joined(real, imaginary, _real_type(dtype))


def _zeros(call: Call, tensor: Tensor, *, dtype: torch.dtype | None = None, **options: Any) -> Any:
    dtype = dtype or tensor.dtype
    if not dtype.is_complex:
        return torch.zeros_like(call.parts(tensor)[0], dtype=dtype)
    real = call.of(tensor) if tensor.is_complex() else torch.stack([tensor, tensor], -1)
    return Pair(torch.zeros_like(real, dtype=_real_type(dtype)))


def _real_type(dtype: torch.dtype) -> torch.dtype:
    if dtype not in REAL:
        raise Refused("DY004", f"tensors of type `{dtype}` are not supported")
    return REAL[dtype]


# Moving.


def _moved(move: Callable[..., Any]) -> Callable[..., Any]:
    """The same move of the pair; the function gets the rank of the complex tensor too."""

    def rule(call: Call, tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
        if not tensor.is_complex():
            raise Refused("DY004", f"`{call.func}` of complex numbers has no translation")
        kwargs.pop("memory_format", None)
        result = move(call.of(tensor), tensor.dim(), *args, **kwargs)
        return [*result] if isinstance(result, list | tuple) else Pair(result)

    return rule


def _axes(dims: Any, rank: int) -> list[int]:
    return [axis % max(rank, 1) for axis in ([dims] if isinstance(dims, int) else dims)]


def _squeeze(pair: Tensor, rank: int, dims: Any = None) -> Tensor:
    axes = range(rank) if dims is None else _axes(dims, rank)
    return pair.squeeze([axis for axis in axes if pair.shape[axis] == 1]) if rank else pair


def _roll(pair: Tensor, rank: int, shifts: Any, dims: Any = ()) -> Tensor:
    if not dims:
        raise Refused("DY004", "`aten.roll` of complex numbers without axes has no translation")
    return pair.roll(shifts, _axes(dims, rank))


def _padded(pair: Tensor, rank: int, pad: Sequence[int], value: Any = 0) -> Any:
    if value != 0:
        raise Refused("DY004", "padding with a complex number has no translation")
    return aten.constant_pad_nd.default(pair, [0, 0, *pad])


def _joined(join: Callable[..., Tensor], more: int) -> Callable[..., Any]:
    def rule(call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Pair:
        dtype = call.result_type()
        wholes = [tensor if tensor.is_complex() else None for tensor in tensors]
        pairs = [
            call.joined(tensor, torch.zeros_like(tensor), dtype).pair if whole is None else call.of(whole).to(dtype)
            for whole, tensor in zip(wholes, tensors, strict=True)
        ]
        return Pair(join(pairs, dim % (tensors[0].dim() + more)))

    return rule


def _where(call: Call, condition: Tensor, first: Any, second: Any) -> Pair:
    (a, b), (c, d) = call.parts(first), call.parts(second)
    return call.joined(torch.where(condition, a, c), torch.where(condition, b, d))


def _total(operation: Callable[..., Tensor]) -> Callable[..., Any]:
    def rule(call: Call, tensor: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if dtype not in (None, tensor.dtype) or not tensor.is_complex():
            raise Refused("DY004", f"`{call.func}` of complex numbers in another type has no translation")
        if not tensor.dim():
            return Pair(call.of(tensor).clone())
        axes = _axes(range(tensor.dim()) if dim is None or dim == [] else dim, tensor.dim())
        return Pair(operation(call.of(tensor), axes, keepdim))

    return rule


# Arithmetic.


def _add(sign: int) -> Callable[..., Any]:
    def rule(call: Call, first: Any, second: Any, *, alpha: Any = 1) -> Pair:
        (a, b), (c, d) = call.parts(first), call.parts(second)
        if alpha != 1:
            e, f = call.parts(alpha)
            c, d = c * e - d * f, c * f + d * e
        return call.joined(a + c, b + d) if sign > 0 else call.joined(a - c, b - d)

    return rule


def _mul(call: Call, first: Any, second: Any) -> Pair:
    (a, b), (c, d) = call.parts(first), call.parts(second)
    return call.joined(a * c - b * d, a * d + b * c)


def _div(call: Call, first: Any, second: Any) -> Pair:
    (a, b), (c, d) = call.parts(first), tuple(map(torch.as_tensor, call.parts(second)))
    # By the larger part of the divisor, or a square could overflow; as PyTorch does it.
    scale = torch.maximum(c.abs(), d.abs())
    a, b, c, d = a / scale, b / scale, c / scale, d / scale
    size = c * c + d * d
    # Divided by zero, each part is.
    nothing = torch.eq(scale, 0)
    real = torch.where(nothing, torch.as_tensor(a), (a * c + b * d) / size)
    return call.joined(real, torch.where(nothing, torch.as_tensor(b), (b * c - a * d) / size))


def _reciprocal(call: Call, tensor: Tensor) -> Pair:
    return _div(call, 1.0, tensor)


def _exp(call: Call, tensor: Tensor) -> Pair:
    a, b = call.parts(tensor)
    size = a.exp()
    return call.joined(size * b.cos(), size * b.sin())


def _product(call: Call, first: Tensor, second: Tensor) -> Pair:
    (a, b), (c, d) = call.parts(first), call.parts(second)
    if not first.is_complex() or not second.is_complex():
        raise RuntimeError("expected both matrices to have the same dtype")
    return call.joined(a @ c - b @ d, a @ d + b @ c)


def _conjugate(call: Call, tensor: Tensor) -> Pair:
    pair = call.of(tensor)
    return Pair(pair * torch.tensor([1.0, -1.0], dtype=pair.dtype))


# Fourier transforms, which the backend translates on pairs.


def _transform(call: Call, tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
    recorder = call.recorder
    with _disable_current_modes(), recorder.fake_mode:
        shape = call.func(*call.args, **call.kwargs)
        whole = shape.is_complex()
        empty = torch.empty((*shape.shape, 2) if whole else shape.shape, dtype=REAL.get(shape.dtype, shape.dtype))
    arguments = recorder.bind(call.func, (call.of(tensor) if tensor.is_complex() else tensor, *args), kwargs)
    recorder.append(str(call.func), arguments, [empty])
    return Pair(empty) if whole else empty


PLAIN_SHAPES: dict[str, Any] = {
    "transpose": aten.transpose.int,
    "squeeze": aten.squeeze.dim,
    "unsqueeze": aten.unsqueeze.default,
    "t": aten.t.default,
}

MAKERS = {"aten.view_as_complex.default", "aten.complex.default", "aten.polar.default", "aten._fft_r2c.default"}

RULES: dict[str, Callable[..., Any]] = {
    "aten.view_as_complex.default": _view_as_complex,
    "aten.view_as_real.default": _view_as_real,
    "aten.complex.default": _complex,
    "aten.polar.default": _polar,
    "aten._to_copy.default": _to,
    "aten.alias.default": _moved(lambda pair, rank: aten.alias.default(pair)),
    "aten.detach.default": _moved(lambda pair, rank: aten.alias.default(pair)),
    "aten.clone.default": _moved(lambda pair, rank: pair.clone()),
    "aten.contiguous.default": _moved(lambda pair, rank: pair.contiguous()),
    "aten.view.default": _moved(lambda pair, rank, size: pair.view([*size, 2])),
    "aten._unsafe_view.default": _moved(lambda pair, rank, size: pair.reshape([*size, 2])),
    "aten.reshape.default": _moved(lambda pair, rank, size: pair.reshape([*size, 2])),
    "aten.permute.default": _moved(lambda pair, rank, dims: pair.permute([*_axes(dims, rank), rank])),
    "aten.transpose.int": _moved(lambda pair, rank, a, b: pair.transpose(*_axes([a, b], rank))),
    "aten.t.default": _moved(lambda pair, rank: pair.transpose(0, 1) if rank > 1 else aten.alias.default(pair)),
    "aten.unsqueeze.default": _moved(lambda pair, rank, dim: pair.unsqueeze(dim % (rank + 1))),
    "aten.squeeze.default": _moved(_squeeze),
    "aten.squeeze.dim": _moved(_squeeze),
    "aten.squeeze.dims": _moved(_squeeze),
    "aten.select.int": _moved(lambda pair, rank, dim, index: pair.select(dim % rank, index)),
    "aten.slice.Tensor": _moved(
        lambda pair, rank, dim=0, start=None, end=None, step=1: aten.slice.Tensor(pair, dim % rank, start, end, step)
    ),
    "aten.diagonal.default": _moved(
        lambda pair, rank, offset=0, dim1=0, dim2=1: pair.diagonal(offset, dim1 % rank, dim2 % rank).transpose(-1, -2)
    ),
    "aten.expand.default": _moved(lambda pair, rank, size, implicit=False: pair.expand([*size, 2])),
    "aten.repeat.default": _moved(lambda pair, rank, repeats: pair.repeat([*repeats, 1])),
    "aten.flip.default": _moved(lambda pair, rank, dims: pair.flip(_axes(dims, rank))),
    "aten.roll.default": _moved(_roll),
    "aten.unbind.int": _moved(lambda pair, rank, dim=0: pair.unbind(dim % rank)),
    "aten.split.Tensor": _moved(lambda pair, rank, size, dim=0: pair.split(size, dim % rank)),
    "aten.split_with_sizes.default": _moved(lambda pair, rank, sizes, dim=0: pair.split(sizes, dim % rank)),
    "aten.index_select.default": _moved(lambda pair, rank, dim, index: pair.index_select(dim % rank, index)),
    "aten.index.Tensor": _moved(lambda pair, rank, indices: aten.index.Tensor(pair, indices)),
    "aten.zeros_like.default": _zeros,
    "aten.constant_pad_nd.default": _moved(_padded),
    "aten.cat.default": _joined(torch.cat, 0),
    "aten.stack.default": _joined(torch.stack, 1),
    "aten.where.self": _where,
    "aten.sum.default": _total(torch.sum),
    "aten.sum.dim_IntList": _total(torch.sum),
    "aten.mean.default": _total(torch.mean),
    "aten.mean.dim": _total(torch.mean),
    "aten.add.Tensor": _add(1),
    "aten.sub.Tensor": _add(-1),
    "aten.mul.Tensor": _mul,
    "aten.mul.Scalar": _mul,
    "aten.div.Tensor": _div,
    "aten.div.Scalar": _div,
    "aten.reciprocal.default": _reciprocal,
    "aten.neg.default": _moved(lambda pair, rank: -pair),
    "aten._conj.default": _conjugate,
    "aten._conj_physical.default": _conjugate,
    "aten.conj_physical.default": _conjugate,
    "aten.abs.default": lambda call, tensor: torch.hypot(*call.parts(tensor)),
    "aten.angle.default": lambda call, tensor: torch.atan2(*reversed(call.parts(tensor))),
    "aten.exp.default": _exp,
    "aten.matmul.default": _product,
    "aten.mm.default": _product,
    "aten.bmm.default": _product,
    "aten._fft_r2c.default": _transform,
    "aten._fft_c2c.default": _transform,
    "aten._fft_c2r.default": _transform,
}
