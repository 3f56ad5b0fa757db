"""A whole backend: float32 sums, products and ReLU by numpy. A code is [[function, operands], ..., outputs] as JSON."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dycl.backends.errors import Untranslatable
from dycl.hcfg.subnet import Ref, SubnetGraph
from dycl.runtime import ArrayEngine, ArtefactError, CompiledSubnet, SubnetFailure, SubnetSignature

FUNCTIONS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "matmul": np.matmul, "relu": lambda x: x.clip(0)}
TARGETS = frozenset(("aten.add.Tensor", "aten.mul.Tensor", "aten.matmul.default", "aten.relu.default"))


class ToyCompiler:  # The compile-time half: dycl.backends.register_compiler(ToyCompiler()).
    name, supports = "toy", staticmethod(TARGETS.__contains__)

    def compile(self, graph: SubnetGraph) -> bytes:
        known, lines = [*graph.inputs, *graph.weights], []
        for operation in graph.operations:
            operands = [value for name, value in operation.arguments.items() if (name, value) != ("alpha", 1)]
            refs = [value for value in (*operands, *operation.outputs) if isinstance(value, Ref)]
            if len(refs) != len(operands) + 1 or any(graph.type_of(ref).dtype != "float32" for ref in refs):
                raise Untranslatable("the toy backend computes on float32 tensors only", operation.span)
            lines.append([operation.target.split(".")[1], [known.index(ref) for ref in refs[:-1]]])
            known.append(refs[-1])
        return json.dumps([*lines, [known.index(ref) for ref in graph.outputs]]).encode()


class ToyBackend(ArrayEngine):  # The runtime half, dycl.runtime.register_backend("toy", ToyBackend()), and its engine.
    def __init__(self, subnets: Sequence[CompiledSubnet] = ()) -> None:
        self.opened = {subnet.id: (json.loads(subnet.code), subnet.weights) for subnet in subnets}

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        try:
            *lines, outputs = json.loads(code)
            used = {index for _, operands in [*lines, ("", outputs)] for index in operands}
            known = range(len(signature.inputs) + len(signature.weights) + len(lines))
            sound = used.issubset(known) and all(function in FUNCTIONS for function, _ in lines)
        except (RecursionError, TypeError, ValueError):
            sound = False
        if not sound or len(outputs) != len(signature.outputs):
            raise ArtefactError("the code of a sub-DNN is not the toy backend's, or not for its signature")

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> "ToyBackend":
        return ToyBackend(subnets)

    def subnet(self, subnet: str, inputs: Sequence[int]) -> Any:
        return lambda slots: self.run(*self.opened[subnet], [slots[place] for place in inputs])

    def run(self, code: list[Any], weights: Sequence[Any], values: list[Any]) -> list[Any]:
        values.extend(weights)
        try:
            values.extend(FUNCTIONS[name](*(values[index] for index in operands)) for name, operands in code[:-1])
            return [np.array(values[index]) for index in code[-1]]  # Copied: outputs have memory of their own.
        except (LookupError, TypeError, ValueError) as error:
            raise SubnetFailure(str(error)) from error
