"""Cases of complex numbers, which are pairs of real ones, and of elements by their distance in memory."""

from typing import Any

import torch
from torch.nn import functional as F

from tests.operations.cases import case, normal, these

_Z = normal(2, 3, 8, 2)
_TURNS = torch.polar(torch.ones(3, 4), torch.arange(12.0).view(3, 4))


def _on(function: Any) -> Any:
    """A function of a complex tensor, its result as real numbers."""
    return lambda x, *others: _real(function(torch.view_as_complex(x), *others))


def _real(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return [_real(item) for item in result]
    return torch.view_as_real(result.resolve_conj()) if result.is_complex() else result


def _rotated(x: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * _TURNS).flatten(2).type_as(x)


def _spectrogram(x: torch.Tensor, **options: Any) -> torch.Tensor:
    window = torch.hann_window(16, dtype=x.dtype)
    return torch.stft(x, 16, hop_length=4, window=window, return_complex=True, **options).abs() ** 2


def _there_and_back(x: torch.Tensor, size: int) -> torch.Tensor:
    window = torch.hann_window(size)
    spectrum = torch.stft(x, size, hop_length=size // 4, window=window, return_complex=True)
    return torch.istft(spectrum * 2, size, hop_length=size // 4, window=window)


def _row_written(z: torch.Tensor) -> torch.Tensor:
    z = z * 1
    z[1] = torch.tensor(2 + 1j)
    return z


def _halves_doubled(z: torch.Tensor) -> torch.Tensor:
    z = z * 1
    half = z[:2]
    half.mul_(2)
    return z + half.sum()


def _diagonal_written(z: torch.Tensor) -> torch.Tensor:
    z = z * 1
    z.diagonal().fill_(0)
    return z


CASES = [
    *(
        case("alias.default", _on(function), _Z, tolerance=5)
        for function in (
            lambda z: z * z,
            lambda z: z * 2.5,
            lambda z: z + 1j,
            lambda z: 1 - z,
            lambda z: z / (z + 3),
            lambda z: z / 2,
            lambda z: 1 / (z + 5),
            lambda z: -z,
            lambda z: z.conj(),
            lambda z: z * z.conj(),
            lambda z: z.abs(),
            lambda z: z.angle(),
            lambda z: z.exp(),
            lambda z: z.real + z.imag,
            lambda z: z**2,
            lambda z: z.square(),
            lambda z: z.transpose(0, 2)[1:, ::2],
            lambda z: z.permute(2, 0, -2).reshape(8, 6),
            lambda z: z.flatten(1).unsqueeze(-1).squeeze(),
            lambda z: z[:, None, 1].expand(2, 4, 8).contiguous(),
            lambda z: torch.cat([z, z.flip(-1)], -1).chunk(2, -1),
            lambda z: torch.stack([z, z * z], 0).sum((0, -1)),
            lambda z: z.mean(),
            lambda z: z.unbind(1)[1].repeat(2, 1).roll(1, 0),
            lambda z: z[:, torch.tensor([0, 2])],
            lambda z: torch.where(z.real > 0, z, z.conj()),
            lambda z: z @ z.mT,
            lambda z: torch.einsum("bij,bkj->bik", z, z),
            lambda z: F.pad(z, (1, 2)),
            lambda z: z.to(torch.complex128),
            lambda z: (z * torch.ones(8)).split([3, 5], -1),
            lambda z: torch.fft.ifft(z),
            lambda z: torch.fft.fft2(z, norm="ortho"),
            lambda z: torch.fft.irfft(z, n=14),
            lambda z: torch.fft.irfft(z, n=13),
            lambda z: torch.fft.irfft2(z),
            lambda z: torch.fft.fftshift(z),
        )
    ),
    case("stack.default", lambda x, y: torch.complex(x, y).abs(), normal(3), normal(3)),
    case("stack.default", lambda x, y: _real(torch.polar(x, y)), normal(3), normal(3)),
    case("stack.default", lambda x: _real(x * 1j), normal(3), symbolic=True),
    case("stack.default", lambda x: _real(x.to(torch.complex64)), normal(3)),
    case("alias.default", _rotated, normal(2, 3, 8), tolerance=5),
    case("alias.default", _rotated, normal(2, 3, 8, dtype=torch.bfloat16)),
    *(
        case("_fft_r2c.default", lambda x, f=function: _real(f(x)), normal(3, size, dtype=width), tolerance=20)
        for function in (torch.fft.rfft, torch.fft.fft, torch.fft.rfft2, lambda x: torch.fft.rfft(x, norm="forward"))
        for size in (8, 15, 1)
        for width in (torch.float32, torch.float64)
    ),
    case(
        "_fft_c2c.default",
        lambda x: torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real,
        normal(2, 6, 10),
        tolerance=20,
    ),
    *(
        case("_fft_c2c.default", _on(lambda z, d=axis: torch.fft.fft(z, dim=d)), normal(4, 7, 5, 2), tolerance=20)
        for axis in (0, 1, -1)
    ),
    *(
        case(
            "_fft_c2r.default",
            lambda x, n=size: torch.fft.irfft(torch.fft.rfft(x), n),
            normal(3, size, dtype=width),
            tolerance=20,
        )
        for size in (8, 15, 2, 3, 12)
        for width in (torch.float32, torch.float64)
    ),
    case(
        "_fft_c2r.default", lambda x: torch.fft.irfftn(torch.fft.rfftn(x) * 2, x.shape), normal(3, 4, 5), tolerance=20
    ),
    case("_fft_r2c.default", _spectrogram, normal(2, 64), tolerance=20),
    case("_fft_r2c.default", lambda x: _spectrogram(x, center=False, normalized=True), normal(64), tolerance=20),
    case("_fft_c2r.default", lambda x: _there_and_back(x, 16), normal(2, 64), tolerance=20),
    # Functions, and writing.
    *(
        case(target, _on(getattr(torch, name)), normal(5, 4, 2, scale=2.0), tolerance=100)
        for name, target in (
            *((name, "cos.default") for name in ("sin", "cos", "sinh", "cosh", "tan", "tanh", "sigmoid", "expm1")),
            *((name, "atan2.default") for name in ("log", "log2", "log10", "log1p", "asinh", "acosh", "atanh", "asin")),
            *((name, "sqrt.default") for name in ("sqrt", "rsqrt", "acos")),
            *((name, "hypot.default") for name in ("sgn",)),
        )
    ),
    case("atan2.default", _on(lambda z: z**1.5), normal(5, 4, 2), tolerance=100),
    case("atan2.default", _on(lambda z: z**z), normal(5, 4, 2), tolerance=100),
    case("slice_scatter.default", _on(_halves_doubled), normal(4, 3, 2)),
    case("select_scatter.default", _on(_row_written), normal(4, 3, 2)),
    case("diagonal_scatter.default", _on(_diagonal_written), normal(3, 3, 2)),
    case("zeros_like.default", lambda x: torch.zeros_like(torch.complex(x, x), dtype=torch.float64), normal(3)),
    # At zero, and its truth.
    *(
        case("where.self", lambda x, power=power: _real(torch.complex(x, x * 0) ** power), these([0.0, 1.0, -2.0]))
        for power in (-1.5, 0, 1j, 1 + 1j)
    ),
    case("where.self", lambda x: _real(torch.complex(x, x) ** torch.complex(x, x)), these([0.0, 1.0, -2.0])),
    case("where.self", lambda x: _real(torch.complex(x, x) / torch.complex(x * 0, x * 0)), these([0.0, 1.0, -2.0])),
    case("where.self", lambda x: _real(torch.complex(x, x * 0) / 0), these([0.0, 1.0, -2.0])),
    case("where.self", lambda x: _real(torch.complex(x, x * 0).rsqrt()), these([0.0, 1.0, 2.0])),
    case("logical_or.default", lambda x: torch.complex(x * 0, x).bool(), these([0.0, 1.0, -2.0])),
    case("any.default", lambda x: torch.complex(x * 0, x).any(), these([0.0, 1.0])),
    case("any.dim", lambda x: torch.complex(x * 0, x).any(-1, keepdim=True), these([[0.0, 1.0], [0.0, 0.0]])),
    # Strides.
    case("as_strided.default", lambda x: x.as_strided((3, 2, 4), (4, 4, 1)), normal(6, 4)),
    case("as_strided.default", lambda x: x.as_strided((2, 3), (1, 2)) + 1, normal(4, 3), symbolic=False),
    case("as_strided.default", lambda x: x.as_strided((5, 3), (1, 1)), normal(7)),
    case("as_strided.default", lambda x: x.as_strided((2, 3, 2, 4), (24, 4, 4, 1)), normal(2, 6, 4)),
    case("as_strided.default", lambda x: x.as_strided((), ()), these([2.0])),
    case("as_strided.default", lambda x: x.view(2, 4, 3).as_strided((2, 3, 2, 3), (12, 3, 3, 1)), normal(8, 3)),
]
