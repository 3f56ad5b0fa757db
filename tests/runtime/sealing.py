"""Artefacts as an attacker would make them: changed members under valid digests."""

import hashlib
import io
import json
from typing import Any

from dycl.runtime.archive import member, pack, unpack
from dycl.runtime.artefact import Artefact, encode


def members_of(artefact: Artefact) -> dict[str, bytes]:
    """The members of an artefact's file."""
    return {name: bytes(data) for name, data in unpack(encode(artefact)).items()}


def packed(members: dict[str, bytes]) -> bytes:
    """The archive of `members`."""
    file = io.BytesIO()
    pack([member(name, data) for name, data in members.items()], file)
    return file.getvalue()


def sealed(body: bytes) -> bytes:
    """`body`, an archive without its last 64 bytes, with the digest that belongs there."""
    return body + hashlib.sha256(body).hexdigest().encode()


def with_json(artefact: Artefact, name: str, change: Any) -> bytes:
    """The file of an artefact whose JSON member was changed by `change`, under a valid digest."""
    members = members_of(artefact)
    document = json.loads(members[name])
    document = change(document) or document
    members[name] = json.dumps(document).encode()
    return packed(members)


def with_code(artefact: Artefact, old: str, code: bytes) -> bytes:
    """The file of an artefact whose code of the digest `old` is replaced by `code`, under valid digests."""
    digest = hashlib.sha256(code).hexdigest()
    members = members_of(artefact)
    members["hcfg.json"] = members["hcfg.json"].replace(old.encode(), digest.encode())
    codes = {name.replace(old, digest): data for name, data in members.items() if name.startswith("code/")}
    codes |= {name: code for name in codes if digest in name}
    fixed = {name: data for name, data in members.items() if not name.startswith("code/")}
    return packed({**fixed, **dict(sorted(codes.items()))})
