"""Turn in-place operations into plain ones while recording, and keep views in step with what they view.

    x.add_(1)           becomes   x' = add(x, 1), and `x` means x' from then on
    x[0].zero_()        becomes   v' = zeros, x' = select_scatter(x, v', 0, 0)

A view remembers the tensor it was taken from. Writing to a view rewrites that tensor, and so on up to the
one that owns the memory; any other view is taken afresh the next time it is read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.checked_before import checked_before
from dycl.rewrite.record.layouts import is_repeated, known_strides, may_be_repeated, repeated, widens
from dycl.rewrite.record.memory.overlap import View, lies_across
from dycl.rewrite.record.memory.put_back import put_back
from dycl.rewrite.record.memory.sharing import gives_view, is_alone, memory, sharing
from dycl.rewrite.record.memory.uncertain import may_copy, shared_where
from dycl.rewrite.record.operations import require_castable, tensors_in
from dycl.rewrite.record.schemas import name_of, parameters
from dycl.rewrite.record.sizes.needs import same_sizes
from dycl.rewrite.record.sizes.spellings import fill_diagonal
from dycl.rewrite.signals import Refused

__all__ = ["Aliases", "View", "memory", "plain_form"]

aten = torch.ops.aten


@dataclass(slots=True)
class Aliases:
    """The views of one block, and how often each tensor has been written."""

    own_memory: dict[int, torch.Tensor] = field(default_factory=dict)
    views: dict[int, View] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    entangled: dict[int, tuple[torch.Tensor, int]] = field(default_factory=dict)
    """Tensors that share memory with others of their group, in a way that this block no longer knows."""
    uncertain: list[View] = field(default_factory=list)
    """Tensors of which it depends on sizes whether they are views."""
    spoilt: dict[int, torch.Tensor] = field(default_factory=dict)
    """Those whose contents depend on that in a way that nobody knows: they must not be read."""
    outside_groups: set[int] = field(default_factory=set)
    """The groups that share memory with something else: the model's own tensors, or items of a list."""

    def note_views(
        self,
        func: OpOverload[Any, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        stand_in: Callable[[torch.Tensor], torch.Tensor],
    ) -> None:
        """Remember which results of a call share memory with its arguments."""
        several = isinstance(result, tuple | list)
        outputs = list(result) if several else [result]
        for place, known in enumerate(sharing(func, args, kwargs, outputs, stand_in)):
            if known is not None:
                self.note_view(func, args, kwargs, outputs[place], place if several else None, known)

    def note_view(
        self,
        func: OpOverload[Any, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        output: torch.Tensor,
        position: int | None,
        known: tuple[torch.Tensor, bool],
    ) -> None:
        """Remember that a result shares memory with an argument, or that it does for some sizes."""
        parent, certain = known
        if output is parent:
            return
        if may_be_repeated(parent, output.shape if widens(func) else parent.shape):
            repeated(output)
        view = View(output, parent, func, args, kwargs, position, self.versions.get(id(parent), 0))
        if certain and not (is_repeated(parent) and may_copy(func)):
            self.views[id(output)] = view
        else:
            self.uncertain.append(view)

    def settle(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, recorder: Records
    ) -> Any:
        """What a call that was taken apart gave, sharing memory with its arguments exactly where PyTorch does."""
        if gives_view(func):
            return result
        several = isinstance(result, tuple | list)
        outputs = list(result) if several else [result]
        owners = {id(self.owner(tensor)) for tensor in tensors_in((args, kwargs))}
        for place, known in enumerate(sharing(func, args, kwargs, outputs, lambda tensor: tensor)):
            output = outputs[place]
            shares = isinstance(output, torch.Tensor) and id(self.owner(output)) in owners
            if known is None and shares:
                with recorder:
                    outputs[place] = aten.clone.default(output)
            elif known is not None and not shares:
                self.note_view(func, args, kwargs, output, place if several else None, known)
        return type(result)(outputs) if type(result) in (tuple, list) else result if several else outputs[0]

    def require_writable(self, tensor: torch.Tensor, recorder: Records) -> None:
        """Refuse to write to memory that another tensor sees, or may see, without this block knowing how."""
        for written in (tensor, *self.linked(tensor).values()):
            sharing = self.sharing(written)
            if sharing:
                recorder.views_are_written(sharing)
            owner = self.owner(written)
            if not isinstance(owner, FakeTensor) and memory(owner) not in self.own_memory:
                recorder.kept_tensor_is_written(owner)

    def sharing(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensors from before this block that share memory with this one in a way that the block does not know."""
        known = self.entangled.get(id(tensor)) or self.entangled.get(id(self.owner(tensor)))
        return [] if known is None else [other for other, key in self.entangled.values() if key == known[1]]

    def share_outside(self, tensor: torch.Tensor) -> None:
        """Note that a list got a copy of this tensor, where Python would have put the tensor itself."""
        owner = self.owner(tensor)
        if id(owner) not in self.entangled:
            self.entangled[id(owner)] = (owner, -memory(owner))
        self.outside_groups.add(self.entangled[id(owner)][1])

    def is_shared_outside(self, tensor: torch.Tensor) -> bool:
        """Whether something else may be this very tensor, in a way that the block does not know."""
        known = self.entangled.get(id(self.owner(tensor)))
        return known is not None and known[1] in self.outside_groups

    def entangle(self, source: torch.Tensor, copy: torch.Tensor) -> None:
        """Note that a copy of `source` stands where the program has the same memory: neither may be written."""
        owner = self.owner(source)
        for tensor in (owner, copy):
            self.entangled.setdefault(id(tensor), (tensor, memory(owner)))

    def stands_for_another(self, tensor: torch.Tensor) -> bool:
        """Whether this is the copy where the program has the memory of another tensor, in an order of its own."""
        known = self.entangled.get(id(tensor)) or self.entangled.get(id(self.owner(tensor)))
        return known is not None and known[1] != memory(known[0])

    def mutate(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an in-place operation as a plain one and let its first argument mean the result."""
        taken = parameters(func)
        if "out" in kwargs and "out" in taken.written:
            return self._fill_out(func, args, kwargs, recorder)
        target = args[0]
        if name_of(func) in ("aten.resize_as_.default", "aten.resize_.default"):
            wanted = args[1].shape if isinstance(args[1], torch.Tensor) else args[1]
            if tuple(wanted) == tuple(target.shape):
                return target
        if not isinstance(target, torch.Tensor) or taken.written != taken.names[:1]:
            raise Refused("DY004", f"`{func}` writes to a tensor in a way that has no translation")
        self.require_writable(target, recorder)
        self._require_alone(target)
        self.refresh(target, recorder)
        if torch.Tag.inplace_view in func.tags:
            return self._reshape(func, args, kwargs, recorder)
        self._require_no_overlap(func, target, tensors_in((args[1:], kwargs)))
        with recorder:
            value = plain_form(func)(*args, **kwargs)
            if value.dtype != target.dtype:
                require_castable(value.dtype, target.dtype)
                value = aten._to_copy.default(value, dtype=target.dtype)
            if recorder.type_of(value).shape != recorder.type_of(target).shape:
                value = aten.expand.default(value, target.shape)
        self._write(target, value, recorder)
        self._spread(target, recorder)
        return target

    def _require_alone(self, target: torch.Tensor) -> None:
        """Refuse to write what depends on the input to memory that an array lies in, too."""
        if not is_alone(self.owner(target)):
            reason = "a tensor that shares its memory with an array or a buffer is given what depends on the input"
            raise Refused("DY006", reason, "change a copy: `y = y.clone()`")

    def _require_no_overlap(
        self, func: OpOverload[Any, Any], target: torch.Tensor, others: Iterable[torch.Tensor]
    ) -> None:
        """Refuse a write that PyTorch refuses or does not define: to several elements in one place, or from across."""
        axes = zip(target.shape, known_strides(target), strict=True)
        if any(
            isinstance(stride, int) and stride == 0 and (isinstance(size, torch.SymInt) or size != 1)
            for size, stride in axes
        ):
            reason = "a tensor is changed in place of which several elements are one, which PyTorch refuses"
            raise Refused("DY006", reason, "change a copy: `y = y.clone()`")
        own, by_place = self.owner(target), torch.Tag.pointwise in func.tags or func is aten.copy_.default
        for other in others:
            if self.owner(other) is own and lies_across(target, other, self.views, by_place):
                reason = (
                    "a tensor is changed in place by one that lies across it in memory, which PyTorch does not define"
                )
                raise Refused("DY006", reason, "use a copy: `y.clone()`")

    def _fill_out(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an operation that puts its result into `out` as one that returns it."""
        target, rest = kwargs["out"], {name: value for name, value in kwargs.items() if name != "out"}
        if not isinstance(target, torch.Tensor):
            raise Refused("DY008", f"`{func}` writes to a tensor whose shape depends on a size that is open")
        self.require_writable(target, recorder)
        self._require_alone(target)
        self.refresh(target, recorder)
        self._require_no_overlap(func, target, tensors_in((args, rest)))
        with recorder:
            value = _without_out(func)(*args, **rest)
            if value.dtype != target.dtype:
                require_castable(value.dtype, target.dtype)
                value = aten._to_copy.default(value, dtype=target.dtype)
        if not same_sizes(value.shape, target.shape):
            raise Refused("DY004", f"`{func}` changes the shape of its `out`")
        self._write(target, value, recorder)
        self._spread(target, recorder)
        return target

    def _spread(self, written: torch.Tensor, recorder: Records) -> None:
        """Let the tensors that share memory with one that was written, if they do, have what was written there."""
        waiting, seen = [self.owner(written)], {id(self.owner(written))}
        while waiting:
            own = waiting.pop()
            for view in list(self.uncertain):
                ends = (self.owner(view.parent), self.owner(view.tensor))
                other = next((end for end in ends if end is not own), own)
                if any(end is own for end in ends) and id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)
                    self._write_if_shared(view, other, recorder)

    def _write_if_shared(self, view: View, other: torch.Tensor, recorder: Records) -> None:
        """Write to one of two tensors what the other has, if they share memory."""
        shares = shared_where(view, recorder)
        if shares is None or any(id(self.owner(end)) in self.spoilt for end in (view.parent, view.tensor)):
            self.spoilt[id(other)] = other
            return
        target, source = (view.tensor, view.parent) if other is self.owner(view.tensor) else (view.parent, view.tensor)
        self.refresh(source, recorder)
        self.refresh(target, recorder)
        known = len(self.uncertain)
        with recorder:
            there = aten.reshape.default(source, target.shape)
            value = aten.where.self(shares, there, target)
        del self.uncertain[known:]  # nobody has what was put into the right shape on the way
        self.views.pop(id(there), None)
        self._write(target, value, recorder)

    def linked(self, tensor: torch.Tensor) -> dict[int, torch.Tensor]:
        """The owners of all memory that may be this tensor's."""
        own = self.owner(tensor)
        found = {id(own): own}
        pairs = [(self.owner(view.parent), self.owner(view.tensor)) for view in self.uncertain]
        while True:
            more = [pair for pair in pairs if (id(pair[0]) in found) != (id(pair[1]) in found)]
            if not more:
                return found
            found.update((id(end), end) for pair in more for end in pair)

    def _reshape(
        self, func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records
    ) -> Any:
        """Record an operation that changes a tensor's own shape (`squeeze_`, `t_`)."""
        target = args[0]
        viewed = id(target) in self.views or any(view.parent is target for view in self.views.values())
        if viewed or not isinstance(target, FakeTensor):
            raise Refused("DY006", f"`{func}` changes the shape of a tensor that shares memory with another one")
        for size in target.shape:
            if isinstance(size, torch.SymInt):
                recorder.materialise(size)  # later, this tensor has it in another dimension
        with recorder:
            value = plain_form(func)(*args, **kwargs)
        recorder.track(target, recorder.ref(value))
        self.views.pop(id(value), None)
        with recorder.fake_mode:
            func(*args, **kwargs)
        return target

    def _write(self, target: torch.Tensor, value: torch.Tensor, recorder: Records) -> None:
        recorder.track(target, recorder.ref(value))
        self.versions[id(target)] = self.versions.get(id(target), 0) + 1
        view = self.views.get(id(target))
        if view is None:
            return
        with recorder, checked_before(), recorder.waiting_like(target):
            parent_value = put_back(view, value)
        self._write(view.parent, parent_value, recorder)
        view.parent_version = self.versions[id(view.parent)]

    def note_constant_written(self, written: int) -> None:
        """Let views at places that the input chooses show what was written to the constant in this memory."""
        parents = {id(view.parent): view.parent for view in self.views.values()}
        for parent in parents.values():
            if not isinstance(parent, FakeTensor) and memory(parent) == written:
                self.versions[id(parent)] = self.versions.get(id(parent), 0) + 1

    def refresh(self, tensor: torch.Tensor, recorder: Records) -> None:
        """Take a view afresh if what it views has been written since."""
        if id(self.owner(tensor)) in self.spoilt:
            reason = "whether this tensor shares memory with one that was changed in place depends on sizes"
            raise Refused("DY006", reason, "change a copy: `y = y.clone()`")
        view = self.views.get(id(tensor))
        if view is None:
            return
        self.refresh(view.parent, recorder)
        version = self.versions.get(id(view.parent), 0)
        if version == view.parent_version:
            return
        view.parent_version = version
        with recorder:
            result = view.func(*view.args, **view.kwargs)
        again = result if view.position is None else result[view.position]
        self.views.pop(id(again), None)
        recorder.track(tensor, recorder.ref(again))
        self.versions[id(tensor)] = self.versions.get(id(tensor), 0) + 1

    def owner(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor that a view was taken from, through however many views."""
        view = self.views.get(id(tensor))
        return tensor if view is None else self.owner(view.parent)


_PLAIN_FORMS: dict[str, Any] = {
    "aten.copy_.default": lambda target, source, non_blocking=False: aten.expand.default(
        aten._to_copy.default(source, dtype=target.dtype), target.shape
    ),
    "aten.zero_.default": aten.zeros_like.default,
    "aten.fill_.Scalar": aten.full_like.default,
    "aten.fill_.Tensor": lambda target, value: aten.expand.default(
        aten._to_copy.default(value, dtype=target.dtype), target.shape
    ),
    "aten.fill_diagonal_.default": fill_diagonal,
    "aten.detach_.default": lambda target: target,
    "aten.transpose_.default": aten.transpose.int,
    "aten.floor_divide_.Tensor": aten.floor_divide.default,
    "aten.ldexp_.default": aten.ldexp.Tensor,
    "aten.__ilshift__.Scalar": aten.bitwise_left_shift.Tensor_Scalar,
    "aten.__irshift__.Scalar": aten.bitwise_right_shift.Tensor_Scalar,
    # The plain overloads of this name take the tensor as the power.
    "aten.pow_.Scalar": aten.pow.Tensor_Scalar,
    "aten.pow_.Tensor": aten.pow.Tensor_Tensor,
    "aten.float_power_.Scalar": aten.float_power.Tensor_Scalar,
    "aten.float_power_.Tensor": aten.float_power.Tensor_Tensor,
}


_OPERATORS = {
    "__iand__": "bitwise_and",
    "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift",
    "__irshift__": "bitwise_right_shift",
}


def plain_form(func: OpOverload[Any, Any]) -> Any:
    """The operation that computes what an in-place one would store."""
    name = name_of(func)
    if name in _PLAIN_FORMS:
        return _PLAIN_FORMS[name]
    base = func._schema.name.removeprefix("aten::")
    packet = getattr(aten, _OPERATORS.get(base, base.removesuffix("_")), None)
    overload = getattr(packet, func._overloadname, None) if packet is not None else None
    if overload is None or overload._schema.is_mutable:
        raise Refused("DY004", f"`{name}` changes a tensor in place and has no plain form")
    return overload


def _without_out(func: OpOverload[Any, Any]) -> Any:
    """The operation that returns what this one puts into `out`."""
    names = [argument.name for argument in func._schema.arguments if argument.name != "out"]
    kinds = [str(argument.type) for argument in func._schema.arguments if argument.name != "out"]
    packet = func._overloadpacket
    for name in packet.overloads():  # type: ignore[no-untyped-call]
        overload = getattr(packet, name)
        arguments = overload._schema.arguments
        same = [item.name for item in arguments] == names and [str(item.type) for item in arguments] == kinds
        if same and not overload._schema.is_mutable:
            return overload
    raise Refused("DY004", f"`{func}` has no form that returns its result")
