"""What commands print: counts and sizes in words, bars and colours. Output that goes to a file stays plain."""

import os
import sys
from types import TracebackType
from typing import Self, TextIO

_EIGHTHS = " ▏▎▍▌▋▊▉"
_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32}


def byte_count(count: int) -> str:
    """A number of bytes in the unit that suits it: 812 B, 1.5 kB, 20.3 MB."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it needs one: 1 block, 1,200 blocks."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def bar(share: float, width: int) -> str:
    """A bar of `width` columns, filled from the left by `share` (0 to 1) to an eighth of a column."""
    full, part = divmod(round(min(max(share, 0.0), 1.0) * width * 8), 8)
    return ("█" * full + (_EIGHTHS[part] if part else "")).ljust(width)


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in bold, dim, red or green if `stream` (standard output) is a terminal that takes it."""
    stream = stream or sys.stdout
    if not stream.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\033[{_STYLES[style]}m{text}\033[0m"


class ProgressBar:
    """A bar on standard error while something slow goes on; nothing if that is not a terminal.

    Leaving the `with` block wipes the bar away.
    """

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._visible = self._stream.isatty()
        self._shown = ""

    def rename(self, label: str) -> None:
        """Nothing; the bar stands behind this label from now on."""
        self._label = label

    def show(self, done: int, total: int) -> None:
        """Nothing; the bar stands at `done` of `total` afterwards."""
        if not self._visible:
            return
        line = f"{self._label:<12} {bar(done / total if total else 1.0, 40)} {done}/{total}"
        if line != self._shown:
            self._write(line)
            self._shown = line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._write("")

    def _write(self, line: str) -> None:
        self._stream.write(f"\r\033[K{line}")
        self._stream.flush()
