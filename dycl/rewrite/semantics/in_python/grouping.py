"""`itertools.groupby` as plain Python: its groups share one iterator."""

from typing import Any

END = object()
"""What `next` gives at the end, and nothing else is."""


def grouped(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby(iterable, key)`."""
    return _groups(iter(iterable), key)


def _groups(items: Any, key: Any) -> Any:
    """Each key with its group, an iterator that is at its end as soon as the next group is asked for."""
    now = {"item": END, "key": END, "group": None}
    wanted: Any = END
    while True:
        token: list[Any] = []
        now["group"] = token
        while now["key"] is END or (wanted is not END and (wanted is now["key"] or wanted == now["key"])):
            item = next(items, END)
            if item is END:
                return
            now["item"], now["key"] = item, item if key is None else key(item)
        wanted = now["key"]
        yield wanted, _group(items, key, now, token)


def _group(items: Any, key: Any, now: dict[str, Any], token: list[Any]) -> Any:
    wanted = now["key"]
    while now["group"] is token:
        if now["item"] is END:
            item = next(items, END)
            if item is END:
                return
            now["item"], now["key"] = item, item if key is None else key(item)
        if not (wanted is now["key"] or wanted == now["key"]):
            return
        given = now["item"]
        now["item"] = END
        yield given
