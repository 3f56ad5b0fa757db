"""How many threads ONNX Runtime uses: one in each session, or one pool for the whole process.

Many sessions with a pool each, whose idle threads spin, slow each other down by up to 40 times. So one thread means no
pool at all, and more threads mean ONNX Runtime's global pool. That pool can be made once a process, and from then on
ONNX Runtime refuses every session with threads of its own, also those of a program's other libraries.
"""

import threading
from typing import Any

import onnxruntime  # type: ignore[import-untyped]

from dycl.runtime.errors import SettingError


class _GlobalPool:
    """The process's one pool: how many threads it has, None before it is made."""

    lock = threading.Lock()
    threads: int | None = None


def apply_threads(options: Any, threads: int) -> None:
    """Nothing; sessions made with `options` run on `threads` threads; SettingError if this process cannot have that."""
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.inter_op_num_threads = 1
    with _GlobalPool.lock:
        if threads == 1 and _GlobalPool.threads is None:
            options.intra_op_num_threads = 1
            return
        if _GlobalPool.threads is None:
            if not hasattr(onnxruntime, "set_global_thread_pool_sizes"):
                raise SettingError(
                    f"ONNX Runtime {onnxruntime.__version__} has no pool that several sub-DNNs can share",
                    help="install a newer onnxruntime, or use threads=1",
                )
            try:
                onnxruntime.set_global_thread_pool_sizes(threads, 1)
            except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
                raise SettingError(f"ONNX Runtime cannot make a pool of {threads} threads: {error}") from error
            _GlobalPool.threads = threads
        if _GlobalPool.threads != threads:
            raise SettingError(
                f"{threads} threads were asked for, but this process already runs ONNX Runtime on {_GlobalPool.threads}"
            )
        options.use_per_session_threads = False
