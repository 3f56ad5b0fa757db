"""Read `dynamic_shapes`, as `torch.export` takes them: which sizes of an example call only the input determines.

A specification nests like the arguments it speaks of. For a tensor it says something of each dimension: `None`, a
number or `Dim.STATIC` keep the example's size, a `Dim` names it, `Dim.AUTO` and `Dim.DYNAMIC` leave it open.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export.dynamic_shapes import AdditionalInputs, Dim, ShapesCollection, _DerivedDim, _DimHint, _StaticDim

from dycl.hcfg.nodes import SizeRule
from dycl.hcfg.types import MAX_DIMENSION, Dimension, TensorType
from dycl.rewrite.signals import Refused
from dycl.rewrite.tensor_types import dtype_name

Specs = tuple[list[Any], dict[str, Any]]


def argument_specs(
    callee: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Specs:
    """The specification of each positional argument and of each keyword argument of a call."""
    if isinstance(dynamic_shapes, ShapesCollection | AdditionalInputs):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(callee, args, dict(kwargs))  # type: ignore[no-untyped-call]
    positional: list[Any] = [None] * len(args)
    keyword: dict[str, Any] = dict.fromkeys(kwargs)
    if dynamic_shapes is None:
        return positional, keyword
    parameters = _bound_parameters(callee, args, kwargs)
    specs = _by_key(dynamic_shapes, tuple(parameters), "`dynamic_shapes`", "the arguments")
    place = 0
    for name, kind in parameters.items():
        if kind is inspect.Parameter.VAR_POSITIONAL:
            rest = range(place, len(args))
            positional[place:] = _by_key(
                specs[name], tuple(rest), f"`dynamic_shapes` of `*{name}`", "the items"
            ).values()
            place = len(args)
        elif kind is inspect.Parameter.VAR_KEYWORD:
            others = tuple(key for key in kwargs if key not in parameters)
            keyword |= _by_key(specs[name], others, f"`dynamic_shapes` of `**{name}`", "the arguments")
        elif name in kwargs:
            keyword[name] = specs[name]
        else:
            positional[place] = specs[name]
            place += 1
    return positional, keyword


def _bound_parameters(
    callee: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, inspect._ParameterKind]:
    """The parameters that a call fills, in the order in which the function names them."""
    function = callee.forward if isinstance(callee, torch.nn.Module) else callee
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError) as error:
        raise Refused("DY013", f"the example arguments do not fit the model: {error}") from None
    return {name: signature.parameters[name].kind for name in bound}


def item_specs(spec: Any, keys: Sequence[Any], name: str) -> list[Any]:
    """The specifications of the items of a container, one a key."""
    return list(_by_key(spec, tuple(keys), f"`dynamic_shapes` of the argument `{name}`", "its items").values())


def _by_key(spec: Any, keys: tuple[Any, ...], place: str, items: str) -> dict[Any, Any]:
    """A container's specification as one for each of its keys; what it does not mention is left as it is."""
    if spec is None:
        return dict.fromkeys(keys)
    if dataclasses.is_dataclass(spec) and not isinstance(spec, type | _DimHint):
        spec = {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
    if isinstance(spec, Mapping):
        for key in spec:
            if key not in keys:
                known = ", ".join(f"`{known}`" for known in keys)
                raise Refused("DY015", f"{place} mentions `{key}`, but {items} are {known or 'none'}")
        return {key: spec.get(key) for key in keys}
    if not isinstance(spec, tuple | list):
        raise Refused("DY015", f"{place} is {_shown(spec)}, but {items} are {len(keys)}")
    if len(spec) != len(keys):
        raise Refused("DY015", f"{place} has {len(spec)} entries, but {items} are {len(keys)}")
    return dict(zip(keys, spec, strict=True))


class NamedSizes:
    """The sizes that a specification leaves open: their names, their rules, and what the example has for them."""

    def __init__(self) -> None:
        self._rules: dict[str, SizeRule] = {}
        self._examples: dict[str, tuple[int, str]] = {}

    @property
    def rules(self) -> tuple[SizeRule, ...]:
        """What the sizes of a call must keep to, where they may not be just any."""
        free = (0, MAX_DIMENSION)
        return tuple(rule for rule in self._rules.values() if rule.name != rule.root or (rule.least, rule.most) != free)

    def tensor_type(self, tensor: torch.Tensor, spec: Any, name: str) -> TensorType:
        """The type of an example tensor, with names for the sizes that its specification leaves open."""
        place = f"the argument `{name}`"
        specs = _dimension_specs(spec, tensor.dim(), place)
        shape = tuple(self._dimension(int(size), specs[axis], name, axis) for axis, size in enumerate(tensor.shape))
        return TensorType(dtype_name(tensor.dtype), shape)

    def _dimension(self, size: int, spec: Any, name: str, axis: int) -> Dimension:
        place = f"dimension {axis} of the argument `{name}`"
        match spec:
            case None:
                return size
            case bool():
                raise Refused("DY015", f"`dynamic_shapes` says {spec} of {place}, which is no size")
            case int() | _StaticDim():
                wanted = spec if isinstance(spec, int) else spec.value
                if wanted != size:
                    raise Refused("DY015", f"{place} is {size} in the example call, but {wanted} in `dynamic_shapes`")
                return size
            case _DimHint():
                if spec.type.name == "STATIC":
                    return size
                return self._named(SizeRule(*_bounds(f"{name}.{axis}", spec), f"{name}.{axis}"), size, place)
            case _DerivedDim():
                return self._named(_derived(spec, place), size, place)
            case Dim():
                return self._named(SizeRule(*_bounds(spec.__name__, spec), spec.__name__), size, place)
        raise Refused("DY015", f"`dynamic_shapes` says {_shown(spec)} of {place}, which is no size")

    def _named(self, rule: SizeRule, size: int, place: str) -> str:
        """The name of a size, once the example and what was said of the name before agree with it."""
        known = self._rules.setdefault(rule.name, rule)
        if known != rule:
            raise Refused("DY015", f"`dynamic_shapes` gives the size `{rule.name}` of {place} other bounds than before")
        root, rest = divmod(size - rule.offset, rule.factor)
        if rest:
            raise Refused("DY015", f"{place} is {size} in the example call, which is not {rule}")
        if not rule.least <= root <= rule.most:
            most = f" to {rule.most}" if rule.most < MAX_DIMENSION else " or more"
            raise Refused("DY015", f"{place} makes `{rule.root}` {root} in the example call, not {rule.least}{most}")
        first, first_place = self._examples.setdefault(rule.root, (root, place))
        if first != root:
            raise Refused(
                "DY015", f"{place} makes `{rule.root}` {root} in the example call, but {first_place} makes it {first}"
            )
        return rule.name


def _dimension_specs(spec: Any, rank: int, place: str) -> dict[int, Any]:
    """What a tensor's specification says of each dimension."""
    specs: dict[int, Any] = dict.fromkeys(range(rank))
    if spec is None:
        return specs
    if isinstance(spec, tuple | list):
        if len(spec) != rank:
            raise Refused("DY015", f"`dynamic_shapes` has {len(spec)} entries for {place}, which has {rank} dimensions")
        return dict(enumerate(spec))
    if not isinstance(spec, Mapping):
        raise Refused("DY015", f"`dynamic_shapes` says {_shown(spec)} of {place}, which is a tensor")
    for axis, size in spec.items():
        if type(axis) is not int or not -rank <= axis < rank:
            raise Refused("DY015", f"`dynamic_shapes` mentions dimension {axis!r} of {place}, which has {rank}")
        specs[axis % rank] = size
    return specs


def require_no_spec(spec: Any, name: str, kind: str) -> None:
    """Refuse a specification for an argument that is no tensor."""
    if spec is not None:
        raise Refused("DY015", f"`dynamic_shapes` says {_shown(spec)} of the argument `{name}`, which is {kind}")


def _bounds(name: str, spec: Any) -> tuple[str, int, int]:
    """A size's name with the least and the most that it may be."""
    least = spec.min if isinstance(spec.min, int) else 0
    return name, max(least, 0), spec.max if isinstance(spec.max, int) else MAX_DIMENSION


def _derived(spec: Any, place: str) -> SizeRule:
    """The rule of a size such as `2 * batch + 1`."""
    offset, once = int(spec.fn(0)), int(spec.fn(1))
    factor = once - offset
    if factor < 1 or int(spec.fn(1000)) != 1000 * factor + offset:
        raise Refused("DY015", f"the size `{spec.__name__}` of {place} is not a multiple of another one, plus a number")
    root, least, most = _bounds(spec.root.__name__, spec.root)
    return SizeRule(spec.__name__, least, most, root, factor, offset)


def _shown(spec: Any) -> str:
    return repr(spec) if isinstance(spec, int | float | str) else f"a {type(spec).__name__}"
