"""The code of a sub-DNN for ncnn: layers on numbered values as JSON, read and checked, and written in ncnn's own form.

    {"layers": [["ReLU", [0], 1, {}, []], ...], "outputs": [1, [2, "gt", 0.5], ...]}

A layer has a kind, the numbers of the values that it takes and of the one it gives, parameters, and recipes for its
weights. The inputs of the sub-DNN are the first values. An output is a value, or a flag: a value that is one number,
compared with a number or with a weight (`["weight", 3]`).
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dycl.hcfg.types import TensorType
from dycl.runtime.backend import SubnetSignature
from dycl.runtime.errors import ArtefactError
from dycl.runtime.ncnn.layers import LAYERS, Layer, Sizes, Unfit
from dycl.runtime.weight_store import Array

COMPARISONS = {"gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal}
_MOST_RANK = 4


@dataclass(frozen=True, slots=True)
class Step:
    """One layer of a net; `sizes` are those of what it gives."""

    kind: str
    inputs: tuple[int, ...]
    output: int
    parameters: dict[int, int | float]
    recipes: tuple[Any, ...]
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class Flag:
    """A value that is one number, compared with a number or with a weight."""

    value: int
    comparison: str
    number: float | None
    weight: int | None


@dataclass(frozen=True, slots=True)
class Net:
    """A code that was read and found to be sound."""

    inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[int | Flag, ...]

    @property
    def read(self) -> tuple[int, ...]:
        """The values that are read at the end, in the order of the outputs."""
        return tuple(output.value if isinstance(output, Flag) else output for output in self.outputs)


def map_sizes(tensor: TensorType) -> Sizes:
    """The sizes of the map that holds a tensor: a batch of one is left out, and a number is a map of one element."""
    sizes = tensor.shape
    if tensor.dtype != "float32" or len(sizes) > _MOST_RANK or not all(isinstance(size, int) for size in sizes):
        raise Unfit(f"{tensor} is no map of known sizes")
    known = tuple(size for size in sizes if isinstance(size, int))
    if len(known) > 1 and known[0] == 1:
        known = known[1:]
    if len(known) > 3 or not all(0 < size < 2**24 for size in known):
        raise Unfit(f"{tensor} is no map")
    return known or (1,)


def read(code: bytes, signature: SubnetSignature) -> Net:
    """The net of a code; ArtefactError unless it is sound and fits the signature."""
    try:
        told = json.loads(code)
        return _checked(told, signature)
    except (Unfit, KeyError, TypeError, ValueError, IndexError, RecursionError, OverflowError) as error:
        raise ArtefactError(f"the code of a sub-DNN is not one for ncnn, or not for its signature: {error}") from error


def _checked(told: Any, signature: SubnetSignature) -> Net:
    if not isinstance(told, dict) or told.keys() != {"layers", "outputs"}:
        raise Unfit("not an object of layers and outputs")
    sizes = list(map(map_sizes, signature.inputs))
    steps = []
    for kind, inputs, output, parameters, recipes in told["layers"]:
        taken = [sizes[_place(value, len(sizes))] for value in inputs]
        step = _step(kind, tuple(inputs), output, parameters, recipes, taken, signature)
        if output != len(sizes) or not inputs:
            raise Unfit("values that are not in order")
        sizes.append(step.sizes)
        steps.append(step)
    if len(told["outputs"]) != len(signature.outputs):
        raise Unfit("another number of outputs")
    pairs = zip(told["outputs"], signature.outputs, strict=True)
    outputs = tuple(_output(output, wanted, sizes, signature) for output, wanted in pairs)
    return Net(len(signature.inputs), tuple(steps), outputs)


def _output(told: Any, wanted: TensorType, sizes: Sequence[Sizes], signature: SubnetSignature) -> int | Flag:
    if isinstance(told, list):
        if wanted != TensorType("bool", ()):
            raise Unfit("a flag in the place of a map")
        return _flag(told, sizes, signature)
    if sizes[_place(told, len(sizes))] != map_sizes(wanted) or told < len(signature.inputs):
        raise Unfit("an output of other sizes, or an input as an output")
    return int(told)


def _place(value: Any, known: int) -> int:
    if type(value) is not int or not 0 <= value < known:
        raise Unfit(f"{value!r} is no value")
    return value


def _step(
    kind: str,
    inputs: tuple[int, ...],
    output: int,
    told: dict[str, Any],
    recipes: Sequence[Any],
    taken: Sequence[Sizes],
    signature: SubnetSignature,
) -> Step:
    layer: Layer = LAYERS[kind]
    parameters = {int(number): value for number, value in told.items()}
    if not parameters.keys() <= layer.parameters or not all(
        type(value) in (int, float) for value in parameters.values()
    ):
        raise Unfit(f"parameters that {kind} does not have")
    sizes = layer.sizes(parameters, taken)
    counts = layer.weights(parameters, taken)
    if len(recipes) != len(counts) or len(inputs) > 64:
        raise Unfit(f"another number of weights than {kind} has")
    for recipe, count in zip(recipes, counts, strict=True):
        _require(recipe, count, counts[-1], signature)
    if not all(0 < size < 2**24 for size in sizes):
        raise Unfit(f"{kind} gives a map of sizes {sizes}")
    return Step(kind, inputs, output, parameters, tuple(recipes), sizes)


def _require(recipe: Any, count: int, channels: int, signature: SubnetSignature) -> None:
    """Check a recipe: a weight, or one with a normalisation folded into it, has as many elements as a layer takes."""
    how, weight, norm = recipe
    if how not in ("plain", "folded", "shift") or (how == "plain") != (norm is None):
        raise Unfit(f"no recipe: {how!r}")
    if weight is not None and _elements(weight, signature) != count:
        raise Unfit("a weight of another size")
    if norm is not None:
        *statistics, eps = norm
        if len(statistics) != 4 or type(eps) is not float or not 0 < eps < 1 or None in statistics[2:]:
            raise Unfit("no normalisation")
        if any(part is not None and _elements(part, signature) != channels for part in statistics):
            raise Unfit("a normalisation of another size")


def _elements(weight: Any, signature: SubnetSignature) -> int:
    told = signature.weights[_place(weight, len(signature.weights))]
    if told.dtype != "float32":
        raise Unfit(f"a weight of type {told.dtype}")
    return math.prod(size for size in told.shape if isinstance(size, int))


def _flag(told: Any, sizes: Sequence[Sizes], signature: SubnetSignature) -> Flag:
    value, comparison, other = told
    if math.prod(sizes[_place(value, len(sizes))]) != 1 or comparison not in COMPARISONS:
        raise Unfit("a comparison of more than one number")
    if isinstance(other, list):
        (name, weight) = other
        if name != "weight" or _elements(weight, signature) != 1:
            raise Unfit("a comparison with more than one number")
        return Flag(value, comparison, None, weight)
    if type(other) is not float:
        raise Unfit("a comparison with what is no number")
    return Flag(value, comparison, other, None)


def weight_of(recipe: Any, weights: Sequence[Array], channels: int) -> Array:
    """The numbers that a layer gets: a weight, or a normalisation folded into it, computed in double precision."""
    how, weight, norm = recipe
    if norm is None:
        plain: Array = np.zeros(channels, np.float32) if weight is None else weights[weight].reshape(-1)
        return plain
    *statistics, eps = norm
    factor, shift, mean, variance = (None if part is None else weights[part].astype(np.float64) for part in statistics)
    assert mean is not None and variance is not None
    scale = (1.0 if factor is None else factor) / np.sqrt(variance + eps)
    if how == "folded":
        own = np.ones(channels) if weight is None else weights[weight].astype(np.float64).reshape(channels, -1)
        found: Array = (own.reshape(channels, -1) * scale[:, None]).reshape(-1)
    else:
        own = np.zeros(channels) if weight is None else weights[weight].astype(np.float64)
        found = (own - mean) * scale + (0.0 if shift is None else shift)
    return found.astype(np.float32)


def parameters_text(net: Net) -> str:
    """The net in ncnn's own form: a value that is used several times is split, since a blob has one reader."""
    uses = Counter(value for step in net.steps for value in step.inputs)
    uses.update(net.read)
    turns: Counter[int] = Counter()

    def reader(value: int) -> str:
        turns[value] += 1
        return f"v{value}" if uses[value] < 2 else f"v{value}_{turns[value]}"

    lines = []

    def given(value: int) -> None:
        if uses[value] > 1:
            parts = " ".join(f"v{value}_{turn}" for turn in range(1, uses[value] + 1))
            lines.append(f"Split split{value} 1 {uses[value]} v{value} {parts}")

    for value in range(net.inputs):
        lines.append(f"Input input{value} 0 1 v{value}")
        given(value)
    for step in net.steps:
        inputs = " ".join(map(reader, step.inputs))
        told = " ".join(f"{number}={_told(value)}" for number, value in sorted(step.parameters.items()))
        lines.append(f"{step.kind} layer{step.output} {len(step.inputs)} 1 {inputs} v{step.output} {told}".rstrip())
        given(step.output)
    blobs = sum(int(line.split()[3]) for line in lines)
    return "\n".join(["7767517", f"{len(lines)} {blobs}", *lines]) + "\n"


def read_names(net: Net) -> list[str]:
    """The blobs that hold what is read at the end, in the order of the outputs: the last readers of their values."""
    inside = Counter(value for step in net.steps for value in step.inputs)
    uses = inside + Counter(net.read)
    names = []
    for value in net.read:
        inside[value] += 1
        names.append(f"v{value}" if uses[value] < 2 else f"v{value}_{inside[value]}")
    return names


def _told(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9e}"
