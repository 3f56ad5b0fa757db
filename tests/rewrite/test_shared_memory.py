"""A result that is its argument, or a view of it, is written together with it; one that is a copy is not."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dycl
from tests.comparison import Calls

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "dropout": nn.Dropout(0.5).eval(),
    "native_dropout": lambda x: torch.native_dropout(x, 0.5, False)[0],
    "dropout2d": nn.Dropout2d(0.5).eval(),
    "dropout3d": nn.Dropout3d(0.5).eval(),
    "alpha_dropout": nn.AlphaDropout(0.5).eval(),
    "feature_alpha_dropout": nn.FeatureAlphaDropout(0.5).eval(),
    "identity": nn.Identity(),
    "flatten": nn.Flatten(),
    "unflatten": nn.Unflatten(1, (1, 2)),
    "interpolate to the same size": lambda x: F.interpolate(x, size=(3, 4)),
    "pad by nothing": lambda x: F.pad(x, (0, 0)),
    "adaptive pooling to the same size": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "einsum that permutes": lambda x: torch.einsum("abcd->badc", x),
    "einsum": lambda x: torch.einsum("abcd,abcd->abcd", x, x),
    "reshape": lambda x: x.reshape(4, -1),
    "reshape of a transposed tensor": lambda x: x.mT.reshape(4, -1),
    "contiguous": lambda x: x.contiguous(),
    "contiguous of a transposed tensor": lambda x: x.mT.contiguous(),
    "ravel": torch.ravel,
    "to the same type": lambda x: x.to(torch.float32),
    "to another type": lambda x: x.to(torch.float64),
    "float": lambda x: x.float(),
    "type_as": lambda x: x.type_as(x),
    "real": torch.real,
    "positive": torch.positive,
    "expand_as": lambda x: x.expand_as(x),
    "view_as": lambda x: x.view_as(x),
    "atleast_1d": lambda x: torch.atleast_1d(x),
    "broadcast_tensors": lambda x: torch.broadcast_tensors(x, x)[0],
    "unsafe_split": lambda x: x.unsafe_split(1)[0],
    "unsafe_chunk": lambda x: x.unsafe_chunk(2)[0],
    "tensor_split": lambda x: x.tensor_split(2)[1],
    "movedim": lambda x: x.movedim(0, 2),
    "diagonal": lambda x: x.diagonal(0, 2, 3),
    "clone": lambda x: x.clone(),
    "nan_to_num": lambda x: x.nan_to_num(),
    "squeeze": lambda x: x.squeeze(),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "softmax": lambda x: x.softmax(-1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "rot90 by nothing": lambda x: torch.rot90(x, 0, (2, 3)),
    "roll by nothing": lambda x: torch.roll(x, 0, 0),
    "flip of no axis": lambda x: torch.flip(x, ()),
    "repeat once": lambda x: x.repeat(1, 1, 1, 1),
    "tile once": lambda x: torch.tile(x, (1,)),
    "mean over no axis": lambda x: x.mean((0,), keepdim=True),
    "matrix_power": lambda x: torch.matrix_power(x[..., :3], 1),
    "batch_norm": nn.BatchNorm2d(2).eval(),
}


def _skip(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], tuple[Tensor, ...]]:
    def block(x: Tensor) -> tuple[Tensor, ...]:
        skip = x * 2
        h = function(skip)
        h += 1
        skip.mul_(3)
        return h, skip, h.sum() + skip.sum()

    return block


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_write_to_a_result_is_seen_where_pytorch_sees_it(name: str) -> None:
    block = _skip(FUNCTIONS[name])
    x = torch.arange(48.0).reshape(2, 2, 3, 4)
    with torch.no_grad():
        expected = block(x)
    try:
        program = dycl.compile(Calls(block).eval(), (x,))
    except dycl.CompileError as error:
        assert {problem.identifier for problem in error.problems} <= {"DY004", "DY006"}
        return
    torch.testing.assert_close(program(x), expected)


def test_a_strided_input_is_copied_where_pytorch_copies_it() -> None:
    def written(x: Tensor) -> tuple[Tensor, Tensor]:
        flat = x.ravel()
        flat.fill_(1)
        return x, flat

    x = torch.randn(3, 4).T
    expected = written(x.clone(memory_format=torch.preserve_format))
    torch.testing.assert_close(dycl.compile(Calls(written).eval(), (x,))(x), expected)


def _transposed(x: Tensor) -> Tensor:
    return x.t().reshape(-1)


def _part(x: Tensor) -> Tensor:
    return x[:, :2].contiguous()


def _heads(x: Tensor) -> Tensor:
    return x.view(-1, 2, 2).transpose(0, 1).flatten(1)


def _result_written(z: Tensor, y: Tensor) -> None:
    z += 1


def _source_written(z: Tensor, y: Tensor) -> None:
    y.mul_(2)


def _part_of_each_written(z: Tensor, y: Tensor) -> None:
    z[:1] = 7
    y[:1] -= 3
    z.add_(1)


@pytest.mark.parametrize("write", [_result_written, _source_written, _part_of_each_written])
@pytest.mark.parametrize("function", [_transposed, _part, _heads])
def test_what_is_a_view_for_one_row_alone_is_written_with_the_other_there(
    function: Callable[[Tensor], Tensor], write: Callable[[Tensor, Tensor], None]
) -> None:
    def both(x: Tensor) -> object:
        y = x * 1
        z, again = function(y), function(y)
        write(z, y)
        return (y, z, again) if x.sum() > 0 else (z, y[:1], again)

    rows = {"x": {0: torch.export.Dim("rows", max=8)}}
    program = dycl.compile(Calls(both).eval(), torch.ones(3, 4), dynamic_shapes=rows)
    for count in (0, 1, 2, 5):
        for x in (torch.rand(count, 4), -torch.rand(count, 4)):
            torch.testing.assert_close(program(x), both(x))


def test_a_view_where_any_of_two_sizes_is_one() -> None:
    def both(x: Tensor) -> object:
        y = x * 1
        z = y.t().reshape(-1)
        z += 1
        return y, z

    sizes = {"x": {0: torch.export.Dim("rows", max=8), 1: torch.export.Dim("columns", max=8)}}
    program = dycl.compile(Calls(both).eval(), torch.ones(3, 4), dynamic_shapes=sizes)
    for shape in ((0, 3), (1, 1), (1, 4), (3, 1), (2, 3)):
        x = torch.randn(shape)
        torch.testing.assert_close(program(x), both(x))


def test_a_view_of_which_nothing_simple_tells_where_it_is_one() -> None:
    def both(x: Tensor) -> object:
        y = x * 1
        z = y[:, :2].reshape(-1)
        z += 1
        return y, z

    sizes = {"x": {0: torch.export.Dim("rows", max=8), 1: torch.export.Dim("columns", max=8)}}
    with pytest.raises(dycl.CompileError, match="DY006"):
        dycl.compile(Calls(both).eval(), torch.ones(3, 4), dynamic_shapes=sizes)


def test_a_size_of_the_input_s_own_may_make_a_view_too() -> None:
    def function(x: Tensor) -> Tensor:
        y = torch.stack([x, x], 1)[x > 0]
        y.t().reshape(-1).add_(1)
        return y

    program = dycl.compile(Calls(function).eval(), torch.ones(4))
    for x in (torch.ones(4), -torch.ones(4), torch.tensor([1.0, -1, -1, -1]), torch.tensor([1.0, -1, 2, -1])):
        torch.testing.assert_close(program(x), function(x))


def _by_its_own_row(x: Tensor) -> Tensor:
    y = x * 3
    y -= y[0]
    return y


def _along_itself(x: Tensor) -> Tensor:
    y = x * 3
    y[1:] = y[:-1]
    return y


def _several_in_one(x: Tensor) -> Tensor:
    y = x[:1].expand(3, 4)
    if x.sum() > 0:
        y += 1
    return y


@pytest.mark.parametrize("function", [_by_its_own_row, _along_itself, _several_in_one])
def test_writes_that_pytorch_refuses_are_refused(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(RuntimeError, match="to a single memory location"):
        function(torch.ones(3, 4))
    with pytest.raises(dycl.CompileError, match="DY006"):
        dycl.compile(Calls(function).eval(), torch.ones(3, 4))


def test_parts_that_do_not_overlap_may_be_written_by_each_other() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 3
        y[0] += y[1]
        y[:, 1] -= y[:, 2]
        y *= y
        return y

    x = torch.arange(12.0).reshape(3, 4)
    assert torch.allclose(dycl.compile(Calls(function).eval(), x)(x), function(x))


ACROSS: dict[str, Callable[[Tensor], object]] = {
    "columns": lambda m: m.sub_(m[:, :1]),
    "a diagonal": lambda m: m.add_(m.diagonal()),
    "shifted": lambda m: m[:, 1:].copy_(m[:, :-1]),
    "a column of its transpose": lambda m: m.t().mul_(m[:, 0]),
    "out": lambda m: torch.add(m[:, :-1], 1, out=m[:, 1:]),
    "out of a product": lambda m: torch.matmul(m, m, out=m),
    "out of a sum": lambda m: torch.sum(m, 0, out=m[0]),
    "by its own rows": lambda m: m.index_put_((torch.tensor([2, 1, 0]),), m),
    "scattered": lambda m: m.scatter_(0, torch.zeros(3, 3, dtype=torch.int64), m),
    "added by rows": lambda m: m.index_add_(0, torch.tensor([2, 1, 0]), m),
    "masked": lambda m: m.masked_scatter_(m > 0, m),
}
BESIDE: dict[str, Callable[[Tensor], object]] = {
    "another column": lambda m: m[:, 0].copy_(m[:, 1]),
    "other columns": lambda m: m[:, :1].add_(m[:, 2:]),
    "itself": lambda m: m.add_(m),
    "its transpose by its transpose": lambda m: m.t().mul_(m.t()),
    "out of itself": lambda m: torch.add(m, 1, out=m),
    "another row": lambda m: m[0].add_(m[1]),
    "pieces": lambda m: m.unbind(1)[0].sub_(m.unbind(1)[2]),
}


def _written(write: Callable[[Tensor], object]) -> Callable[[Tensor], Tensor]:
    def block(x: Tensor) -> Tensor:
        m = x.clone()
        write(m)
        return m if x.sum() > 0 else m + 1

    return block


@pytest.mark.parametrize("name", ACROSS)
def test_a_write_that_reads_what_it_writes_is_refused(name: str) -> None:
    with pytest.raises(dycl.CompileError, match="DY006"):
        dycl.compile(Calls(_written(ACROSS[name])).eval(), torch.randn(3, 3))


@pytest.mark.parametrize("name", BESIDE)
def test_a_write_beside_what_it_reads(name: str) -> None:
    block = _written(BESIDE[name])
    program = dycl.compile(Calls(block).eval(), torch.randn(3, 3))
    for _ in range(3):
        x = torch.randn(3, 3)
        torch.testing.assert_close(program(x), block(x))


def test_rows_of_open_length_are_written_through_a_mask() -> None:
    def masked(x: Tensor) -> Tensor:
        v = x[x > 0][None]
        v[v[:, 0] > 2] = 0
        return v if x.sum() > 0 else v * 2

    program = dycl.compile(Calls(masked).eval(), torch.tensor([1.0, 2.0, -9.0]))
    for x in (torch.tensor([1.0, 2.0, -9.0]), torch.tensor([3.0, 4.0, 1.0]), torch.tensor([3.0, -8.0, 0.0])):
        torch.testing.assert_close(program(x), masked(x))
