"""The texts of objects and containers as plain Python, for when a decision hides in `__str__` and its like."""

from typing import Any

from dycl.rewrite.normalise import data_model


def text(value: Any = "") -> str:
    """`str(value)`."""
    return _text("__str__", value)


def representation(value: Any) -> str:
    """`repr(value)`."""
    return _text("__repr__", value)


def _text(name: str, value: Any) -> str:
    own = data_model.special(value, name)
    if own is object.__str__:
        return _text("__repr__", value)
    if data_model.is_plain_container(value):
        return text_of_container(value)
    result = own(value)
    if not isinstance(result, str):
        raise TypeError(f"{name} returned non-string (type {type(result).__name__})")
    return result


def text_of_container(value: Any) -> str:
    """`repr(value)` of a list, tuple or dict."""
    if not data_model.is_plain_container(value):
        return _text("__repr__", value)
    if isinstance(value, dict):
        parts = []
        for key in value:
            parts.append(_text("__repr__", key) + ": " + _text("__repr__", value[key]))
        return "{" + ", ".join(parts) + "}"
    texts = []
    for item in value:
        texts.append(_text("__repr__", item))
    if isinstance(value, tuple):
        return "(" + ", ".join(texts) + (",)" if len(texts) == 1 else ")")
    return "[" + ", ".join(texts) + "]"


def formatted(value: Any, style: str = "") -> str:
    """`format(value, style)`."""
    own = data_model.special(value, "__format__")
    if own is object.__format__ and not style:
        return text(value)
    result = own(value, style)
    if not isinstance(result, str):
        raise TypeError(data_model.wrong_format(type(value), type(result)))
    return result


def in_text(value: Any, conversion: int, style: str) -> str:
    """`{value!r:style}` inside an f-string."""
    if conversion == ord("s"):
        return format(text(value), style)
    if conversion == ord("r"):
        return format(representation(value), style)
    if conversion == ord("a"):
        return format(ascii(representation(value))[1:-1], style)
    return formatted(value, style)
