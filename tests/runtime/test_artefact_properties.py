"""Whatever is done to an artefact's bytes, reading it gives a verified program or one ArtefactError, nothing else."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dycl.hcfg.verify import verify
from dycl.runtime import Program
from dycl.runtime.artefact import Artefact, decode, encode
from dycl.runtime.errors import ArtefactError
from tests.hand_built import counting_loop, gated, routed
from tests.runtime.sealing import members_of, packed, sealed, with_code

ARTEFACTS = [gated(), counting_loop(), routed()]
FILES = [encode(artefact) for artefact in ARTEFACTS]
MEMBERS = [members_of(artefact) for artefact in ARTEFACTS]
DOCUMENTS = ["hcfg.json", "weights.json", "manifest.json"]

files = st.sampled_from(FILES)
atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from(["x", "y", "flag", "b0", "b1", "b2", "net0", "net1", "scale", "tensor", "int", "float32", "bool"]),
)
values = st.recursive(atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))


def loads_or_refuses(data: bytes) -> None:
    """Nothing if `data` is refused as it should be, or gives a program that holds together."""
    try:
        artefact = decode(data)
    except ArtefactError as error:
        assert error.identifier in ("DY101", "DY102")
        return
    verify(artefact.hcfg)
    try:
        Program(artefact)
    except ArtefactError as error:
        assert error.identifier in ("DY101", "DY102")


def refuses(data: bytes) -> None:
    with pytest.raises(ArtefactError):
        decode(data)


@settings(max_examples=300, deadline=None)
@given(files, st.data())
def test_flipped_bits_are_refused(file: bytes, data: st.DataObject) -> None:
    changed = bytearray(file)
    for position in data.draw(st.sets(st.integers(0, len(file) * 8 - 1), min_size=1, max_size=5)):
        changed[position // 8] ^= 1 << position % 8
    refuses(bytes(changed))


@settings(max_examples=300, deadline=None)
@given(files, st.data())
def test_flipped_bits_under_a_valid_seal_are_refused(file: bytes, data: st.DataObject) -> None:
    changed = bytearray(file[:-64])
    position = data.draw(st.integers(0, len(changed) * 8 - 1))
    changed[position // 8] ^= 1 << position % 8
    refuses(sealed(bytes(changed)))


@settings(max_examples=200, deadline=None)
@given(files, st.data(), st.booleans())
def test_truncated_files_are_refused(file: bytes, data: st.DataObject, with_seal: bool) -> None:
    kept = file[: data.draw(st.integers(0, len(file) - 65 if with_seal else len(file) - 1))]
    refuses(sealed(kept) if with_seal else kept)


@settings(max_examples=200, deadline=None)
@given(files, st.data(), st.binary(min_size=1, max_size=80), st.booleans())
def test_inserted_bytes_are_refused(file: bytes, data: st.DataObject, inserted: bytes, with_seal: bool) -> None:
    position = data.draw(st.integers(0, len(file) - 64))
    longer = file[:position] + inserted + file[position:]
    refuses(sealed(longer[:-64]) if with_seal else longer)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.booleans())
def test_arbitrary_bytes_are_refused(data: bytes, with_seal: bool) -> None:
    start = b"PK\x03\x04" + data
    refuses(sealed(start + FILES[0][-97:-64]) if with_seal else start)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(MEMBERS), st.data())
def test_swapped_members_are_refused(members: dict[str, bytes], data: st.DataObject) -> None:
    first, second = data.draw(st.lists(st.sampled_from(sorted(members)), min_size=2, max_size=2, unique=True))
    swapped = {**members, first: members[second], second: members[first]}
    if swapped != members:
        refuses(packed(swapped))


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(MEMBERS), st.sampled_from(DOCUMENTS), st.data())
def test_changed_documents_under_valid_digests(members: dict[str, bytes], member: str, data: st.DataObject) -> None:
    document = json.loads(members[member])
    for _ in range(data.draw(st.integers(1, 3))):
        document = mutated(document, data)
    changed = {**members, member: json.dumps(document).encode("utf-8", "surrogatepass")}
    loads_or_refuses(packed(changed))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(ARTEFACTS[:2]), st.data())
def test_changed_codes_under_valid_digests(artefact: Artefact, data: st.DataObject) -> None:
    digest = data.draw(st.sampled_from(sorted(artefact.codes)))
    code = bytearray(artefact.codes[digest])
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, max(0, len(code) - 1)))
        if data.draw(st.booleans()):
            code[position : position + 1] = data.draw(st.binary(max_size=3))
        elif code:
            code[position % len(code)] ^= 1 << data.draw(st.integers(0, 7))
    loads_or_refuses(with_code(artefact, digest, bytes(code)))


def mutated(document: Any, data: st.DataObject) -> Any:
    """A copy of a JSON document with one value somewhere in it replaced, removed, added, repeated or moved."""
    whole = [copy.deepcopy(document)]
    container: Any = whole
    key: Any = 0
    while isinstance(container[key], dict | list) and container[key] and data.draw(st.integers(0, 5)):
        container = container[key]
        keys = sorted(container) if isinstance(container, dict) else range(len(container))
        key = data.draw(st.sampled_from(keys))
    action = data.draw(st.sampled_from(["replace", "remove", "add", "repeat", "move"]))
    if action == "remove":
        del container[key]
        return whole[0] if whole else None
    if action == "add" and isinstance(container, dict):
        container[data.draw(st.text(max_size=4))] = data.draw(values)
    elif action == "repeat" and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    elif action == "move" and isinstance(container, list):
        container.append(container.pop(key))
    else:
        container[key] = data.draw(values)
    return whole[0]
