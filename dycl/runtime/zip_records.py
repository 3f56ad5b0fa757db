"""The records of a ZIP archive, as bytes: nothing about them is free but names, sizes, checksums and offsets.

A number that is at least `limit` stands in a ZIP64 record, and the field that is too small for it is all ones. Outside
of tests the limit is 2**32 - 1, the largest number that such a field cannot hold since it means ZIP64 there.
"""

import struct
from dataclasses import dataclass

ZIP64_LIMIT = 0xFFFFFFFF

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_EXTRA = struct.Struct("<2H")
_LARGE = struct.Struct("<Q")
_LARGE_FIELD = 0xFFFFFFFF
# 1980-01-01 00:00, the earliest time a ZIP archive can name: the bytes must not depend on when they were written.
_DOS_TIME, _DOS_DATE = 0, 0x21
_VERSION, _VERSION64 = 20, 45
_ZIP64_EXTRA = 0x0001
# Android's zipalign uses this identifier for the same purpose; other tools skip it.
_ALIGNMENT_EXTRA = 0xD935


@dataclass(frozen=True, slots=True)
class Entry:
    """A member as the archive lists it; `offset` is where its local header starts."""

    name: str
    size: int
    checksum: int
    offset: int


@dataclass(frozen=True, slots=True)
class Directory:
    """Where the central directory lies, and how many entries it has."""

    start: int
    size: int
    count: int


def local_header(entry: Entry, alignment: int, limit: int) -> bytes:
    """The header in front of a member's data, filled up so that the data start at a multiple of `alignment`."""
    name = entry.name.encode("ascii")
    is_large = entry.size >= limit
    extra = _zip64_extra(entry.size, entry.size) if is_large else b""
    if alignment > 1:
        unaligned = entry.offset + _LOCAL.size + len(name) + len(extra) + _EXTRA.size
        padding = -unaligned % alignment
        extra += _EXTRA.pack(_ALIGNMENT_EXTRA, padding) + bytes(padding)
    size = _LARGE_FIELD if is_large else entry.size
    version = _VERSION64 if is_large else _VERSION
    numbers = (version, 0, 0, _DOS_TIME, _DOS_DATE, entry.checksum, size, size, len(name), len(extra))
    return _LOCAL.pack(b"PK\x03\x04", *numbers) + name + extra


def central_header(entry: Entry, limit: int) -> bytes:
    """A member's entry in the central directory."""
    name = entry.name.encode("ascii")
    large = ((entry.size, entry.size) if entry.size >= limit else ()) + (
        (entry.offset,) if entry.offset >= limit else ()
    )
    extra = _zip64_extra(*large) if large else b""
    size = _LARGE_FIELD if entry.size >= limit else entry.size
    offset = _LARGE_FIELD if entry.offset >= limit else entry.offset
    version = _VERSION64 if large else _VERSION
    numbers = (version, version, 0, 0, _DOS_TIME, _DOS_DATE, entry.checksum, size, size, len(name), len(extra))
    return _CENTRAL.pack(b"PK\x01\x02", *numbers, 0, 0, 0, 0, offset) + name + extra


def end_records(directory: Directory, comment_size: int, limit: int) -> bytes:
    """What follows the central directory, up to the archive's comment."""
    large = b""
    start, size = directory.start, directory.size
    if max(start, size) >= limit:
        position = start + size
        numbers = (_END64.size - 12, _VERSION64, _VERSION64, 0, 0, directory.count, directory.count, size, start)
        large = _END64.pack(b"PK\x06\x06", *numbers) + _LOCATOR.pack(b"PK\x06\x07", 0, position, 1)
        start, size = (_LARGE_FIELD if number >= limit else number for number in (start, size))
    return large + _END.pack(b"PK\x05\x06", 0, 0, directory.count, directory.count, size, start, comment_size)


def read_directory(view: memoryview, comment_start: int) -> Directory | None:
    """The directory as the records before the comment state it; None if it does not lie right before them."""
    end = comment_start - _END.size
    if end < 0:
        return None
    _, _, _, _, count, size, start, _ = _END.unpack_from(view, end)
    if _LARGE_FIELD in (size, start):
        end -= _LOCATOR.size + _END64.size
        if end < 0:
            return None
        *_, count, size, start = _END64.unpack_from(view, end)
    return Directory(start, size, count) if start + size == end else None


def read_central(view: memoryview, position: int, end: int) -> tuple[str, int, int] | None:
    """The name, size and checksum that an entry of the central directory states; None if it is cut short."""
    if position + _CENTRAL.size > end:
        return None
    _, _, _, _, _, _, _, checksum, _, size, name_size, extra_size, *_ = _CENTRAL.unpack_from(view, position)
    name_start = position + _CENTRAL.size
    extra_start = name_start + name_size
    if extra_start + extra_size > end:
        return None
    if size == _LARGE_FIELD:
        if extra_size < _EXTRA.size + _LARGE.size:
            return None
        (size,) = _LARGE.unpack_from(view, extra_start + _EXTRA.size)
    return bytes(view[name_start:extra_start]).decode("latin-1"), size, checksum


def _zip64_extra(*numbers: int) -> bytes:
    return _EXTRA.pack(_ZIP64_EXTRA, _LARGE.size * len(numbers)) + b"".join(map(_LARGE.pack, numbers))
