"""The container of an artefact: a ZIP archive in one canonical form, sealed by a digest.

Members are stored uncompressed, back to back, under fixed timestamps; `weights.bin` starts at a multiple of 64 bytes.
The archive's comment ends in the SHA-256 of all bytes before it, as 64 hexadecimal digits:

    local header, data | local header, data | ... | central directory | end record, comment: seal

There is exactly one way to write given members, and reading accepts nothing else: every header is computed from the
names and sizes in the central directory and compared byte by byte, so offsets cannot overlap or lead outside.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Mapping

from dycl.runtime.errors import ArtefactError

FORMAT_VERSION = 1
ALIGNMENT = 64
MAX_ARCHIVE = 2**32 - 1
MAX_MEMBERS = 20_000

Buffer = bytes | memoryview

_SEAL = re.compile(rb"dycl artefact format ([0-9]{4}) sha256 ([0-9a-f]{64})")
_SEAL_TEMPLATE = b"dycl artefact format %04d sha256 "
_SEAL_SIZE = len(_SEAL_TEMPLATE % 0) + 64
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_EXTRA = struct.Struct("<2H")
# 1980-01-01 00:00, the earliest time a ZIP archive can name: the bytes must not depend on when they were written.
_DOS_TIME, _DOS_DATE = 0, 0x21
_VERSION_NEEDED = 20
# Names are ASCII and plain, so that no unpacking tool can be led out of its folder.
_MEMBER_NAME = re.compile(r"[a-z]+(\.[a-z]+)?|code/[0-9a-f]{64}\.[a-z]+")
# Android's zipalign uses this identifier for the same purpose; other tools skip it.
_ALIGNMENT_EXTRA = 0xD935


def pack(members: Mapping[str, bytes]) -> bytes:
    """The archive that holds `members` in their order."""
    parts: list[bytes] = []
    directory: list[bytes] = []
    offset = 0
    for name, data in members.items():
        _check_member_name(name)
        header = _local_header(name, len(data), zlib.crc32(data), offset)
        directory.append(_central_header(name, len(data), zlib.crc32(data), offset))
        parts += (header, data)
        offset += len(header) + len(data)
        if offset > MAX_ARCHIVE:
            raise ArtefactError("the artefact would be larger than 4 GiB", help="compile a smaller model")
    central = b"".join(directory)
    body = b"".join((*parts, central, _end_record(len(members), len(central), offset)))
    if len(body) > MAX_ARCHIVE or len(members) > MAX_MEMBERS:
        raise ArtefactError("the artefact would be too large", help="compile a smaller model")
    return body + hashlib.sha256(body).hexdigest().encode()


def unpack(archive: Buffer) -> dict[str, memoryview]:
    """The members of `archive`, in order, as views into it; ArtefactError unless `pack` could have written it."""
    view = memoryview(archive)
    _check_seal(view)
    directory_end = len(view) - _SEAL_SIZE - _END.size
    _, _, _, _, count, directory_size, directory_start, _ = _END.unpack_from(view, directory_end)
    if directory_start + directory_size != directory_end or count > MAX_MEMBERS:
        raise _damaged()
    members: dict[str, memoryview] = {}
    expected: list[bytes] = []
    offset, entry = 0, directory_start
    for _ in range(count):
        name, size, checksum, entry = _read_central(view, entry, directory_end)
        if name in members:
            raise ArtefactError(f"the artefact holds {name} twice")
        header = _local_header(name, size, checksum, offset)
        start = offset + len(header)
        if start + size > directory_start or view[offset:start] != header:
            raise _damaged()
        members[name] = view[start : start + size]
        if zlib.crc32(members[name]) != checksum:
            raise _damaged()
        expected.append(_central_header(name, size, checksum, offset))
        offset = start + size
    expected.append(_end_record(count, directory_size, directory_start))
    if offset != directory_start or view[directory_start:-64] != b"".join(expected):
        raise _damaged()
    return members


def _check_seal(view: memoryview) -> None:
    if len(view) < _END.size + _SEAL_SIZE or bytes(view[:4]) != b"PK\x03\x04":
        raise ArtefactError("this is not a DyCL artefact", help="pass a file that Program.save wrote")
    if len(view) > MAX_ARCHIVE + 64:
        raise ArtefactError("the artefact is larger than 4 GiB")
    seal = _SEAL.fullmatch(view[-_SEAL_SIZE:])
    if seal is None:
        raise ArtefactError("the artefact is cut short, or it is not a DyCL artefact")
    if hashlib.sha256(view[:-64]).hexdigest().encode() != seal[2]:
        raise ArtefactError("the artefact is damaged: its bytes do not match its digest")
    check_version(int(seal[1]))


def check_version(version: int) -> None:
    """Nothing if this version of DyCL can read format `version`."""
    if version > FORMAT_VERSION:
        raise ArtefactError(
            f"the artefact has format {version}, and this version of DyCL reads formats up to {FORMAT_VERSION}",
            help="install a newer version of dycl, or compile the model with this one",
            identifier="DY102",
        )
    if version < 1:
        raise ArtefactError(f"the artefact has the format {version}, which does not exist")


def _read_central(view: memoryview, entry: int, end: int) -> tuple[str, int, int, int]:
    """The name, size, checksum of the entry of the central directory at `entry`, and where the next one starts."""
    if entry + _CENTRAL.size > end:
        raise _damaged()
    _, _, _, _, _, _, _, checksum, _, size, name_size, *_ = _CENTRAL.unpack_from(view, entry)
    following = entry + _CENTRAL.size + name_size
    if following > end:
        raise _damaged()
    name = bytes(view[entry + _CENTRAL.size : following]).decode("latin-1")
    _check_member_name(name)
    return name, size, checksum, following


def _check_member_name(name: str) -> None:
    if not _MEMBER_NAME.fullmatch(name):
        raise ArtefactError(f"the artefact holds a member of the unexpected name {name!r:.80}")


def _local_header(name: str, size: int, checksum: int, offset: int) -> bytes:
    encoded = name.encode("ascii")
    extra = b""
    if name.endswith(".bin"):
        # Data that is used in place must be aligned: fill the header up with an extra field.
        unaligned = offset + _LOCAL.size + len(encoded) + _EXTRA.size
        padding = -unaligned % ALIGNMENT
        extra = _EXTRA.pack(_ALIGNMENT_EXTRA, padding) + bytes(padding)
    return (
        _LOCAL.pack(
            b"PK\x03\x04",
            _VERSION_NEEDED,
            0,
            0,
            _DOS_TIME,
            _DOS_DATE,
            checksum,
            size,
            size,
            len(encoded),
            len(extra),
        )
        + encoded
        + extra
    )


def _central_header(name: str, size: int, checksum: int, offset: int) -> bytes:
    encoded = name.encode("ascii")
    return (
        _CENTRAL.pack(
            b"PK\x01\x02",
            _VERSION_NEEDED,
            _VERSION_NEEDED,
            0,
            0,
            _DOS_TIME,
            _DOS_DATE,
            checksum,
            size,
            size,
            len(encoded),
            0,
            0,
            0,
            0,
            0,
            offset,
        )
        + encoded
    )


def _end_record(count: int, directory_size: int, directory_start: int) -> bytes:
    record = _END.pack(b"PK\x05\x06", 0, 0, count, count, directory_size, directory_start, _SEAL_SIZE)
    return record + _SEAL_TEMPLATE % FORMAT_VERSION


def _damaged() -> ArtefactError:
    return ArtefactError("the artefact's archive is not in the form that DyCL writes")
