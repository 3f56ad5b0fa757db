"""The file `model.dycl`: a graph, its weights and its sub-DNNs' codes, with nothing in it that is executed by Python.

    manifest.json           format and producer
    hcfg.json               the graph
    weights.json            element type, shape and place of each weight
    weights.bin             the weights, each once
    code/<backend>/<sha256> the code of each sub-DNN as its backend compiled it

docs/artefact.md specifies it all. `read` believes nothing: it either gives an artefact that has passed every check but
those of its codes, or raises ArtefactError. What a code may be only its backend knows; a host asks it before it runs
anything.
"""

import hashlib
import io
import mmap
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from dycl.hcfg import strict_json
from dycl.hcfg.errors import HcfgError
from dycl.hcfg.json_form import from_json, to_json
from dycl.hcfg.nodes import Hcfg, WeightId
from dycl.hcfg.verify import verify
from dycl.runtime.archive import (
    ALIGNMENT,
    FORMAT_VERSION,
    Buffer,
    Member,
    Writable,
    check_version,
    member,
    pack,
    unpack,
)
from dycl.runtime.choice import Choice, Left, from_document, left_from_document, left_to_document, to_document
from dycl.runtime.errors import ArtefactError
from dycl.runtime.weight_store import Array, unpack_weights, weight_index, weight_pieces

_MANIFEST, _GRAPH, _INDEX, _WEIGHTS = "manifest.json", "hcfg.json", "weights.json", "weights.bin"

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""Where an artefact may come from: a file by its path, its bytes, or an open file from its position to its end."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """All of a compiled program. `codes` is keyed by `code_digest`, which is what `Subnet.code` holds.

    If its backends were chosen by measuring, `choice` tells how, and names codes that were not taken, too. `left` is
    what backends did not get that were to be preferred.
    """

    hcfg: Hcfg
    weights: Mapping[WeightId, Array]
    codes: Mapping[str, bytes]
    producer: str
    choice: Choice | None = None
    left: tuple[Left, ...] = ()


def code_digest(code: Buffer) -> str:
    """The name under which an artefact stores a sub-DNN's code: equal codes are stored once."""
    return hashlib.sha256(code).hexdigest()


def encode(artefact: Artefact) -> bytes:
    """The bytes of the file; equal artefacts give equal bytes."""
    file = io.BytesIO()
    write_to(file, artefact)
    return file.getvalue()


def write_to(file: Writable, artefact: Artefact) -> None:
    """Nothing; the artefact's bytes are written to `file`, weights straight from their arrays."""
    names = _code_names(artefact.hcfg, artefact.choice)
    if artefact.codes.keys() != set(names.values()):
        raise ValueError("the artefact's codes are not those that its graph uses")
    if any(code_digest(code) != digest for digest, code in artefact.codes.items()):
        raise ValueError("the artefact has a code that is not named by its digest")
    told: dict[str, strict_json.Json] = {"format": FORMAT_VERSION, "producer": artefact.producer}
    told |= {"choice": to_document(artefact.choice), "left": left_to_document(artefact.left)}
    manifest = strict_json.write(told)
    types = artefact.hcfg.weights
    members = [
        member(_MANIFEST, manifest),
        member(_GRAPH, to_json(artefact.hcfg)),
        member(_INDEX, weight_index(types)),
        Member(_WEIGHTS, lambda: weight_pieces(artefact.weights, types)),
    ]
    members += [member(name, artefact.codes[digest]) for name, digest in names.items()]
    pack(members, file)


def write(artefact: Artefact, path: str | os.PathLike[str]) -> None:
    """Nothing; the file at `path` is the artefact afterwards, or, if writing fails, what it was before."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            write_to(file, artefact)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(source: Source) -> Artefact:
    """The artefact that `source` holds.

    A file given by its path is mapped, not read: its weights stay in the file, and pages of them that nobody uses take
    no memory. It must not be changed in place while the artefact is in use; `write` never does that.
    """
    if isinstance(source, str | os.PathLike):
        return decode(_mapped(source))
    data = source if isinstance(source, bytes | bytearray | memoryview) else source.read()
    if isinstance(data, str):
        raise TypeError("the file is open for reading text, an artefact is bytes")
    return decode(_aligned(data))


def decode(data: Buffer) -> Artefact:
    """The artefact in `data`, whose arrays view `data`; ArtefactError unless it passes every check."""
    members = unpack(data)
    try:
        return _decode_members(members)
    except HcfgError as error:
        raise ArtefactError(f"the artefact is not valid: {error}") from error


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    with open(path, "rb") as file:
        try:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # An empty file, a pipe, a file system that cannot map.
            return _aligned(file.read())


def _aligned(data: bytes | bytearray | memoryview) -> memoryview:
    """A private copy of `data` as aligned in memory as in a file, since weights are used in place."""
    given = memoryview(data).cast("B")
    space = np.empty(len(given) + ALIGNMENT, np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    copy = space.data[start : start + len(given)]
    copy[:] = given
    return copy.toreadonly()


def _decode_members(members: Mapping[str, memoryview]) -> Artefact:
    if next(iter(members), None) != _MANIFEST:
        raise ArtefactError("the artefact has no manifest")
    manifest = strict_json.parse(bytes(members[_MANIFEST]), _MANIFEST)
    # The format comes first: another one may have other fields.
    if isinstance(manifest, dict) and "format" in manifest:
        check_version(strict_json.integer(manifest["format"], f"{_MANIFEST}.format"))
    _, producer, chosen, left = strict_json.fields(manifest, _MANIFEST, "format", "producer", "choice", "left")
    for name in (_GRAPH, _INDEX, _WEIGHTS):
        if name not in members:
            raise ArtefactError(f"the artefact lacks {name}")
    hcfg = from_json(bytes(members[_GRAPH]))
    verify(hcfg)
    choice = from_document(chosen, f"{_MANIFEST}.choice", hcfg.subnets)
    code_names = _code_names(hcfg, choice)
    if list(members) != [_MANIFEST, _GRAPH, _INDEX, _WEIGHTS, *code_names]:
        raise ArtefactError("the artefact does not hold exactly the codes that its graph uses")
    codes: dict[str, bytes] = {}
    for name, digest in code_names.items():
        codes[digest] = bytes(members[name])
        if code_digest(codes[digest]) != digest:
            raise ArtefactError(f"the artefact's member {name} is damaged")
    weights = unpack_weights(bytes(members[_INDEX]), members[_WEIGHTS], hcfg.weights)
    told = strict_json.text(producer, f"{_MANIFEST}.producer"), choice, left_from_document(left, f"{_MANIFEST}.left")
    return Artefact(hcfg, weights, codes, *told)


def _code_names(hcfg: Hcfg, choice: Choice | None) -> dict[str, str]:
    """The names of a program's codes in the archive, in order, and the digests they are named after."""
    names = {f"code/{subnet.backend}/{subnet.code}": subnet.code for subnet in hcfg.subnets.values()}
    if choice is not None:
        names |= {f"code/{way.backend}/{way.code}": way.code for way in choice.ways}
    return dict(sorted(names.items()))
