"""TorchScript's decisions as ONNX `If` and `Loop`, in their fair form.

The exporter keeps every weight in the outermost graph, where ONNX Runtime neither folds nor packs it for operations
inside a branch. Here a weight that only one branch uses is moved into that branch.
"""

import io
from collections.abc import Iterator
from typing import Any

import onnx
import onnxruntime  # type: ignore[import-untyped]
import torch
from torch import nn


def exported(script: nn.Module, example: tuple[torch.Tensor, ...]) -> onnx.ModelProto:
    """The scripted model as ONNX."""
    file = io.BytesIO()
    with torch.no_grad():
        torch.onnx.export(script, example, file, dynamo=False, opset_version=18)  # type: ignore[arg-type]
    model = onnx.load_model_from_string(file.getvalue())
    move_weights(model.graph)
    return model


def move_weights(graph: onnx.GraphProto) -> None:
    """Nothing; each weight of the graph stands in the innermost graph that holds all its uses afterwards."""
    inner = [sub for node in graph.node for sub in _graphs(node)]
    outside = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
    used = {id(sub): _names(sub) for sub in inner}
    for weight in list(graph.initializer):
        holders = [sub for sub in inner if weight.name in used[id(sub)]]
        if weight.name not in outside and len(holders) == 1:
            holders[0].initializer.append(weight)
            graph.initializer.remove(weight)
    for sub in inner:
        move_weights(sub)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g


def _names(graph: onnx.GraphProto) -> set[str]:
    """Every name that a graph or a graph inside it reads."""
    found = {output.name for output in graph.output}
    for node in graph.node:
        found.update(node.input)
        for sub in _graphs(node):
            found |= _names(sub)
    return found


class OnnxModel:
    """An ONNX model on ONNX Runtime, called with tensors."""

    def __init__(self, model: onnx.ModelProto, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._names = [item.name for item in self._session.get_inputs()]

    def __call__(self, *inputs: torch.Tensor) -> tuple[Any, ...]:
        """The model's results."""
        feed = {name: tensor.numpy() for name, tensor in zip(self._names, inputs, strict=True)}
        results = self._session.run(None, feed)
        return tuple(torch.from_numpy(result) if result.shape else torch.tensor(result) for result in results)
