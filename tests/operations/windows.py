"""Cases of windows in element types that ONNX Runtime has no kernels for, and of smooth shrinking of images."""

from typing import Any

import torch
from torch.nn import functional as F

from tests.operations.cases import Case, case, integers, normal, these

_D = torch.float64
_IMAGES = {1: (2, 4, 9), 2: (2, 4, 7, 6), 3: (1, 4, 5, 4, 6)}
_FUNCTIONS = {rank: (getattr(F, f"conv{rank}d"), getattr(F, f"conv_transpose{rank}d")) for rank in (1, 2, 3)}


def _convolution(rank: int, turned: bool, whole: bool, options: dict[str, Any]) -> Case:
    groups = options.get("groups", 1)
    weight = (4, 6 // groups) if turned else (6, 4 // groups)
    name = f"conv_transpose{rank}d.{'default' if rank == 1 else 'input'}" if turned else f"conv{rank}d.default"
    shapes = (_IMAGES[rank], (*weight, *(3, 2, 2)[:rank]), (6,))
    makers = [integers(-9, 9, *shape) if whole else normal(*shape, dtype=_D) for shape in shapes]
    return case(name, lambda x, w, c: _FUNCTIONS[rank][turned](x, w, c, **options), *makers, tolerance=10)


CASES = [
    *(
        _convolution(rank, turned, whole, options)
        for rank in (1, 2, 3)
        for turned in (False, True)
        for whole in (False, True)
        for options in ({}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2, "padding": 2})
    ),
    *(
        case(
            f"conv_transpose{rank}d.{'default' if rank == 1 else 'input'}",
            lambda x, w, r=rank: _FUNCTIONS[r][1](x, w, stride=3, padding=1, output_padding=2),
            normal(*_IMAGES[rank], dtype=_D),
            normal(4, 5, *(3, 2, 2)[:rank], dtype=_D),
            tolerance=10,
        )
        for rank in (1, 2)
    ),
    case(
        "conv2d.padding",
        lambda x, w: F.conv2d(x, w, padding="same"),
        normal(4, 7, 6, dtype=_D),
        normal(5, 4, 2, 3, dtype=_D),
        tolerance=10,
    ),
    *(
        case(f"avg_pool{rank}d.default", lambda x, r=rank, o=options: getattr(F, f"avg_pool{r}d")(x, 3, **o), maker)
        for rank in (1, 2, 3)
        for options in (
            {},
            {"stride": 2, "padding": 1},
            {"stride": 2, "padding": 1, "count_include_pad": False},
            {"stride": 2, "padding": 1, "ceil_mode": True},
        )
        for maker in (normal(*_IMAGES[rank], dtype=_D),)
    ),
    case("avg_pool2d.default", lambda x: F.avg_pool2d(x, 2, divisor_override=3), normal(*_IMAGES[2], dtype=_D)),
    *(
        case(
            f"max_pool{rank}d.default",
            lambda x, r=rank, o=options: getattr(F, f"max_pool{r}d")(x, 3, **o),
            integers(-99, 99, *_IMAGES[rank], dtype=width),
        )
        for rank in (2, 3)
        for options in ({}, {"stride": 2, "padding": 1}, {"stride": 2, "padding": 1, "ceil_mode": True})
        for width in (torch.int64, torch.int32)
    ),
    *(
        case(
            f"_upsample_{mode}2d_aa.vec",
            lambda x, m=mode, o=options: F.interpolate(x, mode=m, antialias=True, **o),
            normal(2, 3, 9, 12, dtype=width),
            tolerance=10,
        )
        for mode in ("bilinear", "bicubic")
        for options in (
            {"size": (4, 5)},
            {"size": (13, 5)},
            {"size": (1, 4)},
            {"scale_factor": 0.4},
            {"scale_factor": (0.7, 1.5), "recompute_scale_factor": True},
        )
        for width in (torch.float32, torch.float64)
    ),
    *(
        case(
            f"_upsample_{mode}2d_aa.default",
            lambda x, m=mode: getattr(torch.ops.aten, f"_upsample_{m}2d_aa")(x, [3, 4], False),
            normal(1, 2, 7, 9),
            tolerance=10,
        )
        for mode in ("bilinear", "bicubic")
    ),
    *(
        case("pad.default", lambda x, m=mode, p=pads: F.pad(x, p, mode=m), normal(1, 2, 6, 7))
        for mode in ("reflect", "replicate", "circular")
        for pads in ((-1, 2, 0, 0), (2, -1, -2, 3), (-1, -2, -1, -1), (3, -2, 1, 1))
    ),
    *(
        case("prelu.default", F.prelu, these(number, width), these([0.3], width))
        for number in (-1.5, 2.0)
        for width in (torch.float32, _D)
    ),
]
