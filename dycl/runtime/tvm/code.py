"""The code of a sub-DNN for TVM: operations on numbered values, as JSON, read and checked.

    {"steps": [["relu", [0], {}], ...], "outputs": [1]}

The inputs of the sub-DNN are the first values, its weights the next; each step gives one more. A step has a kind, the
numbers of its operands and attributes. There is neither machine code nor anything of TVM's in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.runtime.backend import SubnetSignature
from dycl.runtime.errors import ArtefactError
from dycl.runtime.tvm.kinds import KINDS, Tensor, Unfit, bounded, tensor_of

_MOST_STEPS, _MOST_ELEMENTS = 10_000, 2**31


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: its operands and its result by number."""

    kind: str
    operands: tuple[int, ...]
    attributes: Mapping[str, Any]
    result: int


@dataclass(frozen=True, slots=True)
class Net:
    """A code that was read and found to be sound; `tensors` are the types of all values."""

    inputs: int
    weights: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    tensors: tuple[Tensor, ...]

    def is_weight(self, value: int) -> bool:
        """Whether a value is a weight."""
        return self.inputs <= value < self.inputs + self.weights


def read(code: bytes, signature: SubnetSignature) -> Net:
    """The net of a code; ArtefactError unless it is sound and fits the signature."""
    try:
        return _checked(strict_json.parse(code, "the code"), signature)
    except (Unfit, HcfgError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ArtefactError(f"the code of a sub-DNN is not one for TVM, or not for its signature: {error}") from error


def _checked(told: object, signature: SubnetSignature) -> Net:
    steps, outputs = strict_json.fields(told, "the code", "steps", "outputs")
    tensors = [tensor_of(tensor) for tensor in (*signature.inputs, *signature.weights)]
    inputs, weights = len(signature.inputs), len(signature.weights)
    found: list[Step] = []
    total = 0
    for step, place in strict_json.items(steps, "steps"):
        if not isinstance(step, list) or len(step) != 3 or len(found) == _MOST_STEPS:
            raise Unfit(f"{place} is no step, or there are too many")
        kind, operands, attributes = step
        numbers = tuple(_place(value, len(tensors)) for value, _ in strict_json.items(operands, place))
        made = Step(strict_json.text(kind, place), numbers, attributes, len(tensors))
        tensors.append(_given(made, tensors, range(inputs, inputs + weights)))
        found.append(made)
        total += tensors[-1].size
    if total > _MOST_ELEMENTS:
        raise Unfit("results that are too large together")
    wanted = tuple(tensor_of(tensor) for tensor in signature.outputs)
    named = tuple(_place(value, len(tensors)) for value, _ in strict_json.items(outputs, "outputs"))
    if tuple(tensors[value] for value in named) != wanted:
        raise Unfit("outputs of other types")
    return Net(inputs, weights, tuple(found), named, tuple(tensors))


def _place(value: object, known: int) -> int:
    if type(value) is not int or not 0 <= value < known:
        raise Unfit(f"{value!r} is no value")
    return value


def _given(step: Step, tensors: list[Tensor], weights: range) -> Tensor:
    kind = KINDS.get(step.kind)
    if kind is None or len(step.operands) not in kind.takes:
        raise Unfit(f"{step.kind!r:.40} with {len(step.operands)} operands")
    if not isinstance(step.attributes, dict) or step.attributes.keys() != kind.attributes:
        raise Unfit(f"attributes that {step.kind} does not have")
    if kind.weights_from is not None and any(value not in weights for value in step.operands[kind.weights_from :]):
        raise Unfit(f"a computed value in the place of a weight of {step.kind}")
    return bounded(kind.gives([tensors[value] for value in step.operands], step.attributes))


def written(steps: list[Any], outputs: list[int]) -> bytes:
    """The code of these steps."""
    return json.dumps({"steps": steps, "outputs": outputs}, separators=(",", ":"), allow_nan=False).encode()
