"""Operations in other words, for all sizes: what PyTorch does with memory or with numbers, as plain operations."""

from collections.abc import Callable
from typing import Any

import torch

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.layouts import repeated
from dycl.rewrite.signals import Refused


def searchsorted(recorder: Records, edges: torch.Tensor, value: Any, **options: Any) -> Any:
    """`searchsorted` of a number: of a tensor without dimensions, in the type that both have in common."""
    dtype = torch.result_type(edges, _like(value))
    return torch.searchsorted(edges.to(dtype), torch.full((), value, dtype=dtype), **options)


def bucketize(recorder: Records, value: Any, edges: torch.Tensor, **options: Any) -> Any:
    """`bucketize` of a number."""
    dtype = torch.result_type(edges, _like(value))
    return torch.bucketize(torch.full((), value, dtype=dtype), edges.to(dtype), **options)


def _like(value: Any) -> Any:
    """A number of the kind of this one, which may be a symbol."""
    return 1.0 if isinstance(value, float | torch.SymFloat) else 1


def unique_consecutive(
    recorder: Records, tensor: torch.Tensor, inverse: bool = False, counts: bool = False, dim: int | None = None
) -> Any:
    """Runs along the only axis are those of all elements; PyTorch's rule for shapes knows no axis from the end."""
    if dim is None or (tensor.dim() != 1 and dim >= 0):
        return NotImplemented
    axis = None if tensor.dim() == 1 else dim % max(tensor.dim(), 1)
    return torch.ops.aten.unique_consecutive.default(tensor, inverse, counts, axis)


def as_strided(recorder: Records, tensor: torch.Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """`as_strided` of a tensor whose elements lie close together, with its axes in any order."""
    numbers = (*tensor.shape, *tensor.stride(), *size, *stride)
    if storage_offset is not None or not all(isinstance(number, int) for number in numbers) or tensor.is_contiguous():
        return NotImplemented
    turned = tensor.permute(sorted(range(tensor.dim()), key=tensor.stride().__getitem__, reverse=True))
    if not turned.is_contiguous():
        return NotImplemented
    return torch.as_strided(turned.reshape(-1), size, stride)


def lstsq(recorder: Records, system: torch.Tensor, right: torch.Tensor, rcond: Any = None, **options: Any) -> Any:
    """The least squares solution by the pseudo-inverse: PyTorch's usual driver gives a rank beside it, and no more."""
    sides = system.shape[-2:]
    known = all(isinstance(size, int) and size for size in sides)
    if options.get("driver") not in (None, "gelsy") or system.is_complex() or not known:
        return NotImplemented
    message = "torch.linalg.lstsq: Argument 4 has illegal value."
    recorder.check(torch.logical_not(torch.isnan(right).any()), "RuntimeError", message)
    # A matrix with infinity in it has no rank, or half of one, as memory happens to be.
    infinite = torch.isinf(system).any(-1, keepdim=True).any(-2, keepdim=True)
    matrix = torch.where(infinite, torch.zeros_like(system), system)
    limit = torch.finfo(system.dtype).eps * max(sides) if rcond is None else rcond
    vector = right.dim() == system.dim() - 1 and right.shape == system.shape[:-1]
    columns = right.unsqueeze(-1) if vector else right
    solution = torch.linalg.pinv(matrix, rtol=limit) @ columns
    rank = torch.linalg.matrix_rank(matrix, rtol=limit)
    nothing = torch.zeros(0, dtype=system.dtype)
    return solution.squeeze(-1) if vector else solution, nothing, rank, nothing.clone()


def lstm(recorder: Records, inputs: torch.Tensor, states: Any, parameters: Any, *options: Any) -> Any:
    """An LSTM that projects its hidden state, step by step: backends know none."""
    biases, layers, _, _, both_ways, batch_first = options
    ways = 2 if both_ways else 1
    each = len(parameters) // (layers * ways)
    steps = inputs.shape[1 if batch_first else 0]
    if each == (4 if biases else 2) or not isinstance(steps, int):
        return NotImplemented
    x = inputs.transpose(0, 1) if batch_first else inputs
    hidden, memory = [], []
    for layer in range(layers):
        outputs = []
        for way in range(ways):
            number = layer * ways + way
            weights = parameters[number * each : (number + 1) * each]
            h, c = states[0][number], states[1][number]
            found = []
            for step in reversed(range(steps)) if way else range(steps):
                h, c = _projected_cell(x[step], h, c, *weights)
                found.append(h)
            outputs.append(torch.stack(found[::-1] if way else found))
            hidden.append(h)
            memory.append(c)
        x = torch.cat(outputs, -1)
    return x.transpose(0, 1) if batch_first else x, torch.stack(hidden), torch.stack(memory)


def _projected_cell(x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, *weights: Any) -> tuple[torch.Tensor, ...]:
    """The next hidden state and memory."""
    linear = torch.ops.aten.linear.default
    from_input, from_hidden, *biases, projection = weights
    given, kept = (biases[0], biases[1]) if biases else (None, None)
    gates = linear(x, from_input, given) + linear(h, from_hidden, kept)
    enter, forget, new, leave = gates.chunk(4, -1)
    memory = forget.sigmoid() * c + enter.sigmoid() * new.tanh()
    return linear(leave.sigmoid() * memory.tanh(), projection), memory


def fill_diagonal(tensor: torch.Tensor, value: Any, wrap: bool = False) -> torch.Tensor:
    """What `fill_diagonal_` stores."""
    rank = tensor.dim()
    if rank < 2:
        raise RuntimeError("dimensions must larger than 1")
    if rank > 2 and not all(isinstance(size, int) for size in tensor.shape):
        raise Refused("DY008", "`fill_diagonal_` needs dimensions of equal length, which depends on the input")
    if rank > 2 and len(set(tensor.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    places = [
        torch.arange(size).reshape([-1 if axis == here else 1 for axis in range(rank)])
        for here, size in enumerate(tensor.shape)
    ]
    if rank == 2 and wrap:
        # Below a square there is one row without, and then the next square.
        places[0] = torch.remainder(places[0], tensor.shape[1] + 1)
    chosen = torch.eq(places[0], places[1])
    for place in places[2:]:
        chosen = torch.logical_and(chosen, torch.eq(places[0], place))
    return torch.where(chosen, torch.full((), value, dtype=tensor.dtype), tensor)


def broadcast(recorder: Records, tensors: Any) -> Any:
    """`broadcast_tensors`: each as large as all together."""
    everywhere: Any = None
    for tensor in tensors:
        here = torch.ones_like(tensor, dtype=torch.bool)
        everywhere = here if everywhere is None else torch.logical_and(everywhere, here)
    results = [torch.where(everywhere, tensor, tensor) for tensor in tensors]
    for tensor, result in zip(tensors, results, strict=True):
        recorder.entangle(tensor, result)
        if recorder.type_of(tensor).shape != recorder.type_of(result).shape:
            repeated(result)
    return results


def loss(operation: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A loss of half precision: each element is rounded before the mean or the sum is taken."""

    def spelled(
        recorder: Records, tensor: torch.Tensor, target: torch.Tensor, reduction: int = 1, *rest: Any, **options: Any
    ) -> Any:
        if not reduction or tensor.dtype not in (torch.float16, torch.bfloat16):
            return NotImplemented
        each = operation(tensor, target, 0, *rest, **options)
        return each.mean() if reduction == 1 else each.sum()

    return spelled
