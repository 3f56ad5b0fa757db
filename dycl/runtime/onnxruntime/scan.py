"""What an ONNX file asks for, read from its bytes before ONNX Runtime sees them.

ONNX files come from an untrusted artefact, and the `onnx` package is not part of the runtime, so this walks the
protobuf wire format itself, by a table of the messages that ONNX defines. Whatever the table does not know is refused:
unknown fields, repeated singular fields (parsers merge those), other operator domains, functions, training sections.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dycl.hcfg.types import DType, TensorType
from dycl.runtime.backend import SubnetSignature
from dycl.runtime.errors import ArtefactError

WEIGHTS_LOCATION = "weights"
MAX_DEPTH = 40

ONNX_TYPES: dict[DType, int] = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "bfloat16": 16,
}
"""The numbers that ONNX gives to element types."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EXTERNAL = 1


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that a message may have. `message` names the type of its content if that is a message."""

    name: str
    wire: int = _BYTES
    repeated: bool = False
    message: str | None = None
    packed: bool = False


_PROPERTIES = _Field("metadata_props", repeated=True, message="Property")
_DOC = _Field("doc_string")

_MESSAGES: dict[str, dict[int, _Field]] = {
    "Model": {
        1: _Field("ir_version", _VARINT),
        2: _Field("producer_name"),
        3: _Field("producer_version"),
        4: _Field("domain"),
        5: _Field("model_version", _VARINT),
        6: _DOC,
        7: _Field("graph", message="Graph"),
        8: _Field("opset_import", repeated=True, message="Opset"),
        14: _PROPERTIES,
    },
    "Property": {1: _Field("key"), 2: _Field("value")},
    "Opset": {1: _Field("domain"), 2: _Field("version", _VARINT)},
    "Graph": {
        1: _Field("node", repeated=True, message="Node"),
        2: _Field("name"),
        5: _Field("initializer", repeated=True, message="Tensor"),
        10: _DOC,
        11: _Field("input", repeated=True, message="ValueInfo"),
        12: _Field("output", repeated=True, message="ValueInfo"),
        13: _Field("value_info", repeated=True, message="ValueInfo"),
        16: _PROPERTIES,
    },
    "Node": {
        1: _Field("input", repeated=True),
        2: _Field("output", repeated=True),
        3: _Field("name"),
        4: _Field("op_type"),
        5: _Field("attribute", repeated=True, message="Attribute"),
        6: _DOC,
        7: _Field("domain"),
        9: _PROPERTIES,
    },
    "Attribute": {
        1: _Field("name"),
        2: _Field("f", _FIXED32),
        3: _Field("i", _VARINT),
        4: _Field("s"),
        5: _Field("t", message="Tensor"),
        6: _Field("g", message="Graph"),
        7: _Field("floats", _FIXED32, repeated=True, packed=True),
        8: _Field("ints", _VARINT, repeated=True, packed=True),
        9: _Field("strings", repeated=True),
        10: _Field("tensors", repeated=True, message="Tensor"),
        11: _Field("graphs", repeated=True, message="Graph"),
        13: _DOC,
        14: _Field("tp", message="Type"),
        15: _Field("type_protos", repeated=True, message="Type"),
        20: _Field("type", _VARINT),
    },
    "Tensor": {
        1: _Field("dims", _VARINT, repeated=True, packed=True),
        2: _Field("data_type", _VARINT),
        4: _Field("float_data", _FIXED32, repeated=True, packed=True),
        5: _Field("int32_data", _VARINT, repeated=True, packed=True),
        6: _Field("string_data", repeated=True),
        7: _Field("int64_data", _VARINT, repeated=True, packed=True),
        8: _Field("name"),
        9: _Field("raw_data"),
        10: _Field("double_data", _FIXED64, repeated=True, packed=True),
        11: _Field("uint64_data", _VARINT, repeated=True, packed=True),
        12: _DOC,
        13: _Field("external_data", repeated=True, message="Property"),
        14: _Field("data_location", _VARINT),
        16: _PROPERTIES,
    },
    "ValueInfo": {1: _Field("name"), 2: _Field("type", message="Type"), 3: _DOC, 4: _PROPERTIES},
    "Type": {
        1: _Field("tensor_type", message="TensorType"),
        4: _Field("sequence_type", message="ElementType"),
        9: _Field("optional_type", message="ElementType"),
        6: _Field("denotation"),
    },
    "ElementType": {1: _Field("elem_type", message="Type")},
    "TensorType": {1: _Field("elem_type", _VARINT), 2: _Field("shape", message="Shape")},
    "Shape": {1: _Field("dim", repeated=True, message="Dimension")},
    "Dimension": {1: _Field("dim_value", _VARINT), 2: _Field("dim_param"), 3: _Field("denotation")},
}


@dataclass(slots=True)
class _Message:
    """A message that was read: its numbers, texts and messages by field name."""

    seen: set[str] = field(default_factory=set)
    numbers: dict[str, list[int]] = field(default_factory=dict)
    contents: dict[str, memoryview] = field(default_factory=dict)
    messages: dict[str, list["_Message"]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The text of a field, empty if it is absent as protobuf has it."""
        try:
            return bytes(self.contents.get(name, b"")).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _refused("has a name that is not text") from error

    def number(self, name: str) -> int:
        """The number of a field, 0 if it is absent as protobuf has it."""
        return self.numbers.get(name, [0])[0]

    def all(self, name: str) -> list["_Message"]:
        """The messages of a field, none if it is absent."""
        return self.messages.get(name, [])


def scan_onnx(code: bytes, signature: SubnetSignature) -> None:
    """Nothing; ArtefactError if an ONNX file is not one that DyCL would write for a sub-DNN of this signature."""
    model = _read(memoryview(code), "Model", 0)
    for opset in model.all("opset_import"):
        _check_domain(opset.text("domain"))
    if any(entry.text("key") == "ort_config" for entry in model.all("metadata_props")):
        raise _refused("brings its own settings for ONNX Runtime")
    graphs = model.all("graph")
    if not graphs:
        raise _refused("has no graph")
    _check_values(graphs[0].all("input"), "i", signature.inputs)
    _check_values(graphs[0].all("output"), "o", signature.outputs)
    weights = signature.weights
    bound = [_bound_weight(tensor, weights) for tensor in graphs[0].all("initializer") if _is_external(tensor)]
    _check_graph(graphs[0], is_outermost=True)
    if sorted(bound) != list(range(len(weights))):
        raise _refused(f"does not bind each of its {len(weights)} weights once")


def _check_graph(graph: _Message, is_outermost: bool) -> None:
    for tensor in graph.all("initializer"):
        if _is_external(tensor) and not is_outermost:
            raise _refused("binds a weight inside an inner graph")
        if re.fullmatch(r"w[0-9]+", tensor.text("name")) and not _is_external(tensor):
            raise _refused("brings its own values for a weight")
    for node in graph.all("node"):
        _check_domain(node.text("domain"))
        for attribute in node.all("attribute"):
            for tensor in (*attribute.all("t"), *attribute.all("tensors")):
                if _is_external(tensor):
                    raise _refused("has an attribute that lies in another file")
            for inner in (*attribute.all("g"), *attribute.all("graphs")):
                _check_graph(inner, is_outermost=False)


def _check_domain(domain: str) -> None:
    if domain not in ("", "ai.onnx"):
        raise _refused(f"uses the operator domain {domain!r:.80}")


def _check_values(values: list[_Message], prefix: str, types: Sequence[TensorType]) -> None:
    names = [value.text("name") for value in values]
    if names != [f"{prefix}{index}" for index in range(len(types))]:
        raise _refused(f"does not have the {len(types)} values {prefix}0, {prefix}1, ... of its signature")
    for name, value, expected in zip(names, values, types, strict=True):
        tensors = [inner for outer in value.all("type") for inner in outer.all("tensor_type")]
        if len(tensors) != 1 or not _is_of_type(tensors[0], expected):
            raise _refused(f"declares {name} as something else than {expected}")


def _is_of_type(tensor: _Message, expected: TensorType) -> bool:
    if tensor.number("elem_type") != ONNX_TYPES[expected.dtype]:
        return False
    for shape in tensor.all("shape"):
        dimensions = shape.all("dim")
        if len(dimensions) != len(expected.shape):
            return False
        for dimension, size in zip(dimensions, expected.shape, strict=True):
            if isinstance(size, int) and "dim_value" in dimension.numbers and dimension.number("dim_value") != size:
                return False
    return True


def _is_external(tensor: _Message) -> bool:
    # Either mark is enough: a reader may go by one of them alone.
    return "external_data" in tensor.seen or tensor.number("data_location") != 0


def _bound_weight(tensor: _Message, weights: Sequence[TensorType]) -> int:
    name = tensor.text("name")
    places = {entry.text("key"): entry.text("value") for entry in tensor.all("external_data")}
    if len(places) != len(tensor.all("external_data")) or not places.keys() <= {"location", "offset", "length"}:
        raise _refused(f"says where {name!r:.80} lies in a way that DyCL does not write")
    if places.get("location") != WEIGHTS_LOCATION or tensor.number("data_location") != _EXTERNAL:
        raise _refused(f"reads {name!r:.80} from the file {places.get('location')!r:.80}")
    index = int(name[1:]) if re.fullmatch(r"w(0|[1-9][0-9]{0,8})", name) else len(weights)
    if index >= len(weights):
        raise _refused(f"binds {name!r:.80}, which is none of its {len(weights)} weights")
    expected = weights[index]
    shape = tuple(tensor.numbers.get("dims", ()))
    if tensor.number("data_type") != ONNX_TYPES[expected.dtype] or shape != expected.shape:
        raise _refused(f"binds {name} as something else than {expected}")
    if not tensor.seen <= {"name", "dims", "data_type", "external_data", "data_location", "doc_string"}:
        raise _refused(f"says more of {name} than where it lies")
    return index


def _read(data: memoryview, kind: str, depth: int) -> _Message:
    """The message of type `kind` in `data`, with the messages inside it."""
    if depth > MAX_DEPTH:
        raise _refused(f"is nested more than {MAX_DEPTH} deep")
    message = _Message()
    known = _MESSAGES[kind]
    for number, wire, value in _fields(data):
        entry = known.get(number)
        if entry is None:
            raise _refused(f"has the section {number} in a {kind}, which DyCL does not write")
        if not entry.repeated and entry.name in message.seen:
            raise _refused(f"has two of {entry.name} in a {kind}")
        message.seen.add(entry.name)
        if isinstance(value, memoryview) and entry.packed:
            if entry.name == "dims":
                message.numbers.setdefault(entry.name, []).extend(_varints(value))
        elif wire != entry.wire:
            raise _refused(f"has a malformed {entry.name} in a {kind}")
        elif isinstance(value, int):
            message.numbers.setdefault(entry.name, []).append(value)
        elif entry.message is not None:
            message.messages.setdefault(entry.name, []).append(_read(value, entry.message, depth + 1))
        else:
            message.contents[entry.name] = value
    return message


def _fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """Each field's number, wire type and value: an integer, or the bytes of a text or message."""
    position, end = 0, len(data)
    while position < end:
        tag, position = data[position], position + 1
        if tag >= 0x80:
            tag, position = _varint(data, position - 1)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, position = _varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise _refused("is malformed")
        if size > end - position:
            raise _refused("is cut short")
        content = data[position : position + size]
        position += size
        yield number, wire, content if wire == _BYTES else int.from_bytes(content, "little")


def _varints(data: memoryview) -> Iterator[int]:
    position = 0
    while position < len(data):
        value, position = _varint(data, position)
        yield value


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """The number at `position` in seven-bit groups, lowest first, and the position after it."""
    if position < len(data) and data[position] < 0x80:
        return data[position], position + 1
    value = 0
    for index in range(position, min(position + 10, len(data))):
        value |= (data[index] & 0x7F) << 7 * (index - position)
        if data[index] < 0x80:
            if value >= 2**64:
                break
            return value, index + 1
    raise _refused("is malformed")


def _refused(reason: str) -> ArtefactError:
    return ArtefactError(f"the ONNX code of a sub-DNN {reason}")
