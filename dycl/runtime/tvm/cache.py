"""Libraries that were built before, in a folder of the user's: `DYCL_CACHE`, or `dycl` where caches are kept.

What lies there is run as it is, so nothing is read that others could have written. A folder that cannot be used is no
error: everything is built anew then.
"""

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tvm

_ENDING = ".ll"
"""LLVM reads its text and its binary form alike from such files; these have the binary one."""


def folder() -> Path:
    """Where libraries are kept."""
    if told := os.environ.get("DYCL_CACHE"):
        return Path(told)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dycl"


def kept(key: str, function: str, build: Callable[[], Any]) -> Any:
    """The module that was kept under this key, or the one that `build` gives, which is kept from now on.

    `function` is one that it has.
    """
    try:
        path = folder() / f"tvm-{hashlib.sha256(key.encode()).hexdigest()}{_ENDING}"
        if (found := _read(path, function)) is not None:
            return found
    except (OSError, RuntimeError):
        return build()
    made = build()
    with contextlib.suppress(OSError):
        _write(path, made)
    return made


def _read(path: Path, function: str) -> Any:
    """The module in a file; None if there is none that can be trusted."""
    if not (_is_own(path.parent) and _is_own(path)):
        return None
    try:
        found = tvm.runtime.load_module(str(path))
        found[function]  # which is when LLVM takes the module
    except Exception:  # a file that is broken raises whatever LLVM finds in it
        return None
    return found


def _is_own(path: Path) -> bool:
    """Whether a path is this user's, and nobody else may write there."""
    try:
        told = path.lstat()
    except FileNotFoundError:
        return False
    own = not hasattr(os, "getuid") or told.st_uid == os.getuid()
    return own and not stat.S_ISLNK(told.st_mode) and not told.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _write(path: Path, module: Any) -> None:
    """Keep a module: whoever reads the file sees all of it or nothing."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(path.parent):
        return
    number, name = tempfile.mkstemp(suffix=".bc", dir=path.parent)
    os.close(number)
    try:
        module.write_to_file(name, "bc")
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if not isinstance(error, RuntimeError):
            raise
