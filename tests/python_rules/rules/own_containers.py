"""Classes made from containers, whose methods are not those of the container."""

import collections
import functools
import re
import types
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tests.python_rules.rule import refused


def _place(x: Tensor) -> int:
    return int(x.argmax()) + int(x.sum() > 0)


class _Doubled(tuple):  # type: ignore[type-arg]
    def __contains__(self, value: object) -> bool:
        return value == 5


class _Contrary(dict):  # type: ignore[type-arg]
    def get(self, key: Any, default: Any = None) -> Any:
        return 99

    def __contains__(self, key: object) -> bool:
        return key == 2


class _Round(nn.ModuleList):
    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index % len(self))


class _Twice(set):  # type: ignore[type-arg]
    def add(self, value: Any) -> None:
        super().add(value * 2)


class _Above(list):  # type: ignore[type-arg]
    def append(self, value: Any) -> None:
        super().append(value if value > 0 else 0)


class _FromTheEnd(list):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return list.__getitem__(self, -1 - index)


_MODULES = _Round([nn.ReLU(), nn.Tanh()])
_PARAMETERS = nn.ParameterList([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]).requires_grad_(False)


def membership(x: Tensor) -> Any:
    place = _place(x)
    return (
        place in _Doubled((0, 1, 2)),
        place + 3 in _Doubled((0,)),
        place in _Contrary({0: 1}),
        place + 1 in _Contrary(),
    )


def looking_up(x: Tensor) -> Any:
    return _Contrary({0: 1, 1: 2}).get(_place(x)), _Contrary({0: 1, 1: 2, 2: 3})[_place(x)]


def indexing_modules(x: Tensor) -> Any:
    return _MODULES[_place(x) + 2](x)


def indexing_parameters(x: Tensor) -> Any:
    if x.sum() > 0:
        return _PARAMETERS[int(x.argmax())] + x
    return _PARAMETERS[-1 - int(x.argmax())]


def adding_to_a_set(x: Tensor) -> Any:
    found = _Twice()
    found.add(_place(x) + 1)
    return sorted(found)


def appending(x: Tensor) -> Any:
    found = _Above()
    found.append(x[0])
    return found[0]


def finding(x: Tensor) -> Any:
    items = _FromTheEnd([1, 2, 3])
    return items.index(_place(x) + 1), items.count(_place(x) + 1)


@refused("DY001")
def indexing_a_list(x: Tensor) -> Any:
    return _FromTheEnd([1, 2, 3])[_place(x)]


def partial_of_a_partial(x: Tensor) -> Any:
    first = functools.partial(max, 1)
    if x.sum() > 0:
        x = -x
    return functools.partial(first, 2).func is max, functools.partial(first, 2).args, x


class _ByFirst(NamedTuple):
    first: Any
    second: Any

    def __eq__(self, other: Any) -> Any:
        return self.first == other[0]

    __hash__ = tuple.__hash__


class _Positive(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return bool(value > 0)


class _Number(metaclass=_Positive):
    pass


def equality_of_a_named_tuple(x: Tensor) -> Any:
    pair = _ByFirst(int(x.sum()), 2)
    return pair == (2, 0), (2, 0) == pair, pair != (2, 0), pair in [(2,)]


def instances_told_by_the_class(x: Tensor) -> Any:
    return isinstance(int(x.sum()), _Number)


@refused("DY009")
def identity_of_a_tuple_of_numbers(x: Tensor) -> Any:
    one = (x.sum().item(), 1)
    other = one
    if x[0] > 0:
        x = x + 1
    return one is other


def list_as_an_index(x: Tensor) -> Any:
    rows = torch.stack([x, x + 1])
    with_warning = [rows.argmax() % 2, x.argmin()]
    return rows[tuple(with_warning)], rows[[int(x.argmax()), 0]], x[[x.argmax().item()]]


def written_at_no_place(x: Tensor) -> Any:
    copied = x.clone()
    copied[[]] = 1.0
    copied[torch.tensor([place for place in range(2) if x[place] > 5], dtype=torch.long)] = 2.0
    return copied


def part_of_a_constant_that_is_written(x: Tensor) -> Any:
    table, flags, rows = torch.arange(4), torch.tensor([True, False]), torch.ones(3, 2)
    one, rest, flag = table[int(x.argmax())], table[int(x.argmin()) :], flags[int(x.argmax())]
    row = rows[int(x.sum() > 0)]
    before = bool(flag)
    table += 1
    table[1] = 7
    flags.logical_not_()
    rows.mul_(2)
    return one, rest, before, bool(flag), x if row.sum() > 3 else -x


class _Placed(list[int]):
    __slots__ = ("number", "other")

    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.number = sum(items)


class _Precise(float):
    __slots__ = ("digits",)


def attributes_in_places(x: Tensor) -> Any:
    items, number = _Placed((1, 2)), _Precise(2.5)
    number.digits = items
    if x.sum() > 0:
        items.number += 1
    return items.number, hasattr(items, "other"), number.digits is items, float(number)


class _Answering(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 99


class _FewKeys(dict[str, Any]):
    def keys(self) -> Any:
        return ["a"]


class _Constant(list[Any]):
    def __getitem__(self, index: Any) -> Any:
        return 5


class _Short(list[Any]):
    def __len__(self) -> int:
        return 1


class _Others(list[Any]):
    def __iter__(self) -> Any:
        return iter([7, 8])


def compared_by_what_they_hold(x: Tensor) -> Any:
    number = int(x[0])
    others = _Others([3, number])
    others.sort()
    return (
        *(_Answering(a=number) == {"a": 1}, _FewKeys(a=number, b=2) == {"a": 1, "b": 2}),
        *(_Constant([number, 2]) == [1, 2], _Constant([number, 2]) < [1, 3], _Short([number, 2]) == [1, 2]),
        *(7 in _Others([number, 2]), number in _Others([3, 1]), others[0], others[1]),
    )


class _Hooked:
    """An object that makes attributes when it is asked for them."""

    scale_0 = 1.0

    def __getattr__(self, name: str) -> float:
        if name.startswith("scale_"):
            return float(name[6:]) * 10
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return []


class _Meta(type):
    m1 = 2


class _OfMeta(metaclass=_Meta):
    m0 = 10


_HOOKED, _LAYERS = _Hooked(), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())
_PROXY = types.MappingProxyType({0: 10, 1: 20, 20: 30})


def attributes_that_nobody_lists(x: Tensor) -> Any:
    try:
        return getattr(_HOOKED, f"scale_{int(x.argmin())}")
    except AttributeError:
        return -1.0


def attributes_of_a_metaclass(x: Tensor) -> Any:
    return getattr(_OfMeta, f"m{int(x.argmin())}")


def attributes_with_a_default(x: Tensor) -> Any:
    return getattr(_OfMeta, f"m{int(x.argmin()) + 1}", None)


def attributes_that_are_no_names(x: Tensor) -> Any:
    try:
        return getattr(_LAYERS, str(int(x.argmin()) + int(x.sum() > 1)))(x)
    except AttributeError:
        return "none"


def a_table_that_is_no_dict(x: Tensor) -> Any:
    try:
        return _PROXY[int(x.argmin()) - 1]
    except KeyError:
        return "none"


@refused("DY009")
def a_match_of_a_pattern(x: Tensor) -> Any:
    match = re.fullmatch("(.)(.)", "ab")
    return match and match[int(x.argmin())]


def an_ordered_dict_keeps_its_order(x: Tensor) -> Any:
    table = collections.OrderedDict({0: "a"})
    table.setdefault(int(x.argmin()), "n")
    return list(table), len(table)


def an_ordered_dict_forgets_what_is_taken(x: Tensor) -> Any:
    table = collections.OrderedDict({0: "a", 1: "b"})
    taken = table.pop(int(x.argmin()))
    table[2] = "c"
    return taken, list(table.items())
