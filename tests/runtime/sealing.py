"""Artefacts as an attacker would make them: changed members under valid digests."""

import hashlib
import json
from typing import Any

from dycl.runtime.archive import pack, unpack
from dycl.runtime.artefact import Artefact, encode


def members_of(artefact: Artefact) -> dict[str, bytes]:
    """The members of an artefact's file."""
    return {name: bytes(data) for name, data in unpack(encode(artefact)).items()}


def sealed(body: bytes) -> bytes:
    """`body`, an archive without its last 64 bytes, with the digest that belongs there."""
    return body + hashlib.sha256(body).hexdigest().encode()


def resealed(members: dict[str, bytes]) -> bytes:
    """The archive of `members` with all sizes and digests made right."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != "manifest.json"
    }
    return pack({**members, "manifest.json": json.dumps(manifest).encode()})


def with_json(artefact: Artefact, member: str, change: Any) -> bytes:
    """The file of an artefact whose JSON member was changed by `change`, under valid digests."""
    members = members_of(artefact)
    document = json.loads(members[member])
    document = change(document) or document
    members[member] = json.dumps(document).encode()
    return pack(members) if member == "manifest.json" else resealed(members)


def with_code(artefact: Artefact, old: str, code: bytes) -> bytes:
    """The file of an artefact whose code of the digest `old` is replaced by `code`, under valid digests."""
    digest = hashlib.sha256(code).hexdigest()
    members = members_of(artefact)
    members["hcfg.json"] = members["hcfg.json"].replace(old.encode(), digest.encode())
    codes = {name: data for name, data in members.items() if name.startswith("code/") and old not in name}
    codes[f"code/{digest}.onnx"] = code
    fixed = {name: data for name, data in members.items() if not name.startswith("code/")}
    return resealed({**fixed, **dict(sorted(codes.items()))})
