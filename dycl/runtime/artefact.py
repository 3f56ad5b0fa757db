"""The file `model.dycl`: a graph, its weights and its sub-DNNs' codes, with nothing in it that is executed by Python.

    manifest.json   format, producer, backend; size and digest of every other member
    hcfg.json       the graph
    weights.json    element type, shape and place of each weight
    weights.bin     the weights, each once
    code/<sha256>   the code of each sub-DNN as its backend compiled it

`decode` believes nothing: it either gives an artefact that has passed every check, or raises ArtefactError.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.json_form import from_json, to_json
from dycl.hcfg.nodes import Hcfg, WeightId
from dycl.hcfg.strict_json import Json
from dycl.hcfg.verify import verify
from dycl.runtime.archive import ALIGNMENT, FORMAT_VERSION, MAX_ARCHIVE, Buffer, check_version, pack, unpack
from dycl.runtime.errors import ArtefactError
from dycl.runtime.onnx_scan import scan_onnx
from dycl.runtime.weight_store import Array, pack_weights, unpack_weights

ONNX_BACKEND = "onnxruntime"

_MANIFEST, _GRAPH, _INDEX, _WEIGHTS = "manifest.json", "hcfg.json", "weights.json", "weights.bin"


@dataclass(frozen=True, slots=True)
class Artefact:
    """All of a compiled program. `codes` is keyed by `code_digest`, which is what `Subnet.code` holds."""

    hcfg: Hcfg
    weights: Mapping[WeightId, Array]
    codes: Mapping[str, bytes]
    backend: str
    producer: str


def code_digest(code: Buffer) -> str:
    """The name under which an artefact stores a sub-DNN's code: equal codes are stored once."""
    return hashlib.sha256(code).hexdigest()


def encode(artefact: Artefact) -> bytes:
    """The bytes of the file; equal artefacts give equal bytes."""
    if artefact.codes.keys() != {subnet.code for subnet in artefact.hcfg.subnets.values()}:
        raise ValueError("the artefact's codes are not those that its graph uses")
    if any(code_digest(code) != digest for digest, code in artefact.codes.items()):
        raise ValueError("the artefact has a code that is not named by its digest")
    index, data = pack_weights(artefact.weights, artefact.hcfg.weights)
    members = {_GRAPH: to_json(artefact.hcfg), _INDEX: index, _WEIGHTS: data}
    for digest in sorted(artefact.codes):
        members[_code_name(digest, artefact.backend)] = artefact.codes[digest]
    listing: dict[str, Json] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
    }
    manifest: Json = {
        "format": FORMAT_VERSION,
        "producer": artefact.producer,
        "backend": artefact.backend,
        "members": listing,
    }
    return pack({_MANIFEST: strict_json.write(manifest), **members})


def decode(data: Buffer) -> Artefact:
    """The artefact in `data`, whose arrays view `data`; ArtefactError unless it passes every check."""
    members = unpack(data)
    try:
        return _decode_members(members)
    except HcfgError as error:
        raise ArtefactError(f"the artefact is not valid: {error}") from error


def write(artefact: Artefact, path: str | os.PathLike[str]) -> None:
    """Nothing; the file at `path` is the artefact afterwards, or, if writing fails, what it was before."""
    data = encode(artefact)
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    with open(temporary, "xb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink()
            raise


def read(path: str | os.PathLike[str]) -> Artefact:
    """The artefact in the file at `path`."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_ARCHIVE + 64:
            raise ArtefactError(f"{os.fspath(path)} is larger than 4 GiB")
        # Weights are used in place, so the file's bytes lie as aligned in memory as they do in the file.
        space = np.empty(size + ALIGNMENT, np.uint8)
        start = -space.ctypes.data % ALIGNMENT
        buffer = space.data[start : start + size]
        if file.readinto(buffer) != size:
            raise ArtefactError(f"{os.fspath(path)} changed while it was read")
    return decode(buffer.toreadonly())


def _decode_members(members: Mapping[str, memoryview]) -> Artefact:
    if next(iter(members), None) != _MANIFEST:
        raise ArtefactError("the artefact has no manifest")
    manifest = strict_json.parse(bytes(members[_MANIFEST]), _MANIFEST)
    # The format comes first: a newer one may have other fields.
    if isinstance(manifest, dict) and "format" in manifest:
        check_version(strict_json.integer(manifest["format"], f"{_MANIFEST}.format"))
    _, producer, backend, listing = strict_json.fields(manifest, _MANIFEST, "format", "producer", "backend", "members")
    backend_name = strict_json.text(backend, f"{_MANIFEST}.backend")
    _check_listing(listing, members)
    hcfg = from_json(bytes(members[_GRAPH]))
    verify(hcfg)
    codes = {subnet.code: b"" for subnet in hcfg.subnets.values()}
    code_names = {_code_name(digest, backend_name): digest for digest in codes}
    if list(members) != [_MANIFEST, _GRAPH, _INDEX, _WEIGHTS, *sorted(code_names)]:
        raise ArtefactError("the artefact does not hold exactly the codes that its graph uses")
    for name, digest in code_names.items():
        codes[digest] = bytes(members[name])
        if code_digest(codes[digest]) != digest:
            raise ArtefactError(f"the artefact's member {name} is damaged")
    weights = unpack_weights(bytes(members[_INDEX]), members[_WEIGHTS], hcfg.weights)
    if backend_name == ONNX_BACKEND:
        check_onnx_codes(hcfg, codes)
    return Artefact(hcfg, weights, codes, backend_name, strict_json.text(producer, f"{_MANIFEST}.producer"))


def _check_listing(listing: object, members: Mapping[str, memoryview]) -> None:
    names = [name for name in members if name != _MANIFEST]
    entries = strict_json.fields(listing, f"{_MANIFEST}.members", *names)
    for name, entry in zip(names, entries, strict=True):
        size, digest = strict_json.fields(entry, f"{_MANIFEST}.members.{name}", "size", "sha256")
        if size != len(members[name]) or digest != hashlib.sha256(members[name]).hexdigest():
            raise ArtefactError(f"the artefact's member {name} is damaged")
    for name in (_GRAPH, _INDEX, _WEIGHTS):
        if name not in members:
            raise ArtefactError(f"the artefact lacks {name}")


def check_onnx_codes(hcfg: Hcfg, codes: Mapping[str, bytes]) -> None:
    """Nothing if every sub-DNN's code is an ONNX file that fits its signature and asks for nothing else."""
    checked = set()
    for subnet in hcfg.subnets.values():
        weights = tuple(hcfg.weights[weight] for weight in subnet.weights)
        demand = (subnet.code, subnet.inputs, subnet.outputs, weights)
        if demand not in checked:
            scan_onnx(codes[subnet.code], subnet.inputs, subnet.outputs, weights)
            checked.add(demand)


def _code_name(digest: str, backend: str) -> str:
    return f"code/{digest}.{'onnx' if backend == ONNX_BACKEND else 'bin'}"
