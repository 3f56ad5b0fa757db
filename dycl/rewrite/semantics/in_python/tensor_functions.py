"""Functions of PyTorch that look at sizes or at values, or take sizes as numbers, as plain Python."""

from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import expect_true, guard_or_false, guard_or_true, statically_known_true

from dycl.rewrite.normalise import syntax
from dycl.rewrite.state.items import NumberItem
from dycl.rewrite.state.tables import GrownList


def squeezed(tensor: torch.Tensor, dim: Any = None) -> torch.Tensor:
    """`tensor.squeeze(dim)`."""
    rank = tensor.dim()
    axes: list[int] = []
    for given in [dim] if isinstance(dim, int) else range(rank) if dim is None else dim:
        axis = _axis(given, rank)
        if axis in axes:
            raise RuntimeError("a dim appears multiple times in the list of dims")
        axes.append(axis)
    drops = False
    for axis in sorted(axes, reverse=True):
        if rank and tensor.shape[axis] == 1:
            tensor, drops = tensor.select(axis, 0), True
    return tensor if drops else torch.ops.aten.alias.default(tensor)


def _axis(dim: int, rank: int) -> int:
    """A dimension counted from the front, known from here on."""
    count = max(rank, 1)
    message = f"Dimension out of range (expected to be in range of [{-count}, {count - 1}])"
    return syntax.known_index(dim, count, message)


def differences(
    input: torch.Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Any = None,
    append: Any = None,
) -> torch.Tensor:
    """`torch.diff(input, n, dim)`."""
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = _axis(dim, input.dim())
    if n < 0:
        raise RuntimeError("order must be non-negative")
    if n == 0:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    tensor = torch.cat(parts, dim) if len(parts) > 1 else input
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = tensor[(*before, slice(1, None))], tensor[(*before, slice(None, -1))]
        tensor = torch.logical_xor(later, earlier) if tensor.dtype == torch.bool else later - earlier
    return tensor


def tensor_of(data: Any, *rest: Any, **options: Any) -> torch.Tensor:
    """`torch.tensor(data)` of a list of unknown length: where it has no item, none tells the element type."""
    if len(data) == 0:
        return torch.tensor([], *rest, **options)
    return tensor_of_some(data, *rest, **options)


def may_be_of_no_type(data: Any = None, dtype: Any = None, **_: Any) -> bool:
    """Whether `torch.tensor(data)` is given a list of unknown length, of whole numbers or truth values."""
    kinds = (NumberItem("int"), NumberItem("bool"))
    return type(data) is GrownList and dtype is None and data.template in kinds


def tensor_of_some(data: Any, *rest: Any, **options: Any) -> torch.Tensor:
    """`torch.tensor(data)` of a list that has items."""
    return torch.tensor(data, *rest, **options)


def spaced(start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> torch.Tensor:
    """`torch.linspace(start, end, steps)`, from both ends to the middle."""
    kind = torch.get_default_dtype() if dtype is None else dtype
    if options or not kind.is_floating_point:
        syntax.refuse("DY008", "the steps of a `linspace` of whole numbers depend on the input")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = _number(start), _number(end)
    place = torch.arange(steps, dtype=torch.float64)
    step = (end - start) / max(steps - 1, 1)
    front, back = start + place * step, end - (steps - 1 - place) * step
    return torch.where(place * 2 < steps, front, back).to(kind)


def _number(bound: Any) -> Any:
    if not isinstance(bound, torch.Tensor):
        return bound
    if bound.dim() != 0:
        raise RuntimeError("linspace only supports 0-dimensional start and end tensors")
    return bound.item()


def covariance(input: torch.Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> torch.Tensor:
    """`torch.cov(input)` with weights, which may be none that PyTorch takes."""
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    observed = rows.shape[1] > 0
    if fweights is not None and observed and not fweights.min() >= 0:
        raise RuntimeError("cov(): fweights cannot be negative")
    if aweights is not None and observed and not aweights.min() >= 0:
        raise RuntimeError("cov(): aweights cannot be negative")
    weights = aweights if fweights is None else fweights if aweights is None else fweights * aweights
    if weights is None:
        return torch.cov(input, correction=correction)
    total = weights.sum()
    if not total != 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (rows * weights).sum(1) / total
    lost = correction * (weights * aweights).sum() / total if aweights is not None and correction else correction
    rows = rows - mean.unsqueeze(1)
    return torch.true_divide(rows @ (rows * weights).t().conj(), torch.clamp(total - lost, min=0)).squeeze()


def shape_of_all(*shapes: Any) -> torch.Size:
    """`torch.broadcast_shapes(*shapes)`."""
    given = [[shape] if isinstance(shape, int) else list(shape) for shape in shapes]
    result = [1] * max([len(shape) for shape in given], default=0)
    for shape in given:
        for place in range(-1, -1 - len(shape), -1):
            if shape[place] < 0:
                raise RuntimeError("Trying to create tensor with negative dimension")
            if shape[place] == 1 or shape[place] == result[place]:
                continue
            if result[place] != 1:
                raise RuntimeError("Attempting to broadcast a dimension of another length")
            result[place] = shape[place]
    return torch.Size(result)


def require(condition: Any, message: Any = None) -> None:
    """`torch._check(condition, message)`."""
    if not condition:
        raise RuntimeError("Expected cond to be True" if message is None else message())


def truth(condition: Any, *_: Any) -> bool:
    """What PyTorch's questions about sizes give for a number that is known, as in eager mode all are."""
    return bool(condition)


TENSORS: dict[Any, Any] = {torch.tensor: tensor_of, torch.as_tensor: tensor_of}
SUBSTITUTES: dict[Any, Any] = {
    **TENSORS,
    torch.cov: covariance,
    torch.squeeze: squeezed,
    torch.diff: differences,
    torch.linspace: spaced,
    torch.broadcast_shapes: shape_of_all,
    torch._check: require,
    **dict.fromkeys((guard_or_false, guard_or_true, statically_known_true, expect_true), truth),
}
METHODS: dict[str, Any] = {"cov": covariance, "squeeze": squeezed, "diff": differences}
