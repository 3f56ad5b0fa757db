"""What builtins and PyTorch's functions do with lists whose length only the input determines."""

import builtins
import operator
from typing import Any

import torch

from dycl.hcfg.types import HostKind
from dycl.rewrite.normalise import patterns, syntax
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import DTYPES, HostValue, lift
from dycl.rewrite.semantics.contract import Running
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, Handler, handler_of, has_few_cases, item, truth
from dycl.rewrite.semantics.in_python import tensor_functions
from dycl.rewrite.semantics.in_python.signatures import fits
from dycl.rewrite.semantics.tensor_literals import NARROW, TYPED, require_narrow
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.items import NumberItem, TensorItem, template_of
from dycl.rewrite.state.tables import GrownList, Spread, grown
from dycl.rewrite.tensor_types import dtype_name


def apply(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], machine: Running) -> Any:
    """The result of a call that takes a list of unknown length, or `NOT_HANDLED` if it takes none or needs no help."""
    if type(attribute(callee, "__self__")) is GrownList:
        goes_through = callee.__name__ == "extend" and args and type(args[0]) not in (list, tuple, GrownList)
        return NOT_HANDLED if goes_through else callee(*args, **kwargs)
    if any(type(value) is Spread for value in args):
        return _display(callee, args)
    if callee is list and len(args) == 1 and isinstance(args[0], torch.Tensor):
        return _rows(machine, args[0])
    if callee is operator.getitem and len(args) == 2 and isinstance(args[1], slice):
        return _open_slice(machine, *args)
    if callee is operator.mul and any(type(value) is list for value in args):
        return _repeated(machine, *args)
    if not any(type(value) is GrownList for value in (*args, *kwargs.values())):
        return NOT_HANDLED
    handler = handler_of(callee, _HANDLERS)
    if handler is not None and fits(callee, args, kwargs):
        return handler(machine, args, kwargs)
    if attribute(callee, "__name__") in ("new_tensor",) and isinstance(callee.__self__, torch.Tensor):
        return _one_column(args[0]).to(callee.__self__.dtype)
    if attribute(callee, "__objclass__") is list and type(args[0]) is GrownList:
        return getattr(args[0], callee.__name__)(*args[1:], **kwargs)
    owner = attribute(callee, "__self__")
    if owner is torch._C._VariableFunctions or isinstance(owner, torch.Tensor):
        raise Refused("DY011", f"a list of unknown length is passed to `{callee.__name__}`")
    return NOT_HANDLED


def _display(callee: Any, parts: tuple[Any, ...]) -> Any:
    """`[a, *items, b]`."""
    if callee is not syntax.make_list:
        raise Refused("DY011", "a list of unknown length is spread over the arguments of a call")
    place = next(number for number, part in enumerate(parts) if type(part) is Spread)
    result = list(parts[:place]) + parts[place].items
    for part in parts[place + 1 :]:
        result.extend(part.items if type(part) is Spread else [part])
    return result


def _size(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0].size()


def _truth(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return truth(args[0], machine)


def _emptiness(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    full = truth(args[0], machine)
    return not full if isinstance(full, bool) else HostValue("bool", torch.logical_not(full.tensor), machine.recorder)


def _require_items(items: GrownList, machine: Running, error: str, message: str) -> None:
    full = truth(items, machine)
    machine.recorder.check(lift(full, "bool", machine.recorder).tensor, error, message)


def _get_item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if type(args[0]) is GrownList:
        return args[0][args[1]]
    if isinstance(args[0], torch.Tensor):
        return args[0][_one_column(args[1])]
    return NOT_HANDLED


def _open_slice(machine: Running, items: Any, index: slice) -> Any:
    """`items[:n]` of a known list, where only the input determines n."""
    bounds = [item(bound, machine) if _is_number_tensor(bound, machine) else bound for bound in _bounds(index)]
    if type(items) not in (GrownList, list):
        return NOT_HANDLED  # A tuple of unknown length there is not: the program goes on once for each bound.
    if type(items) is GrownList or not any(isinstance(bound, HostValue) for bound in bounds):
        return items[slice(*bounds)] if type(items) is GrownList else NOT_HANDLED
    table = _table(items, machine)
    if table is None:
        return NOT_HANDLED  # Items of several kinds: the program goes on once for each bound.
    return table[slice(*bounds)]


def _table(items: Any, machine: Running) -> GrownList | None:
    """Known items as a list of unknown length; None if they are not of one kind. It has copies of their tensors."""
    table = grown(items, machine.recorder)
    for found in [] if table is None else [template_of(part, machine.recorder) for part in items]:
        for value in [] if found is None else found[1]:
            machine.recorder.share_outside(value)
    return table


def _repeated(machine: Running, left: Any, right: Any) -> Any:
    """`items * n`, where only the input determines n and nothing bounds it."""
    items, number = (left, right) if type(left) is list else (right, left)
    if type(number) is HostArray and number.scalar:
        number = item(number.tensor, machine)
    if not isinstance(number, HostValue) or number.kind == "float" or has_few_cases(number, machine):
        return NOT_HANDLED
    table = _table(items, machine)
    if table is None:
        return NOT_HANDLED
    copies = torch.clamp(number.as_kind("int").tensor, min=0)
    count = HostValue("int", copies, machine.recorder).symbol()
    columns = [column.repeat(count, *(1 for _ in column.shape[1:])) for column in table.columns]
    return GrownList(table.template, columns, machine.recorder)


def _rows(machine: Running, tensor: torch.Tensor) -> Any:
    """`list(tensor)`, where only the input determines how many rows there are."""
    if tensor.dim() == 0 or isinstance(tensor.shape[0], int):
        return NOT_HANDLED
    machine.recorder.share_outside(tensor)
    return GrownList(TensorItem(dtype_name(tensor.dtype)), [tensor.clone()], machine.recorder)


def _bounds(index: slice) -> tuple[Any, Any, Any]:
    return index.start, index.stop, index.step


def _is_number_tensor(value: Any, machine: Running) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 0 and machine.recorder.is_dynamic(value)


def listed(tensor: torch.Tensor, machine: Running) -> Any:
    """`tensor.tolist()`, where only the input determines how many elements there are."""
    kind: HostKind = "bool" if tensor.dtype == torch.bool else "float" if tensor.is_floating_point() else "int"
    if tensor.dim() != 1:
        raise Refused("DY011", "`tolist` makes lists inside a list of unknown length")
    return GrownList(NumberItem(kind), [tensor.to(DTYPES[kind], copy=True)], machine.recorder)


def _set_item(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if type(args[0]) is GrownList:
        args[0][args[1]] = args[2]
        return None
    return NOT_HANDLED


def _one_column(items: Any) -> torch.Tensor:
    """The stacked values of a list of tensors or numbers."""
    if type(items) is not GrownList or not isinstance(items.template, TensorItem | NumberItem):
        raise Refused("DY011", "a list of unknown length, of other things than tensors or numbers, becomes a tensor")
    return items.columns[0]


def _stack(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    items = args[0] if args else kwargs["tensors"]
    column = _one_column(items)
    if not isinstance(items.template, TensorItem):
        raise TypeError("stack(): argument 'tensors' must be tuple of Tensors")
    _require_items(items, machine, "RuntimeError", "stack expects a non-empty TensorList")
    dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    # A copy: what the program does to the result must not reach the list.
    return torch.movedim(column, 0, dim).clone()


def _cat(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    items = args[0] if args else kwargs["tensors"]
    column = _one_column(items)
    if not isinstance(items.template, TensorItem):
        raise TypeError("cat(): argument 'tensors' must be tuple of Tensors")
    if column.dim() == 1:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    _require_items(items, machine, "ValueError", "torch.cat(): expected a non-empty list of Tensors")
    dim = kwargs.get("dim", args[1] if len(args) > 1 else 0) % (column.dim() - 1)
    return torch.flatten(torch.movedim(column, 0, dim), dim, dim + 1).clone()


def _tensor(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    items = args[0] if args else kwargs["data"]
    column = _one_column(items)
    dtype = kwargs.get("dtype")
    if dtype is None and items.template == NumberItem("float"):
        dtype = torch.get_default_dtype()
    if dtype in NARROW and items.template == NumberItem("int"):
        require_narrow(column, dtype, machine)
    return column.to(dtype, copy=True)


def _tensor_of_any_length(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return NOT_HANDLED if tensor_functions.may_be_of_no_type(*args, **kwargs) else _tensor(machine, args, kwargs)


def _typed(dtype: torch.dtype | None) -> Handler:
    """`torch.LongTensor(items)` and its like."""

    def make(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _tensor(machine, args, {"dtype": dtype or torch.get_default_dtype()})

    return make


def _copied(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0].copy()


def _reversed(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0][::-1]


def _sorted(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    items = args[0]
    if kwargs.get("key") is not None or not isinstance(items.template, NumberItem):
        raise Refused("DY011", "a list of unknown length is sorted by a key")
    values = torch.sort(items.columns[0], stable=True, descending=bool(kwargs.get("reverse"))).values
    return GrownList(items.template, [values], machine.recorder)


def _extreme(function: Any, builtin: Any) -> Handler:
    def extreme(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        items = args[0]
        if len(args) > 1 or kwargs or not isinstance(items.template, NumberItem):
            return NOT_HANDLED
        _require_items(items, machine, "ValueError", syntax.empty_message(builtin))
        return HostValue(items.template.kind, function(items.columns[0]), machine.recorder)

    return extreme


def _sum(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    items = args[0]
    if len(args) > 1 or kwargs or items.template not in (NumberItem("int"), NumberItem("bool")):
        return NOT_HANDLED
    return HostValue("int", torch.sum(items.columns[0]), machine.recorder)


def _contained(wanted: bool) -> Handler:
    def contained(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value, items = args
        if type(items) is not GrownList or isinstance(value, torch.Tensor):
            return NOT_HANDLED
        found = torch.any(items.places(value))
        return HostValue("bool", found if wanted else torch.logical_not(found), machine.recorder)

    return contained


def _has_length(compare: Any) -> Handler:
    """Whether a pattern of so many parts can match."""

    def matches(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return compare(args[0].size(), args[1])

    return matches


def _between(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a star in a pattern stands for."""
    items, before, behind = args
    return items[before : -behind if behind else None]


def _type(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return list if len(args) == 1 else NOT_HANDLED


def _tuple(machine: Running, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise Refused("DY011", "a list of unknown length becomes a tuple", "use the list itself")


_HANDLERS: dict[Any, Handler] = {
    type: _type,
    tuple: _tuple,
    patterns.is_sequence_of: _has_length(operator.eq),
    patterns.is_sequence_of_at_least: _has_length(operator.ge),
    patterns.items_between: _between,
    len: _size,
    bool: _truth,
    operator.not_: _emptiness,
    operator.getitem: _get_item,
    operator.setitem: _set_item,
    syntax.contained: _contained(True),
    syntax.not_contained: _contained(False),
    torch.stack: _stack,
    torch.cat: _cat,
    torch.concat: _cat,
    torch.concatenate: _cat,
    **dict.fromkeys(tensor_functions.TENSORS, _tensor_of_any_length),
    tensor_functions.tensor_of_some: _tensor,
    list: _copied,
    reversed: _reversed,
    sorted: _sorted,
    builtins.min: _extreme(torch.amin, min),
    builtins.max: _extreme(torch.amax, max),
    sum: _sum,
    **{kind: _typed(dtype) for kind, dtype in TYPED.items()},
}
