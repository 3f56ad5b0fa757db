"""Random nets of the operations that the backend TVM takes, and what PyTorch gives for them in double precision."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor as Torch

from dycl.hcfg.types import TensorType
from dycl.runtime.backend import SubnetSignature
from dycl.runtime.tvm.code import written
from dycl.runtime.tvm.kinds import KINDS, Tensor, Unfit, bounded

Attributes = dict[str, Any]

_UNARY = ("relu", "relu", "sigmoid", "silu", "tanh", "gelu", "hardswish", "abs", "exp")
_BINARY = ("add", "add", "mul", "sub", "maximum")
_OTHERS = ("linear", "matmul", "batch_norm", "pool", "resize", "reduce", "reduce", "softmax", "layer_norm")
_SHAPES = ("cat", "cat", "reshape", "permute", "slice", "expand", "constant", "clamp", "where")
_KINDS = ("conv2d",) * 8 + _UNARY + _BINARY + _OTHERS + _SHAPES


def _both(given: Sequence[Torch]) -> tuple[Torch | None, Torch | None]:
    """A weight and a bias, or neither."""
    return (given[0], given[1]) if given else (None, None)


_REFERENCES: dict[str, Callable[[Sequence[Torch], Attributes], Torch]] = {
    "conv2d": lambda x, a: F.conv2d(
        x[0], x[1], x[2] if len(x) > 2 else None, a["stride"], a["padding"], a["dilation"], a["groups"]
    ),
    "linear": lambda x, a: F.linear(*x),
    "matmul": lambda x, a: x[0] @ x[1],
    "batch_norm": lambda x, a: F.batch_norm(x[0], x[1], x[2], *_both(x[3:]), eps=a["eps"]),
    "layer_norm": lambda x, a: F.layer_norm(x[0], x[0].shape[-1:], *_both(x[1:]), eps=a["eps"]),
    "max_pool": lambda x, a: F.max_pool2d(x[0], a["window"], a["stride"], a["padding"], ceil_mode=a["ceil"]),
    "avg_pool": lambda x, a: F.avg_pool2d(
        x[0], a["window"], a["stride"], a["padding"], count_include_pad=not a["inside"]
    ),
    "resize": lambda x, a: F.interpolate(x[0], a["sizes"], mode="bilinear", align_corners=a["corners"]),
    "mean": lambda x, a: x[0].mean(a["axes"], keepdim=a["keep"]),
    "sum": lambda x, a: x[0].sum(a["axes"], keepdim=a["keep"]),
    "amax": lambda x, a: x[0].amax(a["axes"], keepdim=a["keep"]),
    "softmax": lambda x, a: x[0].softmax(a["axis"]),
    "cat": lambda x, a: torch.cat(list(x), a["axis"]),
    "reshape": lambda x, a: x[0].reshape(a["shape"]),
    "permute": lambda x, a: x[0].permute(a["axes"]),
    "slice": lambda x, a: x[0].index_select(
        a["axis"], torch.arange(a["start"], a["start"] + a["count"] * a["step"], a["step"])[: a["count"]]
    ),
    "expand": lambda x, a: x[0].expand(a["shape"]),
    "constant": lambda x, a: torch.tensor(a["value"], dtype=torch.float64),
    "clamp": lambda x, a: x[0].clamp(a["low"], a["high"]),
    "where": lambda x, a: torch.where(x[0], x[1], x[2]),
    "silu": lambda x, a: F.silu(x[0]),
    "gelu": lambda x, a: F.gelu(x[0]),
    "hardswish": lambda x, a: F.hardswish(x[0]),
}


class RandomNet:
    """A net of some operations on one to three inputs; `weights` and `steps` go with `code` and `signature`."""

    def __init__(self, seed: int) -> None:
        self._draw = draw = random.Random(seed)
        self._types: dict[Any, Tensor] = {}
        self.steps: list[tuple[str, list[Any], Attributes]] = []
        self.weights: list[tuple[int, ...]] = []
        self.variances: set[int] = set()
        self.inputs = [self._shape() for _ in range(draw.randint(1, 3))]
        for place, shape in enumerate(self.inputs):
            self._types["input", place] = Tensor("float32", shape)
        wanted = draw.randint(2, 14)
        for _ in range(200):
            if len(self.steps) < wanted:
                try:
                    self._add(draw.choice(_KINDS))
                except Unfit:
                    continue
        values = [("step", place) for place in range(len(self.steps))]
        self.outputs = [value for value in values[:-1] if draw.random() < 0.3] + values[-1:]
        firsts = {"input": 0, "weight": len(self.inputs), "step": len(self.inputs) + len(self.weights)}

        def number(value: tuple[str, int]) -> int:
            return firsts[value[0]] + value[1]

        steps = [[kind, list(map(number, operands)), told] for kind, operands, told in self.steps]
        self.code = written(steps, list(map(number, self.outputs)))
        outputs = [self._types[value] for value in self.outputs]
        self.signature = SubnetSignature(
            tuple(TensorType("float32", shape) for shape in self.inputs),
            tuple(TensorType("bool" if told.dtype == "bool" else "float32", told.shape) for told in outputs),
            tuple(TensorType("float32", shape) for shape in self.weights),
        )

    def expected(self, inputs: Sequence[Torch], weights: Sequence[Torch]) -> list[Torch]:
        """What PyTorch gives, in double precision."""
        found: dict[Any, Torch] = {("input", place): value.double() for place, value in enumerate(inputs)}
        found |= {("weight", place): value.double() for place, value in enumerate(weights)}
        for place, (kind, operands, told) in enumerate(self.steps):
            given = [found[operand] for operand in operands]
            reference = _REFERENCES.get(kind, lambda x, a, kind=kind: getattr(torch, kind)(*x))
            found["step", place] = reference(given, told)
        return [found[value] for value in self.outputs]

    def _shape(self) -> tuple[int, ...]:
        draw = self._draw
        images = draw.choice([1, 1, 2]), draw.choice([1, 3, 8, 16, 17, 24, 32, 40]), draw.randint(1, 20)
        rows = draw.randint(1, 5), draw.randint(1, 40)
        return draw.choice([(*images, draw.randint(1, 20)), (*images, draw.randint(1, 20)), rows, (2, *rows)])

    def _weight(self, *shape: int) -> tuple[str, int]:
        self.weights.append(shape)
        self._types["weight", len(self.weights) - 1] = Tensor("float32", shape)
        return "weight", len(self.weights) - 1

    def _step(self, kind: str, operands: Sequence[Any], **told: Any) -> tuple[str, int]:
        found = bounded(KINDS[kind].gives([self._types[operand] for operand in operands], told))
        self.steps.append((kind, list(operands), told))
        self._types["step", len(self.steps) - 1] = found
        return "step", len(self.steps) - 1

    def _add(self, kind: str) -> None:
        """One operation on one of the last values, of this kind or group; Unfit if it takes none such."""
        draw = self._draw
        values = [value for value, told in self._types.items() if value[0] != "weight" and told.dtype == "float32"]
        x = draw.choice(values[-3:] if draw.random() < 0.7 else values)
        shape = self._types[x].shape
        if kind in _UNARY:
            self._step(kind, [x])
        elif kind in (*_BINARY, "where"):
            other = draw.choice(values)
            if draw.random() < 0.3:
                other = self._weight(*(size if draw.random() < 0.5 else 1 for size in shape))
            pair = draw.choice([[x, other], [other, x]])
            self._step(kind, [self._step("gt", pair), *pair] if kind == "where" else pair)
        elif kind in ("conv2d", "pool", "resize"):
            self._add_to_images(kind, x, shape)
        elif kind == "constant":
            self._step(kind, [], value=draw.choice([-0.5, 0.25]), dtype="float32")
        elif kind == "clamp":
            self._step(kind, [x], low=draw.choice([None, -0.5]), high=0.75)
        elif shape:
            self._add_to_lines(kind, x, shape)

    def _add_to_images(self, kind: str, x: Any, shape: tuple[int, ...]) -> None:
        draw = self._draw
        if len(shape) != 4:
            raise Unfit("no images")
        if kind == "resize":
            self._step(kind, [x], sizes=[draw.randint(1, 20), draw.randint(1, 20)], corners=draw.random() < 0.5)
            return
        strides = [draw.choice([1, 1, 2]), draw.choice([1, 1, 3])]
        if kind == "pool":
            window = [draw.randint(1, 4), draw.randint(1, 4)]
            told = {"window": window, "stride": strides, "padding": [draw.randint(0, size // 2) for size in window]}
            if draw.random() < 0.5:
                self._step("max_pool", [x], **told, ceil=draw.random() < 0.3)
            else:
                self._step("avg_pool", [x], **told, ceil=False, inside=draw.random() < 0.5)
            return
        groups = draw.choice([1, 1, *(size for size in range(2, shape[1] + 1) if shape[1] % size == 0)])
        outputs = groups * draw.choice([1, 2, 3]) if groups > 1 else draw.choice([1, 4, 16, 20, 48])
        rows, columns = draw.choice([(1, 1), (1, 1), (3, 3), (5, 3), (2, 4)])
        operands = [x, self._weight(outputs, shape[1] // groups, rows, columns)]
        operands += [self._weight(outputs)] if draw.random() < 0.5 else []
        padding, dilation = [draw.randint(0, rows // 2), draw.randint(0, columns - 1)], [draw.choice([1, 2]), 1]
        self._step("conv2d", operands, stride=strides, padding=padding, dilation=dilation, groups=groups)

    def _add_to_lines(self, kind: str, x: Any, shape: tuple[int, ...]) -> None:
        draw, rank = self._draw, len(shape)
        axis = draw.randrange(rank)
        match kind:
            case "linear":
                outputs = draw.choice([1, 3, 10, 16, 33])
                bias = [self._weight(outputs)] if draw.random() < 0.5 else []
                self._step(kind, [x, self._weight(outputs, shape[-1]), *bias])
            case "matmul" if rank == 3:
                turned = self._step("permute", [x], axes=[0, 2, 1])
                self._step(kind, draw.choice([[x, turned], [turned, x]]))
            case "batch_norm" if rank in (2, 3, 4):
                channels = [self._weight(shape[1]) for _ in range(draw.choice([2, 4]))]
                self.variances.add(channels[1][1])
                self._step(kind, [x, *channels], eps=1e-5)
            case "layer_norm":
                self._step(kind, [x, *(self._weight(shape[-1]) for _ in range(draw.choice([0, 2])))], eps=1e-5)
            case "reduce":
                some = sorted(draw.sample(range(rank), draw.randint(1, rank)))
                axes = [2, 3] if rank == 4 and draw.random() < 0.6 else some
                self._step(draw.choice(["mean", "sum", "amax"]), [x], axes=axes, keep=draw.random() < 0.5)
            case "softmax":
                self._step(kind, [x], axis=axis)
            case "cat":
                axis = min(1, rank - 1)
                like = [value for value, told in self._types.items() if told.shape == shape and told.dtype == "float32"]
                self._step(kind, [draw.choice(like) for _ in range(3)], axis=axis)
            case "reshape":
                size = self._types[x].size
                self._step(
                    kind, [x], shape=draw.choice([[size], draw.sample(shape, rank), [shape[0], size // shape[0]]])
                )
            case "permute":
                self._step(kind, [x], axes=draw.sample(range(rank), rank))
            case "slice":
                start, step = draw.randrange(shape[axis]), draw.choice([1, 2])
                count = draw.randint(1, (shape[axis] - 1 - start) // step + 1)
                self._step(kind, [x], axis=axis, start=start, count=count, step=step)
            case "expand":
                repeated = [size if size > 1 else draw.choice([1, 3]) for size in shape]
                self._step(kind, [x], shape=draw.choice([[], [2]]) + repeated)
