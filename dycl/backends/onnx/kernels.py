"""The element types for which ONNX Runtime's CPU provider has a kernel, operator by operator.

Read from the kernel registry of ONNX Runtime 1.31 at opset 20. An operator that is not listed takes every type. Where
a type is missing, the builder computes in a wider one: exact for integers, and for half precision what PyTorch does.
Left out are kernels that are registered but fail (LSTM and GRU in double), and those that round an attribute to single
precision (LayerNormalization's epsilon).
"""

from dataclasses import dataclass

from dycl.hcfg.types import DType

_NAMES: dict[str, DType] = {
    "b": "bool",
    "u8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """The element types of an operator, and the positions of its operands that have this type (None: all)."""

    types: frozenset[DType]
    operands: tuple[int, ...] | None = None

    def carried(self, position: int) -> bool:
        """Whether the operand at this position has the operator's element type."""
        return self.operands is None or position in self.operands


def _kernels(types: str, names: str, operands: tuple[int, ...] | None = None) -> dict[str, Kernel]:
    kernel = Kernel(frozenset(_NAMES[name] for name in types.split()), operands)
    return dict.fromkeys(names.split(), kernel)


PREDICATES = frozenset(("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "IsNaN", "IsInf"))

KERNELS: dict[str, Kernel] = {
    **_kernels("f32", "Acos Acosh Asin Asinh Atan Atanh Cosh Sinh Tan Erf Gelu Elu LeakyRelu HardSigmoid Softplus"),
    **_kernels(
        "f32", "Softsign Celu Selu PRelu Conv ConvTranspose AveragePool GlobalAveragePool InstanceNormalization"
    ),
    **_kernels("f32", "LayerNormalization"),
    **_kernels("f32", "Resize Col2Im", (0,)),
    **_kernels("f32", "RNN LSTM GRU", (0, 1, 2, 3, 5, 6)),
    **_kernels("f32 f64", "Ceil Floor Round Cos Sin Exp Log Sqrt Tanh Sigmoid Reciprocal Softmax LogSoftmax Gemm"),
    **_kernels("f32 f64", "BatchNormalization GridSample"),
    **_kernels("f32 f64", "IsNaN IsInf"),
    **_kernels("f32 f64 i32 i64", "MatMul Pow Einsum"),
    **_kernels("f32 f64 i32 i64", "CumSum ReduceL1 ReduceL2 ReduceLogSumExp ReduceMean ReduceProd ReduceSum", (0,)),
    **_kernels("b f32 f64 i32 i64", "Trilu", (0,)),
    **_kernels("b f32 i32 i64 u8", "NonZero"),
    **_kernels("f32 f64 i8 u8", "DepthToSpace MaxPool"),
    **_kernels("f32 f64 i64 i8", "Unique"),
    **_kernels("f32 f64 i32 i8", "Relu"),
    **_kernels("f32 f64 i32 i64 i8 u8", "Max Min Clip ArgMax ArgMin"),
    **_kernels("f32 f64 i16 i32 i64 i8", "Neg"),
    **_kernels("f32 f64 i16 i32 i64", "Range"),
    **_kernels("f32 f64 i16 i32 i64 i8 u8", "Abs Sign Add Sub Mul Div Mod Less LessOrEqual Greater GreaterOrEqual"),
    **_kernels("i16 i32 i64 i8 u8", "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot"),
    **_kernels("f32 f64 i16 i32 i64 i8 u8", "TopK", (0,)),
    **_kernels("b f32 f64 i16 i32 i64 i8 u8", "Equal"),
    **_kernels("b f32 f64 i32 i64 i8 u8", "ReduceMax ReduceMin", (0,)),
    **_kernels("b f32 f64 i32 i64 i8 u8", "Pad", (0, 2)),
    **_kernels("b f32 f64 i16 i32 i64 i8 u8", "Expand Tile", (0,)),
    **_kernels("f32 f64 i32 i64 i8 u8", "Where", (1, 2)),
    **_kernels("b", "And Or Xor Not"),
    **_kernels("b u8 i8 i16 i32 i64 f16 f32 f64", "Compress", (0,)),
    **_kernels("b u8 i8 i16 i32 i64 f32 f64", "ScatterElements ScatterND", (0, 2)),
    **_kernels("b u8 i8 i16 i32 i64 f16 f32 f64", "Size"),
}

_WIDER: dict[DType, tuple[DType, ...]] = {
    "bool": ("uint8", "int32", "int64", "float32"),
    "uint8": ("int32", "int64"),
    "int8": ("int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
    "int64": (),
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "float32": (),
    "float64": (),
}


def carrier(operator: str, dtype: DType) -> DType | None:
    """The narrowest type that holds every `dtype` and that the operator has a kernel for."""
    kernel = KERNELS.get(operator)
    if kernel is None or dtype in kernel.types:
        return dtype
    return next((wider for wider in _WIDER[dtype] if wider in kernel.types), None)
