"""The container of an artefact: a ZIP archive in one canonical form, sealed by a digest.

Members are stored uncompressed, back to back, under fixed timestamps; `weights.bin` starts at a multiple of 64 bytes.
The archive's comment ends in the SHA-256 of all bytes before it, as 64 hexadecimal digits:

    local header, data | local header, data | ... | central directory | end record, comment: seal

A size or offset that does not fit 32 bits is written as ZIP64 has it, and only then. So there is exactly one way to
write given members, and reading accepts nothing else: every header is computed from the names and sizes in the central
directory and compared byte by byte, so offsets cannot overlap or lead outside.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dycl.runtime.errors import ArtefactError
from dycl.runtime.zip_records import (
    ZIP64_LIMIT,
    Directory,
    Entry,
    central_header,
    end_records,
    local_header,
    read_central,
    read_directory,
)

FORMAT_VERSION = 4
ALIGNMENT = 64
MAX_MEMBERS = 20_000

Buffer = bytes | memoryview

_SEAL = re.compile(rb"dycl artefact format ([0-9]{4}) sha256 ([0-9a-f]{64})")
_SEAL_TEMPLATE = b"dycl artefact format %04d sha256 "
_DIGEST_SIZE = 64
_SEAL_SIZE = len(_SEAL_TEMPLATE % 0) + _DIGEST_SIZE
# Names are ASCII and plain, so that no unpacking tool can be led out of its folder.
_MEMBER_NAME = re.compile(r"[a-z]+(\.[a-z]+)?|code/[a-z][a-z0-9_-]{0,63}/[0-9a-f]{64}")
# Large enough for a hash to run at full speed, small enough to come along in memory.
_PIECE = 1 << 24


@dataclass(frozen=True, slots=True)
class Member:
    """A member to write. `pieces()` gives its bytes in order; it is called twice, and gives the same ones each time."""

    name: str
    pieces: Callable[[], Iterable[Buffer]]


def member(name: str, data: bytes) -> Member:
    """A member whose bytes are at hand."""
    return Member(name, lambda: (data,))


class Writable(Protocol):
    """A file open for writing bytes."""

    def write(self, data: Buffer, /) -> object:
        """Whatever; the data are written."""
        ...


def pack(members: Sequence[Member], file: Writable, limit: int = ZIP64_LIMIT) -> None:
    """Nothing; the archive that holds `members` in their order is written to `file`, piece by piece."""
    if len(members) > MAX_MEMBERS:
        raise ArtefactError("the artefact would have too many members", help="compile a smaller model")
    sealed = _SealedFile(file)
    directory: list[bytes] = []
    for given in members:
        _check_member_name(given.name)
        entry = _measured(given, sealed.size)
        directory.append(central_header(entry, limit))
        sealed.write(local_header(entry, _alignment(given.name), limit))
        end = sealed.size + entry.size
        for piece in _pieces(given):
            sealed.write(piece)
        if sealed.size != end:
            raise ValueError(f"{given.name} changed while it was written")
    central = b"".join(directory)
    sealed.write(central + _tail(Directory(sealed.size, len(central), len(members)), limit))
    file.write(sealed.digest())


def unpack(archive: Buffer, limit: int = ZIP64_LIMIT) -> dict[str, memoryview]:
    """The members of `archive`, in order, as views into it; ArtefactError unless `pack` could have written it."""
    view = memoryview(archive)
    _check_seal(view)
    directory = read_directory(view, len(view) - _SEAL_SIZE)
    if directory is None or directory.count > MAX_MEMBERS:
        raise _damaged()
    members: dict[str, memoryview] = {}
    offset, position = 0, directory.start
    for _ in range(directory.count):
        stated = read_central(view, position, directory.start + directory.size)
        if stated is None:
            raise _damaged()
        name, size, checksum = stated
        _check_member_name(name)
        if name in members:
            raise ArtefactError(f"the artefact holds {name} twice")
        entry = Entry(name, size, checksum, offset)
        start = _after(local_header(entry, _alignment(name), limit), view, offset)
        position = _after(central_header(entry, limit), view, position)
        offset = start + size
        if offset > directory.start or zlib.crc32(view[start:offset]) != checksum:
            raise _damaged()
        members[name] = view[start:offset]
    if offset != directory.start or _after(_tail(directory, limit), view, position) != len(view) - _DIGEST_SIZE:
        raise _damaged()
    return members


def _after(expected: bytes, view: memoryview, position: int) -> int:
    """Where what follows `expected` starts; ArtefactError unless `expected` stands at `position`."""
    end = position + len(expected)
    if view[position:end] != expected:
        raise _damaged()
    return end


def check_version(version: int) -> None:
    """Nothing if this version of DyCL can read format `version`."""
    if version < 1:
        raise ArtefactError(f"the artefact has the format {version}, which does not exist")
    if version != FORMAT_VERSION:
        newer = "install a newer version of dycl, or compile the model with this one"
        raise ArtefactError(
            f"the artefact has format {version}, and this version of DyCL reads format {FORMAT_VERSION}",
            help=newer if version > FORMAT_VERSION else "compile the model again with this version of dycl",
            identifier="DY102",
        )


class _SealedFile:
    """A file whose bytes are counted and hashed on the way."""

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: Buffer) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def digest(self) -> bytes:
        return self._hash.hexdigest().encode()


def _measured(given: Member, offset: int) -> Entry:
    size, checksum = 0, 0
    for piece in _pieces(given):
        size += len(piece)
        checksum = zlib.crc32(piece, checksum)
    return Entry(given.name, size, checksum, offset)


def _pieces(given: Member) -> Iterator[memoryview]:
    for data in given.pieces():
        view = memoryview(data)
        for start in range(0, len(view), _PIECE):
            yield view[start : start + _PIECE]


def _alignment(name: str) -> int:
    return ALIGNMENT if name.endswith(".bin") else 1


def _tail(directory: Directory, limit: int) -> bytes:
    return end_records(directory, _SEAL_SIZE, limit) + _SEAL_TEMPLATE % FORMAT_VERSION


def _check_seal(view: memoryview) -> None:
    if len(view) < _SEAL_SIZE or bytes(view[:4]) != b"PK\x03\x04":
        raise ArtefactError("this is not a DyCL artefact", help="pass a file that Program.save wrote")
    seal = _SEAL.fullmatch(view[-_SEAL_SIZE:])
    if seal is None:
        raise ArtefactError("the artefact is cut short, or it is not a DyCL artefact")
    if hashlib.sha256(view[:-_DIGEST_SIZE]).hexdigest().encode() != seal[2]:
        raise ArtefactError("the artefact is damaged: its bytes do not match its digest")
    check_version(int(seal[1]))


def _check_member_name(name: str) -> None:
    if not _MEMBER_NAME.fullmatch(name):
        raise ArtefactError(f"the artefact holds a member of the unexpected name {name!r:.80}")


def _damaged() -> ArtefactError:
    return ArtefactError("the artefact's archive is not in the form that DyCL writes")
