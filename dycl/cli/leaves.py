"""The arrays and numbers in a nested result, each with a name."""

import dataclasses


def leaves(name: str, value: object) -> list[tuple[str, object]]:
    """What `value` holds, named by its place: `output`, `output.0`, `output.logits.2`. Empty containers are leaves."""
    items = _items(value)
    if not items:
        return [(name, value)]
    return [leaf for key, item in items.items() for leaf in leaves(f"{name}.{key}", item)]


def _items(value: object) -> dict[object, object]:
    """What `value` holds directly, by key, position or field."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        return dict(zip(getattr(value, "_fields", range(len(value))), value, strict=True))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {}
