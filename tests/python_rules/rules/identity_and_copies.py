"""What a state keeps of objects across a decision: their identity, order, attributes and fields."""

import collections
import copy
import dataclasses
import http
import itertools
import functools
import inspect
import re
import types
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from tests.python_rules.rule import refused


def order_of_attributes(x: Tensor) -> Any:
    thing = types.SimpleNamespace(second=1, first=2)
    if x.sum() > 0:
        thing.another = 3
    return x, list(vars(thing)), list(vars(thing).values())


def order_of_a_set(x: Tensor) -> Any:
    numbers = {8, 0, 16}
    if x.sum() > 0:
        x = x + 1
    return x, list(numbers), sorted(numbers)


def id_as_a_key(x: Tensor) -> Any:
    items, y = [1], x * 2
    known = {id(items): 5, id(y): 6}
    same = id(items)
    if x.sum() > 0:
        x = x + 1
    return x, known[id(items)], known[id(y)], same == id(items), id(items) == id(y)


@refused("DY009")
def number_computed_from_an_id(x: Tensor) -> Any:
    items = [1]
    return x + id(items) % 2 if x.sum() > 0 else x


class _Thing:
    pass


def hash_of_an_object(x: Tensor) -> Any:
    thing = _Thing()
    number, known = hash(thing), {thing: 5}
    if x.sum() > 0:
        x = x + 1
    return x, number == hash(thing), known[thing]


@refused("DY009")
def identity_of_tuples(x: Tensor) -> Any:
    one = (1, [2])
    other = one
    if x.sum() > 0:
        x = x + 1
    return x, one is other


def different_tuples(x: Tensor) -> Any:
    one, other = (1, [2]), (1, [2])
    if x.sum() > 0:
        x = x + 1
    return x, one is other, one is not None


def what_a_function_goes_by(x: Tensor) -> Any:
    def double(value: Tensor, *, by: int = 2) -> Tensor:
        """Twice the value."""
        return value * by

    @functools.wraps(double)
    def wrapper(*args, **kwargs):
        return double(*args, **kwargs)

    if x.sum() > 0:
        x = x + 1
    told = (
        wrapper.__name__,
        wrapper.__doc__,
        wrapper.__wrapped__ is double,
        sorted(double.__annotations__),
    )
    return wrapper(x), told, str(inspect.signature(wrapper, follow_wrapped=True).parameters["by"].default)


def fields_of_errors(x: Tensor) -> Any:
    found = []
    for make in (
        lambda: OSError(2, "no", "file"),
        lambda: StopIteration(4),
        lambda: KeyError("a"),
        lambda: SystemError(1),
    ):
        try:
            raise make() from ValueError("why")
        except Exception as error:
            if x.sum() > 0:
                x = x + 1
            found.append(
                (error.args, getattr(error, "errno", None), getattr(error, "value", None), str(error.__cause__))
            )
    return x, found


class _Buffer(collections.deque):
    def __init__(self, size):
        super().__init__(maxlen=size)
        self.size = size


class _Tags(set):
    pass


class _Names(list):
    def __getitem__(self, index):
        return "n" + str(list.__getitem__(self, index))


def containers_with_a_class_of_their_own(x: Tensor) -> Any:
    buffer, tags, names = _Buffer(2), _Tags([1]), _Names([1, 2])
    tags.kind = 3
    if x.sum() > 0:
        buffer.append(1)
        tags.add(2)
    return x, list(buffer), buffer.size, sorted(tags), tags.kind, [name for name in names], names[0]


class _Slotted:
    __slots__ = ("__hidden", "__weakref__", "value")

    def __init__(self, value):
        self.value, self.__hidden = value, value * 2

    def hidden(self):
        return self.__hidden


def slots(x: Tensor) -> Any:
    thing = _Slotted(x)
    if x.sum() > 0:
        thing.value = x + 1
    return thing.value, thing.hidden()


def results_with_names(x: Tensor) -> Any:
    best, sorted_ = x.max(0), torch.sort(x)
    if x.sum() > 0:
        x = x + 1
    return x, best.values, best.indices, sorted_.values, type(best).__name__


def containers_that_hold_themselves(x: Tensor) -> Any:
    items: list = [1]
    items.append(items)
    if x.sum() > 0:
        items.append(2)
    return x, len(items), items[1] is items, items[1][0]


def changed_while_gone_through(x: Tensor) -> Any:
    known = {"a": 1, "b": 2}
    try:
        for key in known:
            if x.sum() > 0:
                known[key + "c"] = 3
    except RuntimeError as error:
        return x, str(error), sorted(known)
    return x, sorted(known)


def values_replaced_while_gone_through(x: Tensor) -> Any:
    known, seen = {"a": 1, "b": 2, "c": 3}, []
    for key, value in known.items():
        if x[0] > 0:
            known["c"] = value + 10
        seen.append((key, value))
    return x, seen


def at_its_end_for_good(x: Tensor) -> Any:
    items = [1, 2]
    iterator = iter(items)
    for _ in iterator:
        if x.sum() > 5:
            x = x + 1
    items.append(3)
    return x, list(iterator)


@refused("DY009")
def arrays_that_share_memory(x: Tensor) -> Any:
    array = np.zeros(3, np.float32)
    part = array[1:]
    if x.sum() > 0:
        part[0] = 5
    return torch.from_numpy(array), x


def generators_for_containers(x: Tensor) -> Any:
    seen = {0}
    seen.update(place for place in [1, 2] if x[0] > place)
    last = collections.deque((place for place in range(1) if x.sum() > 0), maxlen=2)
    return x, sorted(seen), list(last), sorted(frozenset(place for place in range(2) if x[1] > 0))


def counted_from_far(x: Tensor) -> Any:
    return x, [number - 2**63 for number, _ in enumerate("abc", 2**63) if x.sum() > 0]


def not_bound_yet(x: Tensor) -> Any:
    def reads():
        return y

    found = []
    for read in (reads, lambda: y):
        try:
            found.append(read() if x.sum() > 0 else y)
        except UnboundLocalError as error:
            found.append("local: " + str(error))
        except NameError as error:
            found.append("free: " + str(error))
    y = 3
    return x, found, reads()


def class_made_in_the_call(x: Tensor) -> Any:
    thing = _made([])()
    if x.sum() > 0:
        x = x + 1
    thing.close()
    return x, len(thing.state)


def _made(held):
    class Made:
        state = held

        def close(self):
            held.append(1)

    return Made


class _Holder:
    thing = _Thing = type("Thing", (), {})()
    items: list = []


def held_by_a_class(x: Tensor) -> Any:
    holder = _Holder()
    thing = holder.thing
    if x.sum() > 0:
        x = x + 1
    return x, thing is holder.thing, thing is _Holder.thing


def taken_and_put_back_while_gone_through(x: Tensor) -> Any:
    found, numbers = [], {0: "a"}
    try:
        for number in numbers:
            found.append(number if x.sum() > 0 else -1)
            del numbers[0]
            numbers[0] = "b"
    except RuntimeError as error:
        found.append(str(error))
    return x, found


@refused("DY009")
def taken_and_put_back_around_a_decision(x: Tensor) -> Any:
    found, numbers = [], {0: "a"}
    try:
        for number in numbers:
            del numbers[0]
            numbers[0] = "b" if x.sum() > 0 else "c"
    except RuntimeError as error:
        found.append(str(error))
    return x, found


def iterators_of_the_library(x: Tensor) -> Any:
    joined = itertools.chain([1, 2], [3, 4])
    for value in joined:
        if x.sum() > 0:
            break
        x = x + value
    return x, list(joined), value


def raises_when_asked(x: Tensor) -> Any:
    numbers = map(int, ["1", "x"])
    if x.sum() > 0:
        x = x + next(numbers)
    try:
        list(numbers)
    except ValueError as error:
        return x, str(error)
    return x, ""


def class_made_by_type(x: Tensor) -> Any:
    made = type("Made", (), {"value": 1})
    if x.sum() > 0:
        made.value = 2
    return x, made.value, made.__module__ == __name__


def members_of_libraries_enumerations_are_one(x: Tensor) -> Any:
    found = [http.HTTPStatus.OK, re.IGNORECASE, inspect.Parameter.KEYWORD_ONLY, SDPBackend.MATH, dataclasses.MISSING]
    if x[0] > 0:
        x = x + 1
    known = (http.HTTPStatus.OK, re.I, inspect.Parameter.KEYWORD_ONLY, SDPBackend.MATH, dataclasses.MISSING)
    return [one is other for one, other in zip(found, known, strict=True)], x


def a_dataclass_of_the_call_keeps_its_fields(x: Tensor) -> Any:
    @dataclasses.dataclass
    class Pair:
        first: int = 2
        second: int = 3

    pair = Pair()
    if x[0] > 0:
        pair.first = 5
    return dataclasses.astuple(pair), dataclasses.asdict(pair), [field.name for field in dataclasses.fields(Pair)]


def a_signature_keeps_the_kinds_of_its_parameters(x: Tensor) -> Any:
    signature = inspect.signature(lambda first, *rest, last=1: None)
    if x[0] > 0:
        x = x + 1
    return [one.kind is one.VAR_POSITIONAL for one in signature.parameters.values()], x


class _Plain:
    """An object without a text or hash of its own."""


@dataclasses.dataclass(frozen=True)
class _Record:
    held: Any
    number: int = 1


@refused("DY009")
def the_text_of_an_object_tells_its_address(x: Tensor) -> Any:
    made = _Plain()
    known = {repr(made): 1}
    if x[0] > 0:
        x = x + 1
    return x * known.get(repr(made), -1)


@refused("DY009")
def the_hash_of_what_holds_an_object_hangs_on_it(x: Tensor) -> Any:
    holder = _Record(_Plain())
    known = {hash(holder): 1}
    if x[0] > 0:
        x = x + 1
    return known.get(hash(holder), -1), x


@refused("DY009")
def the_hash_of_a_tuple_with_a_tensor_in_it(x: Tensor) -> Any:
    doubled = x * 2
    before = hash((doubled, 1))
    if x[0] > 0:
        doubled.add_(1)
    return hash((doubled, 1)) == before


def the_hash_of_what_holds_none_stays(x: Tensor) -> Any:
    holder = _Record("a", 2)
    before = hash(holder)
    if x[0] > 0:
        x = x + 1
    return hash(holder) == before, hash(("a", (1, 2.5))) == hash(("a", (1, 2.5))), x


@refused("DY009")
def objects_have_no_order(x: Tensor) -> Any:
    first, second = _Plain(), _Plain()
    before = id(first) < id(second)
    if x[0] > 0:
        x = x + 1
    return (id(first) < id(second)) == before, x


@refused("DY009")
def notes_of_an_earlier_copy_go_by_addresses(x: Tensor) -> Any:
    shared = {"t": x}
    notes: dict[int, Any] = {}
    first = copy.deepcopy({"a": shared}, notes)
    if x[0] > 0:
        first["a"]["t"] = x * 5
    return copy.deepcopy({"b": shared}, notes)["b"]["t"]


def _number(value: Any) -> int:
    return id(value)


def helpers_that_tell_objects_apart_are_followed(x: Tensor) -> Any:
    made, other = _Plain(), [x, x * 2]
    known, seen, places = _number(made), {id(one) for one in other}, {id(one): place for place, one in enumerate(other)}
    hashed, own = made.__hash__(), hash(made)
    if x[0] > 0:
        other.reverse()
    found = [places[id(one)] for one in other]
    return (
        _number(made) == known,
        [id(one) in seen for one in other],
        found,
        made.__hash__() == hashed,
        hash(made) == own,
    )


@refused("DY009")
def addresses_are_not_kept_where_a_builtin_asks_for_them(x: Tensor) -> Any:
    made = _Plain()
    seen = set(map(id, [made]))
    if x[0] > 0:
        x = x + 1
    return id(made) in seen, x
