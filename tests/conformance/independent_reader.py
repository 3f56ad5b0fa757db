"""A small host that was written from docs/artefact.md and uses nothing of DyCL: it keeps the specification honest.

It checks archive and weights, but believes the graph and the codes: no model for a host that meets files of strangers.
"""

import ctypes
import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

LARGE, BFLOAT16, PLACE = 0xFFFFFFFF, 16, "{}:{}:{}"
CARRIERS = {"bool": "bool", "int": "int64", "float": "float64"}


class Stop(Exception):
    """Why a file is refused ("file"), or a call does not return, in the words of the cases' `calls.json`."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Stop("file", what)


def members_of(data: bytes) -> dict[str, bytes]:
    require(data[-97:-64] == b"dycl artefact format 0004 sha256 ", "the format")
    require(hashlib.sha256(data[:-64]).hexdigest().encode() == data[-64:], "the seal")
    end = len(data) - 97 - 22
    count, size, start = struct.unpack_from("<HII", data, end + 10)
    if LARGE in (size, start):
        count, size, start = struct.unpack_from("<QQQ", data, end - 76 + 32)
    members: dict[str, bytes] = {}
    local, central, position = b"", b"", start
    for _ in range(count):
        checksum, _, length, name_size, extra_size = struct.unpack_from("<IIIHH", data, position + 16)
        name = data[position + 46 : position + 46 + name_size]
        if length == LARGE:
            (length,) = struct.unpack_from("<Q", data, position + 46 + name_size + 4)
        position += 46 + name_size + extra_size
        header, entry = headers(name, length, checksum, len(local))
        content = data[len(local) + len(header) :][:length]
        require(zlib.crc32(content) == checksum, "a checksum")
        members[name.decode("ascii")] = content
        local, central = local + header + content, central + entry
    large = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    large += struct.pack("<4sIQI", b"PK\6\7", 0, start + size, 1)
    last = struct.pack("<4s4HIIH", b"PK\5\6", 0, 0, count, count, min(size, LARGE), min(start, LARGE), 97)
    require((size, start) == (len(central), len(local)), "the directory")
    require(data[:-97] == local + central + (large if max(size, start) >= LARGE else b"") + last, "the archive")
    return members


def headers(name: bytes, size: int, checksum: int, offset: int) -> tuple[bytes, bytes]:
    extra = struct.pack("<HHQQ", 1, 16, size, size) if size >= LARGE else b""
    version = 45 if extra else 20
    if name == b"weights.bin":
        padding = -(offset + 30 + len(name) + len(extra) + 4) % 64
        extra += struct.pack("<HH", 0xD935, padding) + bytes(padding)
    sizes = (checksum, min(size, LARGE), min(size, LARGE), len(name))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", version, 0, 0, 0, 0x21, *sizes, len(extra)) + name + extra
    numbers = [size, size] * (size >= LARGE) + [offset] * (offset >= LARGE)
    more = struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    version = 45 if more else 20
    fields = (version, version, 0, 0, 0, 0x21, *sizes, len(more), 0, 0, 0, 0, min(offset, LARGE))
    return local, struct.pack("<4s6H3I5H2I", b"PK\1\2", *fields) + name + more


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")


def weights_of(index: list[dict[str, Any]], data: bytes, types: list[dict[str, Any]]) -> dict[str, Any]:
    weights: dict[str, Any] = {}
    position = 0
    for entry, listed in zip(index, types, strict=True):
        start, dtype = position + -position % 64, dtype_of(entry["dtype"])
        stated = {"kind": "TensorType", "dtype": entry["dtype"], "shape": entry["shape"]}
        require({"id": entry["id"], "type": stated} == listed and entry["offset"] == start, "a weight's type and place")
        require(entry["size"] == math.prod(entry["shape"]) * dtype.itemsize, "a weight's size")
        require(not any(data[position:start]), "the bytes between weights")
        position = start + entry["size"]
        require(position <= len(data), "a weight outside of the file")
        weights[entry["id"]] = np.frombuffer(data[start:position], dtype).reshape(entry["shape"])
        require(entry["dtype"] != "bool" or all(byte <= 1 for byte in data[start:position]), "a flag")
    require(position == len(data), "bytes after the weights")
    return weights


def number_of(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def arranged(structure: dict[str, Any], values: list[Any], row: int | None = None) -> Any:
    """A result as tagged tuples and lists; what a class of Python stands for is told by its name."""
    items = [arranged(item, values, row) for item in structure.get("items", ())]
    match structure:
        case {"kind": "Slot", "index": index, "value": kind}:
            value = np.array(values[index] if row is None else values[index][row])
            return value if kind in ("tensor", "array") else (kind, value[()] if kind == "scalar" else value.item())
        case {"kind": "Static", "value": value}:
            return "static", number_of(value)
        case {"kind": "Items", "sequence": sequence}:
            return sequence, items
        case {"kind": "Table", "type": name, "keys": keys}:
            return "table", name, list(zip(keys, items, strict=True))
        case {"kind": "Record", "record": kind, "type": name, "fields": fields}:
            return "record", kind, name, list(zip(fields, items, strict=True))
        case {"kind": "Named"}:
            return "named", structure["name"]
        case {"kind": "Rows", "length": length, "item": item}:
            return "list", [arranged(item, values, number) for number in range(len(values[length]))]
    raise Stop("file", "a structure")


class Reader:
    """A program, and what it keeps from call to call."""

    def __init__(self, path: Path) -> None:
        members = members_of(path.read_bytes())
        manifest, self.graph, index = (json.loads(members[f"{name}.json"]) for name in ("manifest", "hcfg", "weights"))
        require(manifest["format"] == 4, "the format")
        self.weights = weights_of(index, members["weights.bin"], self.graph["weights"])
        self.dtypes = {entry["id"]: entry["dtype"] for entry in index}
        self.blocks = {block["id"]: block for block in self.graph["blocks"]}
        ways = [way for one in (manifest["choice"] or {}).get("subnets", ()) for way in one["ways"]]
        codes = sorted({f"code/{one['backend']}/{one['code']}" for one in (*self.graph["subnets"], *ways)})
        require(list(members) == ["manifest.json", "hcfg.json", "weights.json", "weights.bin", *codes], "the members")
        require(all(hashlib.sha256(members[name]).hexdigest() == name[-64:] for name in codes), "a code's digest")
        self.subnets = {subnet["id"]: self.opened(subnet, members) for subnet in self.graph["subnets"]}
        self.reset()

    def reset(self) -> None:
        self.begin: tuple[str, list[Any]] = self.graph["entry"], []

    def opened(self, subnet: dict[str, Any], members: dict[str, bytes]) -> tuple[Any, dict[str, Any], list[Any]]:
        require(subnet["backend"] == "onnxruntime", "a backend that is not here")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.add_session_config_entry("session.load_model_format", "ONNX")
        bound = [tensor(self.weights[weight], self.dtypes[weight]) for weight in subnet["weights"]]
        options.add_external_initializers([f"w{number}" for number in range(len(bound))], bound)
        code = members[f"code/onnxruntime/{subnet['code']}"]
        return onnxruntime.InferenceSession(code, options, providers=["CPUExecutionProvider"]), subnet, bound

    def call(self, inputs: list[Any]) -> tuple[list[Any], Any, dict[str, Any]]:
        """The values that a call returns, how they are arranged, and its trace."""
        self.check(inputs)
        block_id, kept = self.begin
        arguments = [*map(np.array, inputs), *kept]
        trace: dict[str, Any] = {"blocks": [], "decisions": [], "subnet_calls": 0}
        while True:
            block = self.blocks[block_id]
            trace["blocks"].append(block_id)
            names = dict(zip((parameter["name"] for parameter in block["parameters"]), arguments, strict=True))
            for step in block["steps"]:
                trace["subnet_calls"] += step["kind"] == "Run"
                names.update(self.done(step, names))
            end = block["terminator"]
            if end.get("next_call") is not None:
                self.begin = end["next_call"]["block"], [names[name] for name in end["next_call"]["arguments"]]
            if end["kind"] == "Return":
                values = [names[name] for name in end["values"]]
                return values, arranged(end["structure"], values), trace
            target, outcome = self.way(end, names)
            if outcome is not None:
                trace["decisions"].append({"block": block_id, "outcome": outcome, "place": PLACE.format(*end["span"])})
            block_id, arguments = target["block"], [names[name] for name in target["arguments"]]

    def check(self, inputs: list[Any]) -> None:
        sizes: dict[str, int] = {}
        for value, parameter in zip(inputs, self.graph["inputs"], strict=True):
            kind = parameter["type"]
            is_host = kind["kind"] == "HostType"
            dtype, shape = (CARRIERS[kind["host"]], []) if is_host else (kind["dtype"], kind["shape"])
            fits = value.dtype == dtype_of(dtype) and value.ndim == len(shape)
            for size, wanted in zip(value.shape, shape, strict=False):
                fits = fits and size == (sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted)
            if not fits:
                raise Stop("refused", True)
        roots = dict(sizes)
        for rule in self.graph["sizes"]:
            root, rest = divmod(sizes[rule["name"]] - rule["offset"], rule["factor"])
            if rest or roots.setdefault(rule["root"], root) != root or not rule["least"] <= root <= rule["most"]:
                raise Stop("refused", True)

    def done(self, step: dict[str, Any], names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        match step:
            case {"kind": "Run", "subnet": subnet}:
                yield from zip(step["outputs"], self.run(subnet, [names[name] for name in step["inputs"]]), strict=True)
            case {"kind": "LetLiteral", "name": name, "value": value}:
                yield name, np.array(number := number_of(value), CARRIERS[type(number).__name__])
            case {"kind": "LetWeight", "name": name, "weight": weight}:
                yield name, self.weights[weight]
            case {"kind": "Check", "condition": condition}:
                if not single(names[condition]):
                    raise stopped(step)

    def run(self, subnet_id: str, inputs: list[Any]) -> list[Any]:
        session, subnet, _ = self.subnets[subnet_id]
        feeds = {f"i{n}": tensor(inputs[n], kind["dtype"]) for n, kind in enumerate(subnet["inputs"])}
        try:
            results = session.run_with_ort_values([f"o{n}" for n in range(len(subnet["outputs"]))], feeds)
        except Exception as error:
            raise Stop("fails", subnet_id) from error
        return [array(value, kind["dtype"]) for value, kind in zip(results, subnet["outputs"], strict=True)]

    def way(self, end: dict[str, Any], names: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        match end:
            case {"kind": "Jump", "target": target}:
                return target, None
            case {"kind": "Branch", "condition": condition}:
                outcome = single(names[condition])
                return end["then"] if outcome else end["orelse"], outcome
            case {"kind": "Switch", "value": value, "cases": cases}:
                outcome = single(names[value])
                for item in cases:
                    if item["equals"] == outcome:
                        return item["target"], outcome
        raise stopped(end)


def stopped(node: dict[str, Any]) -> Stop:
    return Stop("raises", {"error": node["error"], "message": node["message"], "place": PLACE.format(*node["span"])})


def single(value: Any) -> Any:
    if value.size != 1:
        raise Stop("breaks", True)
    return value.item()


def tensor(value: Any, dtype: str) -> Any:
    make, ordered = onnxruntime.OrtValue, np.array(value, order="C")
    of_bits = make.ortvalue_from_numpy_with_onnx_type
    return of_bits(ordered, BFLOAT16) if dtype == "bfloat16" else make.ortvalue_from_numpy(ordered)


def array(value: Any, dtype: str) -> Any:
    if dtype != "bfloat16":
        return value.numpy()
    bits = ctypes.c_uint16 * math.prod(value.shape())
    return np.array(bits.from_address(value.data_ptr()), np.uint16).reshape(value.shape())
