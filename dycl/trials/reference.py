"""What PyTorch computes for a sub-DNN: the recorded operations, one after another.

    aten.add.Tensor(r0, 2, alpha=1) -> r1        torch.ops.aten.add.Tensor(values[r0], tensor(2), alpha=1)

A number that only the input determines is a tensor inside a sub-DNN; where an operation wants the number itself, it is
taken out. Two other ways of computing the same tell what of a result means something: with double precision in the
place of single, and with another choice among equal elements, where an operation such as `topk` has to choose.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref, SubnetGraph

_Call = Callable[[Callable[..., Any], dict[str, Any]], Any]

_Noise = Callable[[int], torch.Tensor]

_SEED = 4_711
_APART = 1e-9
"""By how much of the largest element equal ones are moved apart."""


class NoReference(Exception):
    """PyTorch does not compute a sub-DNN on these values, for instance because it refuses them."""


def computed(graph: SubnetGraph, inputs: Sequence[torch.Tensor], weights: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs of a sub-DNN; NoReference where PyTorch raises an error."""
    values = all_values(graph, inputs, weights)
    return [values[ref] for ref in graph.outputs]


def computed_wider(
    graph: SubnetGraph, inputs: Sequence[torch.Tensor], weights: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """The outputs of a sub-DNN whose operations in single precision are computed in double precision."""
    values = all_values(graph, inputs, weights, wider=True)
    return [values[ref] for ref in graph.outputs]


def computed_with_other_choices(
    graph: SubnetGraph, inputs: Sequence[torch.Tensor], weights: Sequence[torch.Tensor]
) -> Iterator[list[torch.Tensor]]:
    """The outputs of a sub-DNN, if other ones of equal elements are named by the operations that choose."""
    for noise in _NOISES:
        values = all_values(graph, inputs, weights, choosing=_choosing_otherwise(noise))
        yield [values[ref] for ref in graph.outputs]


def chooses(graph: SubnetGraph) -> bool:
    """Whether an operation may have to choose among equal elements."""
    return any(_chooses(operation.target) for operation in graph.operations)


def all_values(
    graph: SubnetGraph,
    inputs: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    wider: bool = False,
    choosing: _Call | None = None,
) -> dict[Ref, torch.Tensor]:
    """Everything that a sub-DNN computes on the way to its outputs."""
    given = [*zip(graph.inputs, inputs, strict=True), *zip(graph.weights, weights, strict=True)]
    values = {ref: _widened(tensor) if wider else tensor for ref, tensor in given}
    with torch.inference_mode(), torch.random.fork_rng(devices=[]):
        for operation in graph.operations:
            call = choosing if choosing is not None and _chooses(operation.target) else _plain
            try:
                results = _run(operation, values, wider, call)
            except Exception as error:
                raise NoReference(f"{operation.target}: {type(error).__name__}: {error}") from error
            values.update((ref, result) for ref, result in zip(operation.outputs, results, strict=True) if ref)
    return values


def _plain(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    return function(**arguments)


def _chooses(target: str) -> bool:
    return target.split(".")[1] in _CHOOSING or target in _CHOOSING


_CHOOSING = frozenset(
    (
        *("topk", "sort", "argsort", "argmax", "argmin", "kthvalue", "mode", "median", "nanmedian"),
        *("aten.max.dim", "aten.min.dim", "cummax", "cummin", "max_pool2d_with_indices"),
    )
)


def _choosing_otherwise(noise: _Noise) -> _Call:
    """Runs operations on elements that are moved apart by less than anything but equal ones are."""

    def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        own = arguments["self"]
        wide = own.double()
        finite = wide[wide.isfinite()]
        largest = float(finite.abs().amax()) if finite.numel() else 0.0
        by = _APART * (largest or 1.0) if own.is_floating_point() else 0.5
        result = function(**{**arguments, "self": wide + by * noise(own.numel()).reshape(own.shape)})

        def restored(one: torch.Tensor) -> torch.Tensor:
            if one.dtype != torch.float64:
                return one
            return one.to(own.dtype) if own.is_floating_point() else one.floor().to(own.dtype)

        return tuple(map(restored, result)) if isinstance(result, tuple) else restored(result)

    return call


def _drawn(count: int) -> torch.Tensor:
    return torch.rand(count, generator=torch.Generator().manual_seed(_SEED), dtype=torch.float64)


_NOISES: tuple[_Noise, ...] = (
    lambda count: torch.linspace(0.0, 0.9, count, dtype=torch.float64),
    lambda count: torch.linspace(0.9, 0.0, count, dtype=torch.float64),
    _drawn,
)
"""The last of equal elements, the first, and one of them."""


def _run(operation: Operation, values: Mapping[Ref, torch.Tensor], wider: bool, call: _Call) -> list[torch.Tensor]:
    function, kinds = _known(operation.target)
    arguments = {name: _given(argument, values, kinds[name], wider) for name, argument in operation.arguments.items()}
    result = call(function, arguments)
    results = list(result) if isinstance(result, tuple | list) else [result]
    if len(operation.outputs) == 1 and isinstance(result, list):
        results = result
    return [one if isinstance(one, torch.Tensor) else torch.tensor(one) for one in results]


@cache
def _known(target: str) -> tuple[Any, dict[str, bool]]:
    """An operation by its name, and which of its arguments are tensors."""
    namespace, name, overload = target.split(".")
    function = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    return function, {argument.name: "Tensor" in str(argument.type) for argument in function._schema.arguments}


def _given(argument: Argument, values: Mapping[Ref, torch.Tensor], is_tensor: bool, wider: bool) -> Any:
    """What PyTorch gets for an argument."""
    match argument:
        case Ref():
            return values[argument] if is_tensor else values[argument].item()
        case DTypeArgument(dtype=dtype):
            return torch.float64 if wider and dtype == "float32" else getattr(torch, dtype)
        case tuple():
            return [_given(item, values, is_tensor, wider) for item in argument]
        case bool() | int() | float() if is_tensor:
            return torch.tensor(argument)
        case _:
            return argument


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype == torch.float32 else tensor
