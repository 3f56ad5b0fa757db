"""Cases of views, slices and joins."""

from typing import Any

import torch
from torch.nn import functional as F

from tests.operations.cases import WHOLE, WIDTHS, case, flags, host, integers, normal, these


def _written(target: Any, place: Any, value: Any) -> Any:
    copy = target.clone()
    copy[place] = value
    return copy


CASES = [
    case("view.default", lambda x: x.view(3, -1), normal(2, 3, 4)),
    case("view.default", lambda x: x.view(-1), normal(2, 3), symbolic=True),
    case("view.default", lambda x: x.view(x.shape[0], -1), normal(2, 3, 4), symbolic=True),
    case("view.default", lambda x: x.view(x.shape[0], 1, x.shape[1]), normal(2, 3), symbolic=True),
    case("reshape.default", lambda x: x.reshape(-1, 2), normal(2, 3, 4)),
    case("reshape.default", lambda x: x.t().reshape(6), normal(2, 3)),
    case("reshape.default", lambda x: x.reshape(0, 5), normal(0, 3)),
    case("reshape.default", lambda x: x.reshape(1), these(1.0)),
    case("reshape.default", lambda x, n: x.reshape(n, 6), normal(4, 3), host(2)),
    case("_unsafe_view.default", lambda x: torch.ops.aten._unsafe_view(x, [6]), normal(2, 3)),
    case("_reshape_alias.default", lambda x: torch.ops.aten._reshape_alias(x, [6], [1]), normal(2, 3)),
    case("view_as.default", lambda x, y: x.view_as(y) + y, normal(2, 3), normal(3, 2)),
    case("reshape_as.default", lambda x, y: x.reshape_as(y) + y, normal(2, 3), normal(6)),
    case("flatten.using_ints", lambda x: x.flatten(1), normal(2, 3, 4), symbolic=True),
    case("flatten.using_ints", lambda x: x.flatten(0, 1), normal(2, 3, 4), symbolic=True),
    case("flatten.using_ints", lambda x: x.flatten(), these(1.0)),
    case("flatten.using_ints", lambda x: x.flatten(1, 1) + 1, normal(2, 3)),
    case("unflatten.int", lambda x: x.unflatten(1, (2, -1)), normal(2, 6, 3)),
    case("contiguous.default", lambda x: x.t().contiguous(), normal(2, 3), symbolic=True),
    case("clone.default", lambda x: x.clone() + 1, normal(2, 3), symbolic=True),
    case("alias.default", lambda x: torch.ops.aten.alias(x) + 1, normal(2, 3)),
    case("detach.default", lambda x: x.detach() + 1, normal(2, 3)),
    case("lift_fresh_copy.default", lambda x: torch.ops.aten.lift_fresh_copy(x), normal(2, 3)),
    case("positive.default", lambda x: torch.positive(x) + 1, normal(2, 3)),
    *(
        case("to.dtype", lambda x, d=d: x.to(d), normal(5, dtype=w, scale=5.0))
        for w in WIDTHS
        for d in (*WIDTHS, torch.bool, torch.int64, torch.int32, torch.int8)
        if w != d
    ),
    *(
        case("to.dtype", lambda x, a=a, d=d: x.to(a).to(d), these([1.5, -129.0, 2.5e9, -3.1e9, 70000.0], w))
        for w in (torch.float32, torch.float64)
        for a, d in ((torch.int64, torch.int32), (torch.int64, torch.int16), (torch.int64, torch.uint8))
    ),
    *(
        case("to.dtype", lambda x, d=d: x.to(d), these([1.5, -129.0, 40000.0, 70000.0]))
        for d in (torch.int16, torch.int8)
    ),
    *(case("to.dtype", lambda x, d=d: x.to(d), integers(-300, 300, 9)) for d in (*WIDTHS, *WHOLE[1:], torch.bool)),
    *(case("to.dtype", lambda x, d=d: x.to(d), flags(9)) for d in (*WIDTHS, *WHOLE)),
    *(case("to.dtype", lambda x, d=d: x.to(d), these([300.0, -1.0, -200.7])) for d in WHOLE),
    case("to.dtype", lambda x: x.to(torch.bool), these([float("nan"), 0.0, -0.0, 0.1])),
    case("to.dtype", lambda x: x.double().long(), these([2.0**53, -1.9, 1.9], torch.float64)),
    case("to.dtype", lambda x: x.to(torch.float32) + 1, normal(2, 3)),
    case("to.device", lambda x: x.to("cpu", torch.float64), normal(2, 3)),
    case("type_as.default", lambda x, y: x.type_as(y) + y, normal(2, 3), integers(0, 9, 3)),
    case("_to_copy.default", lambda x: torch.ops.aten._to_copy(x, dtype=torch.int64), normal(2, 3)),
    case("unsqueeze.default", lambda x: x.unsqueeze(0), normal(2, 3), symbolic=True),
    case("unsqueeze.default", lambda x: x.unsqueeze(-1), normal(2, 3)),
    case("unsqueeze.default", lambda x: x[..., None, :], normal(2, 3)),
    case("squeeze.default", lambda x: x.squeeze(), normal(1, 2, 1, 3)),
    case("squeeze.dim", lambda x: x.squeeze(1), normal(2, 1, 3), symbolic=True),
    case("squeeze.dim", lambda x: x.squeeze(0) + 1, normal(2, 1, 3)),
    case("squeeze.dim", lambda x: x.squeeze(0) + 1, these(1.0)),
    case("squeeze.dims", lambda x: x.squeeze((0, -1)), normal(1, 2, 1)),
    case("permute.default", lambda x: x.permute(2, 0, -2), normal(2, 3, 4), symbolic=True),
    case("numpy_T.default", lambda x: x.T, normal(2, 3)),
    case("t.default", lambda x: x.t(), normal(2, 3), symbolic=True),
    case("t.default", lambda x: x.t() + 1, normal(2)),
    case("mT.default", lambda x: x.mT, normal(2, 3, 4)),
    case("adjoint.default", lambda x: x.adjoint(), normal(2, 3, 4)),
    case("transpose.int", lambda x: x.transpose(0, -1), normal(2, 3, 4), symbolic=True),
    case("transpose.int", lambda x: x.transpose(0, -1) + 1, these(1.0)),
    case("swapaxes.default", lambda x: x.swapaxes(0, 1), normal(2, 3, 4)),
    case("swapdims.default", lambda x: x.swapdims(0, 1), normal(2, 3, 4)),
    case("movedim.int", lambda x: x.movedim(0, 2), normal(2, 3, 4)),
    case("movedim.intlist", lambda x: x.movedim((0, 1), (-1, 0)), normal(2, 3, 4)),
    case("moveaxis.int", lambda x: x.moveaxis(0, 2), normal(2, 3, 4)),
    case("expand.default", lambda x: x.expand(4, -1, 3), normal(2, 1), symbolic=True),
    case("expand.default", lambda x: x.expand(2, 3) + 1, normal(2, 3)),
    case("expand.default", lambda x, n: x.expand(n, -1), normal(1, 3), host(4)),
    case("expand.default", lambda x, n: x.expand(n, 3), flags(3), host(4)),
    case("expand.default", lambda x, n: x.expand(n, 3), normal(3, dtype=torch.bfloat16), host(0)),
    case("broadcast_to.default", lambda x: x.broadcast_to(4, 2, 3), normal(2, 1)),
    case("expand_as.default", lambda x, y: x.expand_as(y) + y, normal(1, 3), normal(2, 3)),
    case("copy.default", lambda x, y: torch.ops.aten.copy(x, y) + x, normal(2, 3), integers(0, 9, 3)),
    case("sym_size.int", lambda x, n: x[n:].view(x[n:].shape[0], 1) * x[n:].shape[0], normal(5), host(2)),
    # Slices.
    case("slice.Tensor", lambda x: x[1:3], normal(5, 2), symbolic=True),
    case("slice.Tensor", lambda x: x[:, -3:-1], normal(2, 5)),
    case("slice.Tensor", lambda x: x[::2], normal(5)),
    case("slice.Tensor", lambda x: x[7:], normal(5)),
    case("slice.Tensor", lambda x: x[:] + 1, normal(5)),
    case("slice.Tensor", lambda x, n: x[n:], normal(5), host(2)),
    case("slice.Tensor", lambda x, n: x[:n], normal(5), host(-2)),
    case("slice.Tensor", lambda x, n: x[n : n + 2], normal(5, dtype=torch.float16), host(1)),
    case("select.int", lambda x: x[1], normal(5, 2), symbolic=True),
    case("select.int", lambda x: x[:, -1], normal(5, 2), symbolic=True),
    case("select.int", lambda x, n: x.select(0, n), normal(5, 2), host(3)),
    case("select.int", lambda x, n: x.select(0, n), normal(5, 2), host(-2)),
    case("narrow.default", lambda x: x.narrow(1, 1, 2), normal(2, 5)),
    case("narrow.default", lambda x: x.narrow(1, -3, 2), normal(2, 5)),
    case("narrow.default", lambda x, n: x.narrow(1, n, 2), normal(2, 5), host(1)),
    case("slice_scatter.default", lambda x, y: _written(x, slice(1, 3), y), normal(5, 2), normal(2, 2)),
    case("slice_scatter.default", lambda x, y: _written(x, slice(None, None, 2), y), normal(5), normal(3)),
    case(
        "slice_scatter.default", lambda x, y: _written(x, (slice(None), slice(-2, None)), y), normal(3, 4), these(7.0)
    ),
    case("slice_scatter.default", lambda x, y: x.slice_scatter(y, 0), normal(5), normal(5)),
    case("slice_scatter.default", lambda x, y, n: x.slice_scatter(y, 0, n, n + 2), normal(5), normal(2), host(1)),
    case("slice_scatter.default", lambda x, y, n: x.slice_scatter(y, 0, n), normal(5), normal(2), host(-2)),
    case("select_scatter.default", lambda x, y: _written(x, 1, y), normal(3, 4), normal(4), symbolic=True),
    case("select_scatter.default", lambda x, y: _written(x, (slice(None), -1), y), normal(3, 4), normal(3)),
    case("select_scatter.default", lambda x, y, n: x.select_scatter(y, 0, n), normal(3, 4), normal(4), host(2)),
    case("select_scatter.default", lambda x, y, n: x.select_scatter(y, 0, n), normal(3), these(1.0), host(-1)),
    case("split.Tensor", lambda x: x.split(2), normal(5, 2)),
    case("split.Tensor", lambda x: x.split(3, dim=1), normal(2, 3)),
    case("split.Tensor", lambda x: x.split(2), normal(4, 2)),
    case("split_with_sizes.default", lambda x: x.split([1, 3, 1]), normal(5, 2)),
    case("split_with_sizes.default", lambda x, n: x.split([n, 5 - n])[0], normal(5, 2), host(2)),
    case("split.sizes", lambda x: torch.ops.aten.split.sizes(x, [1, 4]), normal(5, 2)),
    case("chunk.default", lambda x: x.chunk(3, dim=1), normal(2, 7)),
    case("unbind.int", lambda x: x.unbind(1), normal(2, 3), symbolic=False),
    case("unbind.int", lambda x: x.unbind(), normal(1, 3)),
    case("flip.default", lambda x: x.flip(0, -1), normal(2, 3), symbolic=True),
    case("flip.default", lambda x: x.flip(()) + 1, normal(2, 3)),
    case("fliplr.default", torch.fliplr, normal(2, 3)),
    case("flipud.default", torch.flipud, normal(2, 3)),
    case("roll.default", lambda x: x.roll(1, 0), normal(3, 4)),
    case("roll.default", lambda x: x.roll((-1, 6), (0, 1)), normal(3, 4)),
    case("roll.default", lambda x: x.roll(2), normal(3, 4)),
    case("roll.default", lambda x, n: x.roll(n, 1), normal(3, 4), host(5)),
    # Joins.
    case("cat.default", lambda x, y: torch.cat((x, y, x)), normal(2, 3), normal(1, 3), symbolic=True),
    case("cat.default", lambda x, y: torch.cat((x, y), dim=-1), normal(2, 3), integers(0, 9, 2, 2)),
    case("cat.default", lambda x: torch.cat((torch.zeros(0), x, x), dim=1), normal(2, 3)),
    case("cat.default", lambda x: torch.cat((torch.zeros(0), x)), normal(3)),
    case("cat.default", lambda x: torch.cat((x, x)), normal(0)),
    case("cat.default", lambda x: torch.cat((x, x)), normal(2, dtype=torch.bfloat16)),
    case("concat.default", lambda x: torch.concat((x, x)), normal(2, 3)),
    case("concatenate.default", lambda x: torch.concatenate((x, x)), normal(2, 3)),
    case("stack.default", lambda x, y: torch.stack((x, y)), normal(2, 3), normal(2, 3), symbolic=True),
    case("stack.default", lambda x: torch.stack((x, x), dim=-1), normal(2, 3)),
    case("stack.default", lambda x: torch.stack((x, x)), these(1)),
    case("hstack.default", lambda x: torch.hstack((x, x)), normal(2)),
    case("hstack.default", lambda x: torch.hstack((x, x)), normal(2, 3)),
    case("vstack.default", lambda x: torch.vstack((x, x)), normal(2)),
    case("repeat.default", lambda x: x.repeat(2, 1, 3), normal(2, 3), symbolic=True),
    case("repeat.default", lambda x: x.repeat(1, 1) + 1, normal(2, 3)),
    case("repeat.default", lambda x, n: x.repeat(n, 2), normal(2, 3, dtype=torch.float16), host(3)),
    case("tile.default", lambda x: x.tile(2), normal(2, 3)),
    case("repeat_interleave.self_int", lambda x: x.repeat_interleave(2), normal(2, 3), symbolic=True),
    case("repeat_interleave.self_int", lambda x: x.repeat_interleave(3, dim=1), normal(2, 3), symbolic=True),
    case("repeat_interleave.self_int", lambda x, n: x.repeat_interleave(n, dim=1), normal(2, 3), host(2)),
    case(
        "repeat_interleave.self_Tensor",
        lambda x, n: x.repeat_interleave(n, dim=0, output_size=4),
        normal(3, 2),
        these([1, 0, 3]),
    ),
    case("repeat_interleave.Tensor", lambda n: torch.repeat_interleave(n), these([1, 0, 3])),
    # Padding.
    case("constant_pad_nd.default", lambda x: torch.constant_pad_nd(x, [1, 2], 0.5), normal(2, 3)),
    case("pad.default", lambda x: F.pad(x, (1, 2, 0, 1)), normal(2, 3, 4)),
    case("pad.default", lambda x: F.pad(x, (-1, 2), value=3.0), normal(2, 4)),
    case("pad.default", lambda x: F.pad(x, (1, 1), value=True), flags(3)),
    case("pad.default", lambda x: F.pad(x, (1, 1), value=2), integers(0, 9, 3, dtype=torch.int16)),
    *(
        case("pad.default", lambda x, m=m: F.pad(x, (1, 2, 0, 1), mode=m), normal(1, 2, 3, 4))
        for m in ("reflect", "replicate", "circular")
    ),
    case("pad.default", lambda x: F.pad(x, (1, 2), mode="circular"), normal(2, 3)),
    case("reflection_pad1d.default", lambda x: torch.ops.aten.reflection_pad1d(x, [1, 2]), normal(2, 4)),
    case("reflection_pad2d.default", lambda x: torch.ops.aten.reflection_pad2d(x, [1, 2, 0, 1]), normal(1, 2, 4, 4)),
    case(
        "reflection_pad3d.default", lambda x: torch.ops.aten.reflection_pad3d(x, [1, 2, 0, 1, 1, 1]), normal(2, 4, 4, 4)
    ),
    case("replication_pad1d.default", lambda x: torch.ops.aten.replication_pad1d(x, [1, 2]), normal(2, 4)),
    case("replication_pad2d.default", lambda x: torch.ops.aten.replication_pad2d(x, [1, 2, 0, 1]), normal(2, 4, 4)),
    case(
        "replication_pad3d.default",
        lambda x: torch.ops.aten.replication_pad3d(x, [1, 2, 0, 1, 1, 1]),
        normal(2, 4, 4, 4),
    ),
]
