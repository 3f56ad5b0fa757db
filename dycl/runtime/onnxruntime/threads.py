"""How many threads an ONNX Runtime session uses: those that the program asks for, which sleep when there is no work.

Many sessions whose idle threads spin slow each other down by up to 40 times; threads that sleep cost nothing. ONNX
Runtime's pool for the whole process would be made once, with one size for all programs, and refuse every session with
threads of its own from then on. Where another library has made that pool, there is no other choice than to use it.
"""

from collections.abc import Callable
from typing import Any


def opened(open_session: Callable[[Any], Any], options: Any, threads: int) -> Any:
    """The session that `open_session` gives for `options`, on so many threads."""
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = threads
    try:
        return open_session(options)
    except Exception as error:  # ONNX Runtime's own error types have no base class but this one.
        if "global thread pool" not in str(error):
            raise
    options.use_per_session_threads = False
    # What the pool decides must not be said here, too: ONNX Runtime would warn of it.
    options.inter_op_num_threads = options.intra_op_num_threads = 0
    return open_session(options)
