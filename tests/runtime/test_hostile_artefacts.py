"""A file that DyCL did not write is refused with one ArtefactError, even where its digests are right."""

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest

from dycl.runtime.artefact import decode, encode
from dycl.runtime.errors import ArtefactError
from tests.hand_built import gated
from tests.runtime.sealing import members_of, packed, sealed, with_json

GATED = gated()
FILE = encode(GATED)
END_RECORD = FILE.rindex(b"PK\x05\x06")
DIRECTORY = struct.unpack_from("<I", FILE, END_RECORD + 16)[0]


def refused(data: bytes, message: str, identifier: str = "DY101") -> None:
    with pytest.raises(ArtefactError, match=message) as caught:
        decode(data)
    assert caught.value.identifier == identifier
    assert str(caught.value).endswith(f"  = page: docs/errors/{identifier}.md")


def patched(offset: int, data: bytes) -> bytes:
    """The file with bytes replaced and the digest made right again."""
    body = bytearray(FILE[:-64])
    body[offset : offset + len(data)] = data
    return sealed(bytes(body))


def directory_entry(name: bytes) -> int:
    """Where the entry of a member starts in the central directory."""
    return FILE.rindex(name, DIRECTORY) - 46


def local_header(name: bytes) -> int:
    """Where the header of a member starts."""
    (offset,) = struct.unpack_from("<I", FILE, directory_entry(name) + 42)
    return int(offset)


def renamed(old: bytes, new: bytes) -> bytes:
    """The file with a member's name changed in both its headers, and the digest made right again."""
    start = local_header(old)
    return sealed(FILE[:start] + FILE[start:-64].replace(old, new))


@pytest.mark.parametrize("data", [b"", b"PK", b"\x80\x02}q\x00.", b"PK\x03\x04", b"\x08\x09" * 100])
def test_other_files(data: bytes) -> None:
    refused(data, "this is not a DyCL artefact")


def test_a_cut_file() -> None:
    refused(FILE[:-1], "cut short, or it is not")
    refused(FILE[:100], "this is not|cut short")


def test_a_longer_file() -> None:
    refused(FILE + b"\n", "cut short, or it is not")


def test_a_flipped_bit() -> None:
    body = bytearray(FILE)
    body[200] ^= 1
    refused(bytes(body), "its bytes do not match its digest")


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_another_format_in_the_seal(version: int) -> None:
    refused(
        sealed(FILE[:-64].replace(b"format 0004", b"format %04d" % version)),
        f"has format {version}, and this version of DyCL reads format 4",
        "DY102",
    )


def test_an_older_format_asks_for_the_model_to_be_compiled_again() -> None:
    with pytest.raises(ArtefactError, match="help: compile the model again with this version of dycl"):
        decode(sealed(FILE[:-64].replace(b"format 0004", b"format 0003")))


def test_a_newer_format_in_the_manifest() -> None:
    newer = with_json(GATED, "manifest.json", lambda manifest: {"format": 7, "novelty": 1})
    refused(newer, "has format 7", "DY102")


@pytest.mark.parametrize("version", [0, -1, "4", 4.0, True, None])
def test_a_format_that_does_not_exist(version: object) -> None:
    refused(with_json(GATED, "manifest.json", lambda manifest: {**manifest, "format": version}), "format")


HEADER_FIELDS = {
    "version needed": (4, b"\x2d\x00"),
    "encryption": (6, b"\x01\x00"),
    "sizes after the data": (6, b"\x08\x00"),
    "compression": (8, b"\x08\x00"),
    "time": (10, b"\x01\x00"),
    "checksum": (14, b"\x00\x00\x00\x00"),
    "stored size": (18, b"\xff\xff\xff\xff"),
    "size": (22, b"\xff\xff\xff\x7f"),
    "name length": (26, b"\xff\xff"),
    "extra length": (28, b"\x01\x00"),
}


@pytest.mark.parametrize("field", HEADER_FIELDS)
@pytest.mark.parametrize("member", [b"hcfg.json", b"weights.bin"])
def test_local_headers(field: str, member: bytes) -> None:
    offset, data = HEADER_FIELDS[field]
    refused(patched(local_header(member) + offset, data), "the artefact's archive is not in the form that DyCL writes")


DIRECTORY_FIELDS = {
    "made by": (4, b"\x14\x03"),
    "version needed": (6, b"\x2d\x00"),
    "encryption": (8, b"\x01\x00"),
    "compression": (10, b"\x08\x00"),
    "time": (12, b"\x01\x00"),
    "checksum": (16, b"\x00\x00\x00\x00"),
    "stored size": (20, b"\xff\xff\xff\xff"),
    "size": (24, b"\xff\xff\xff\xff"),
    "smaller size": (24, b"\x00\x00\x00\x00"),
    "extra length": (30, b"\x01\x00"),
    "comment length": (32, b"\x01\x00"),
    "disk": (34, b"\x01\x00"),
    "attributes": (38, b"\x00\x00\xff\xa1"),
    "offset of another member": (42, b"\x00\x00\x00\x00"),
    "offset outside": (42, b"\xff\xff\xff\xff"),
}


@pytest.mark.parametrize("field", DIRECTORY_FIELDS)
def test_the_central_directory(field: str) -> None:
    offset, data = DIRECTORY_FIELDS[field]
    refused(patched(directory_entry(b"hcfg.json") + offset, data), "is not in the form that DyCL writes")


@pytest.mark.parametrize("offset", range(4, 22, 2))
@pytest.mark.parametrize("value", [b"\x00\x00", b"\x01\x00", b"\xff\xff"])
def test_the_end_record(offset: int, value: bytes) -> None:
    if FILE[END_RECORD + offset : END_RECORD + offset + 2] != value:
        refused(patched(END_RECORD + offset, value), "is not in the form that DyCL writes")


def test_overlapping_members() -> None:
    # weights.json claims the bytes of hcfg.json: right offset, size and checksum, but they are not its own.
    entry, other = directory_entry(b"weights.json"), directory_entry(b"hcfg.json")
    body = bytearray(FILE[:-64])
    body[entry + 16 : entry + 28] = body[other + 16 : other + 28]
    body[entry + 42 : entry + 46] = body[other + 42 : other + 46]
    refused(sealed(bytes(body)), "is not in the form that DyCL writes")


def test_bytes_between_members() -> None:
    start = local_header(b"hcfg.json")
    refused(sealed(FILE[:start] + b"hidden" + FILE[start:-64]), "is not in the form that DyCL writes")


@pytest.mark.parametrize(
    "name",
    ["../hc.jso", "/etc/pass", "..\\hcfg.j", "hcfg.jso\x00", "HCFG.JSON", "co/d.json", "h\xefcg.json", "C:\\a.json"],
)
def test_names_that_lead_elsewhere(name: str) -> None:
    refused(renamed(b"hcfg.json", name.encode("latin-1")), "a member of the unexpected name")


def test_a_member_twice() -> None:
    codes = [name.encode() for name in members_of(GATED) if name.startswith("code/")]
    refused(renamed(codes[1], codes[0]), "the artefact holds code/.* twice")


def test_an_unexpected_member() -> None:
    refused(packed({**members_of(GATED), "notes": b"hello"}), "exactly the codes that its graph uses")


def test_a_missing_code() -> None:
    members = members_of(GATED)
    code = next(name for name in members if name.startswith("code/"))
    refused(packed({name: data for name, data in members.items() if name != code}), "exactly the codes that its graph")


def test_a_code_of_another_backend() -> None:
    members = members_of(GATED)
    renamed_codes = {name.replace("/onnxruntime/", "/other/"): data for name, data in members.items()}
    refused(packed(renamed_codes), "exactly the codes that its graph uses")


@pytest.mark.parametrize("name", ["", "Other", "../up", "a/b", "a.b", "x" * 65, "-a"])
def test_a_backend_of_a_name_that_leads_elsewhere(name: str) -> None:
    def change(graph: Any) -> None:
        graph["subnets"][0]["backend"] = name

    refused(with_json(GATED, "hcfg.json", change), "for a backend of the unusual name")


def test_a_manifest_that_says_more() -> None:
    refused(with_json(GATED, "manifest.json", lambda manifest: {**manifest, "note": 1}), "unknown field 'note'")


@pytest.mark.parametrize("member", ["hcfg.json", "weights.json", "weights.bin"])
def test_a_missing_member(member: str) -> None:
    members = members_of(GATED)
    del members[member]
    refused(packed(members), f"the artefact lacks {member}")


def test_a_missing_manifest() -> None:
    members = members_of(GATED)
    del members["manifest.json"]
    refused(packed(members), "the artefact has no manifest")


def test_members_in_another_order() -> None:
    members = members_of(GATED)
    manifest = {"manifest.json": members.pop("manifest.json")}
    refused(packed({**manifest, **dict(reversed(members.items()))}), "exactly the codes that its graph uses")


def test_a_code_that_nothing_uses() -> None:
    extra = {f"code/onnxruntime/{'0' * 64}": b""}
    refused(packed({**members_of(GATED), **extra}), "exactly the codes that its graph uses")


def test_a_code_under_another_codes_name() -> None:
    members = members_of(GATED)
    codes = [name for name in members if name.startswith("code/")]
    members[codes[0]], members[codes[1]] = members[codes[1]], members[codes[0]]
    refused(packed(members), "the artefact's member code/.* is damaged")


def test_a_graph_whose_code_leads_elsewhere() -> None:
    def change(graph: Any) -> None:
        graph["subnets"][0]["code"] = "../../etc/passwd"

    refused(with_json(GATED, "hcfg.json", change), "exactly the codes that its graph uses")


def test_a_graph_that_breaks_a_rule() -> None:
    def change(graph: Any) -> None:
        graph["blocks"][1]["steps"][0]["inputs"] = ["elsewhere"]

    refused(with_json(GATED, "hcfg.json", change), "not valid: block b1 uses elsewhere before it is defined")


def test_a_deeply_nested_document() -> None:
    members = members_of(GATED)
    for name in ("hcfg.json", "weights.json"):
        refused(packed({**members, name: b"[" * 100_000}), "nested too deeply")
    refused(packed({**members, "manifest.json": b"[" * 100_000}), "nested too deeply")


def test_a_document_that_is_too_large() -> None:
    members = members_of(GATED)
    members["weights.json"] = b" " * (32 * 1024 * 1024 + 1)
    refused(packed(members), "is larger than")


def entry_of(**changes: object) -> Callable[[Any], None]:
    def change(index: Any) -> None:
        index[0].update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry_of(id="other"), "is not weight scale"),
        (entry_of(dtype="float64"), "is not weight scale"),
        (entry_of(dtype="object"), "is not weight scale"),
        (entry_of(shape=[4]), "is not weight scale"),
        (entry_of(shape=[-3]), "is not weight scale"),
        (entry_of(shape=[3.0]), "is not an integer"),
        (entry_of(offset=4), "is not at its place"),
        (entry_of(offset=-64), "is not at its place"),
        (entry_of(offset=2**63), "is not at its place"),
        (entry_of(size=8), "has 8 bytes"),
        (entry_of(size=True), "is not an integer"),
        (entry_of(pointer=1), "unknown field 'pointer'"),
        (lambda index: index.append(index[0]), "lists 2 weights"),
        (lambda index: index.clear(), "lists 0 weights"),
        (lambda index: {"scale": index[0]}, "is not a list"),
    ],
)
def test_the_index_of_weights(change: Callable[[Any], None], message: str) -> None:
    refused(with_json(GATED, "weights.json", change), message)


def with_weight_type(dtype: str, shape: list[int], size: int, data: bytes) -> bytes:
    """The file of the gated program with another type of its weight in graph and index alike."""
    members = members_of(GATED)
    graph, index = json.loads(members["hcfg.json"]), json.loads(members["weights.json"])
    graph["weights"][0]["type"].update(dtype=dtype, shape=shape)
    index[0].update(dtype=dtype, shape=shape, size=size)
    documents = {"hcfg.json": json.dumps(graph).encode(), "weights.json": json.dumps(index).encode()}
    return packed({**members, **documents, "weights.bin": data})


def test_weights_outside_of_the_file() -> None:
    refused(with_weight_type("float32", [4], 16, bytes(12)), "lies outside weights.bin")
    refused(with_weight_type("float32", [2**40], 2**42, bytes(12)), "lies outside weights.bin")


def test_sizes_that_overflow_64_bits() -> None:
    # 2**62 elements of 4 bytes are 0 modulo 2**64.
    refused(with_weight_type("float32", [2**31, 2**31], 0, b""), "a float32.* has 18446744073709551616")


def test_empty_weights_of_absurd_shapes() -> None:
    refused(with_weight_type("float32", [0, 2**62, 2**62], 0, b""), "cannot exist")


def test_bytes_between_the_weights() -> None:
    members = members_of(GATED)
    graph, index = json.loads(members["hcfg.json"]), json.loads(members["weights.json"])
    graph["weights"].append({**graph["weights"][0], "id": "more"})
    index.append({**index[0], "id": "more", "offset": 64})
    documents = {"hcfg.json": json.dumps(graph).encode(), "weights.json": json.dumps(index).encode()}
    decode(packed({**members, **documents, "weights.bin": bytes(76)}))
    hidden = bytes(12) + b"hidden" + bytes(58)
    refused(packed({**members, **documents, "weights.bin": hidden}), "something other than zeros before")


def test_bytes_after_the_weights() -> None:
    refused(with_weight_type("float32", [3], 12, bytes(16)), "bytes that belong to no weight")


def test_flags_that_are_neither_true_nor_false() -> None:
    refused(with_weight_type("bool", [3], 3, b"\x00\x01\x02"), "a flag that is neither true nor false")
