"""One operation's arguments, read by the names of its schema and by the kind that a lowering expects."""

from collections.abc import Mapping
from dataclasses import replace

from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.values import Number, Size, Value, rounded_to, wider
from dycl.hcfg.module import operands
from dycl.hcfg.subnet import Argument, DTypeArgument, Operation, Ref
from dycl.hcfg.types import DType, TensorType

# What may be a number where PyTorch takes a tensor without dimensions.
_NUMBERS = ("other", "value", "alpha", "beta", "threshold", "lambd")


class Arguments:
    """The arguments and result types of one operation.

    Refuses what a lowering cannot read, such as a stride that only the input determines.
    """

    def __init__(
        self,
        operation: Operation,
        values: Mapping[Ref, Value],
        results: tuple[TensorType, ...],
        used: tuple[bool, ...],
        builder: Builder,
    ) -> None:
        self.target = operation.target
        self._operation = operation
        self.results = results
        self.used = used
        self._arguments = operation.arguments
        self._values = values
        self._builder = builder

    @property
    def result(self) -> TensorType:
        """The type of the first result."""
        return self.results[0]

    def in_single_precision(self, rounds: bool) -> "Arguments":
        """The same with float32 in the place of half precision, among the results, too.

        Tensors of other types become half precision first; numbers only if they are rounded.
        """
        cast, half = self._builder.cast, self.result.dtype
        read = {ref: self._values[ref] for ref in operands(self._operation)}
        numbers = [self._arguments.get(name) for name in _NUMBERS]
        exact = {ref for ref, value in read.items() if ref in numbers and not value.rank and not rounds}
        wide = {ref: cast(value if ref in exact else cast(value, half), wider(half)) for ref, value in read.items()}
        results = tuple(replace(result, dtype=wider(result.dtype)) for result in self.results)
        rounded = {
            name: rounded_to(half, value) if rounds and isinstance(value, int | float) else value
            for name, value in self._arguments.items()
        }
        operation = replace(self._operation, arguments=rounded)
        return Arguments(operation, wide, results, self.used, self._builder)

    def unread(self, position: int) -> Value:
        """A stand-in for a result that nothing reads; if something does, there is no translation."""
        if self.used[position]:
            self._builder.refuse(f"result {position} is used")
        value_type = self.results[position]
        return Value(self._builder.constant([], value_type.dtype).name, value_type.dtype, value_type.shape)

    def has(self, name: str) -> bool:
        """Whether the argument is given at all."""
        return self._arguments.get(name) is not None

    def number(self, name: str) -> Number:
        """A number or a tensor."""
        return self._number(self._arguments[name], name)

    def optional_number(self, name: str) -> Number | None:
        """A number or a tensor, or None."""
        return self.number(name) if self.has(name) else None

    def tensor(self, name: str) -> Value:
        """A tensor; a number in its place becomes a constant."""
        value = self.number(name)
        if isinstance(value, Value):
            return value
        dtype: DType = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32"
        return self._builder.number(value, dtype)

    def optional(self, name: str) -> Value | None:
        """A tensor, or None."""
        return self.tensor(name) if self.has(name) else None

    def tensors(self, name: str) -> list[Value]:
        """A list of tensors."""
        values = [value for value in self.optional_tensors(name) if value is not None]
        if len(values) != len(self.optional_tensors(name)):
            self._builder.refuse(f"`{name}` has a gap")
        return values

    def optional_tensors(self, name: str) -> list[Value | None]:
        """A list of tensors with gaps."""
        return [None if item is None else self._tensor(item, name) for item in self._items(name)]

    def size(self, name: str) -> Size:
        """A whole number, perhaps only known at run time."""
        return self._size(self._arguments[name], name)

    def sizes(self, name: str) -> list[Size]:
        """Whole numbers, each perhaps only known at run time."""
        return [self._size(item, name) for item in self._items(name)]

    def integer(self, name: str) -> int:
        """A whole number known while compiling."""
        return self._static(self.size(name), name)

    def integers(self, name: str) -> list[int]:
        """Whole numbers known while compiling."""
        return [self._static(size, name) for size in self.sizes(name)]

    def spatial(self, name: str, rank: int) -> list[int]:
        """One whole number an axis, where a single one stands for all axes."""
        numbers = self.integers(name)
        return numbers * rank if len(numbers) == 1 else numbers

    def real(self, name: str) -> float:
        """A number known while compiling."""
        value = self.number(name)
        if isinstance(value, Value):
            self._builder.refuse(f"`{name}` is only known at run time")
        return float(value)

    def reals(self, name: str) -> list[float] | None:
        """Numbers known while compiling, or None."""
        if not self.has(name):
            return None
        values = [self._number(item, name) for item in self._items(name)]
        if any(isinstance(value, Value) for value in values):
            self._builder.refuse(f"`{name}` is only known at run time")
        return [float(value) for value in values if not isinstance(value, Value)]

    def flag(self, name: str) -> bool:
        """A flag known while compiling."""
        value = self._arguments[name]
        if isinstance(value, Ref):
            self._builder.refuse(f"`{name}` is only known at run time")
        return bool(value)

    def text(self, name: str) -> str:
        """A word such as a mode."""
        value = self._arguments[name]
        assert isinstance(value, str), f"{self.target}: {name}"
        return value

    def dtype(self, name: str, otherwise: DType) -> DType:
        """An element type, or `otherwise` if none is given."""
        value = self._arguments.get(name)
        return value.dtype if isinstance(value, DTypeArgument) else otherwise

    def axis(self, name: str, rank: int) -> int:
        """One axis of a tensor of this rank, counted from the front."""
        return self.integer(name) % max(rank, 1)

    def axes(self, name: str, rank: int) -> list[int]:
        """Axes of a tensor of this rank, counted from the front; none given means all."""
        if not self.has(name):
            return list(range(rank))
        given = self._arguments[name]
        numbers = self.integers(name) if isinstance(given, tuple) else [self.integer(name)]
        return [axis % max(rank, 1) for axis in numbers] or list(range(rank))

    def _items(self, name: str) -> tuple[Argument, ...]:
        value = self._arguments[name]
        return value if isinstance(value, tuple) else (value,)

    def _number(self, argument: Argument, name: str) -> Number:
        if isinstance(argument, Ref):
            return self._values[argument]
        if not isinstance(argument, bool | int | float):
            self._builder.refuse(f"`{name}` is {argument!r}, not a number")
        return argument

    def _tensor(self, argument: Argument, name: str) -> Value:
        value = self._number(argument, name)
        if not isinstance(value, Value):
            self._builder.refuse(f"`{name}` has a number where a tensor is expected")
        return value

    def _size(self, argument: Argument, name: str) -> Size:
        value = self._number(argument, name)
        if isinstance(value, Value):
            return value
        if isinstance(value, float):
            self._builder.refuse(f"`{name}` is {value}, not a whole number")
        return int(value)

    def _static(self, size: Size, name: str) -> int:
        if isinstance(size, Value):
            known = self._builder.known(size)
            if known is None or known.ndim:
                self._builder.refuse(f"`{name}` is only known at run time")
            return int(known)
        return size
