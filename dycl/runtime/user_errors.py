"""The errors that the user's own code raises, raised again by the compiled program."""

import builtins

from dycl.hcfg.types import Span
from dycl.runtime.errors import ModelError


def user_error(error: str, message: str, span: Span) -> Exception:
    """The exception that the model's code would raise, with a note that names the place in the user's source.

    Only Python's built-in exceptions are looked up by name. Any other type becomes a ModelError that names it.
    """
    found = getattr(builtins, error, None)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            exception = found(message)
        except TypeError:  # A few built-in exceptions need more than a message.
            exception = _model_error(error, message, span)
    else:
        exception = _model_error(error, message, span)
    exception.add_note(f"  --> {span} in {span.function}")
    return exception


def _model_error(error: str, message: str, span: Span) -> ModelError:
    return ModelError(
        f"the model raised {error} at {span}: {message}" if message else f"the model raised {error} at {span}"
    )
