"""`functools.lru_cache` as plain Python, for functions that are made while the model runs."""

import functools
from typing import Any

_KEYWORDS = object()
"""What stands between the arguments and the keywords of a call."""


def remembering(maxsize: Any = 128, typed: Any = False) -> Any:
    """`functools.lru_cache(maxsize, typed)`, with the function itself in the place of `maxsize` too."""
    if isinstance(maxsize, int):
        maxsize = max(maxsize, 0)
    elif callable(maxsize) and isinstance(typed, bool):
        return _remembering(maxsize, 128, typed)
    elif maxsize is not None:
        raise TypeError("Expected first argument to be an integer, a callable, or None")

    def decorate(function: Any) -> Any:
        return _remembering(function, maxsize, typed)

    return decorate


def remembering_all(function: Any) -> Any:
    """`functools.cache(function)`."""
    return _remembering(function, None, False)


def _remembering(function: Any, maxsize: int | None, typed: Any) -> Any:
    if not callable(function):
        raise TypeError("the first argument must be callable")
    results: dict[Any, Any] = {}
    counts = {"hits": 0, "misses": 0}

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = None if maxsize == 0 else _key(args, kwargs, typed)
        if maxsize != 0 and key in results:
            counts["hits"] += 1
            if maxsize is not None:
                results[key] = results.pop(key)  # it was used last
            return results[key]
        counts["misses"] += 1
        result = function(*args, **kwargs)
        if maxsize != 0 and key not in results:
            if maxsize is not None and len(results) >= maxsize:
                del results[next(iter(results))]
            results[key] = result
        return result

    def cache_info() -> Any:
        return functools._CacheInfo(counts["hits"], counts["misses"], maxsize, len(results))

    def cache_clear() -> None:
        counts["hits"] = counts["misses"] = 0
        results.clear()

    made: Any = functools.update_wrapper(wrapper, function)
    made.cache_info = cache_info
    made.cache_clear = cache_clear
    made.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return made


def _key(args: tuple[Any, ...], kwargs: dict[str, Any], typed: Any) -> Any:
    """What two calls have in common if the second one gets the result of the first."""
    key = args
    if kwargs:
        key = (*key, _KEYWORDS)
        for item in kwargs.items():
            key = (*key, *item)
    if typed:
        key = (*key, *[type(value) for value in args], *[type(value) for value in kwargs.values()])
    elif len(key) == 1 and type(key[0]) in (int, str):
        return key[0]
    return key


SUBSTITUTES: dict[Any, Any] = {functools.lru_cache: remembering, functools.cache: remembering_all}
