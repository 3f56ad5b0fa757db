"""What a model may ask of tensors that a program does not keep: how they lie in memory, and of which mode they are.

Nor may it give a tensor another memory, which PyTorch tells nobody of.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch

from dycl.rewrite.normalise.contexts import DERIVATIVES
from dycl.rewrite.record.operations import tensors_in
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.record.sizes.sampled_shapes import symbols_in
from dycl.rewrite.signals import Refused

_FUNCTIONS: dict[tuple[Any, str], str] = {
    (torch, "is_inference_mode_enabled"): "whether inference mode is on",
    (torch, "is_inference"): "whether a tensor was made in inference mode",
    (torch.Tensor, "is_inference"): "whether a tensor was made in inference mode",
    (torch.Tensor, "_is_view"): "whether a tensor is a view",
    (torch.Tensor, "storage_offset"): "where a tensor begins in memory",
}
_BY_ELEMENTS = ("apply_", "map_", "map2_")
_TELL_PLACES = ("data_ptr",)
_GIVE_ARRAYS = ("numpy", "__array__")
_MEMORY = (*_BY_ELEMENTS, *_TELL_PLACES, *_GIVE_ARRAYS, "untyped_storage", "storage", "_typed_storage")
_PROPERTIES = {"_base": "of which tensor another one is a view", "_version": "how often a tensor has been changed"}
_DATA: Any = torch.Tensor.data
_MAY_SET = ("torch._", "dycl.rewrite.state.")
_MAY_KNOW = ("torch.", "dycl.rewrite.record.", "dycl.rewrite.state.")


def replacements(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """Functions that refuse to tell the model, and tell PyTorch and DyCL itself."""
    functions = [(home, name, _told(getattr(home, name), what)) for (home, name), what in _FUNCTIONS.items()]
    properties = [
        (torch.Tensor, name, property(_told(getattr(torch.Tensor, name).__get__, what)))
        for name, what in _PROPERTIES.items()
    ]
    data = (torch.Tensor, "data", property(_DATA.__get__, _set_data))
    memory = [(torch.Tensor, name, _known_memory(name, recorder)) for name in _MEMORY]
    order = (torch.Tensor, "dim_order", _known_order)
    return [*functions, *properties, *memory, data, order, (torch, "is_grad_enabled", _asked_for_derivatives)]


def _set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
    # `module.to(...)` sets it to what it was where there is nothing to convert.
    may_set = value is tensor or sys._getframe(2).f_globals.get("__name__", "").startswith(_MAY_SET)
    if not may_set:
        raise Refused("DY009", "the attribute `data` of a tensor is set")
    _DATA.__set__(tensor, value)


def _asked_for_derivatives() -> bool:
    if not sys._getframe(2).f_globals.get("__name__", "").startswith(_MAY_KNOW):
        DERIVATIVES.ask()
    return _is_grad_enabled()


def _known_order(tensor: torch.Tensor, **kwargs: Any) -> Any:
    if symbols_in(tensor):
        raise Refused("DY001", "how a tensor lies in memory depends on a size that is open")
    return _DIM_ORDER(tensor, **kwargs)


_DIM_ORDER = torch.Tensor.dim_order
_is_grad_enabled = torch.is_grad_enabled


def _known_memory(name: str, recorder: Recorder) -> Callable[..., Any]:
    """A method that gets at a tensor's memory past all operations: a tensor that depends on the input has none.

    What is written there reaches all tensors in that memory, so these must not have come apart at a decision.
    """
    plain = getattr(torch.Tensor, name)

    def get(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if sys._getframe(2).f_globals.get("__name__", "").startswith(_MAY_KNOW):
            return plain(tensor, *args, **kwargs)
        if name not in _GIVE_ARRAYS and any(map(recorder.is_dynamic, tensors_in((tensor, *args)))):
            if name in _BY_ELEMENTS:
                what = f"`{name}` calls a Python function for each element of a tensor that depends on the input"
                raise Refused("DY004", what)
            raise Refused("DY001", "the memory of a tensor that depends on the input is asked for")
        apart = recorder.recording.aliases.sharing(tensor)
        if apart and name not in _TELL_PLACES:
            recorder.views_are_written(apart)
        return plain(tensor, *args, **kwargs)

    return get


def _told(plain: Callable[..., Any], what: str) -> Callable[..., Any]:
    def ask(*args: Any) -> Any:
        # One frame further is who asked: what tells threads apart stands between.
        asker = sys._getframe(2).f_globals.get("__name__", "")
        if asker.startswith(_MAY_KNOW):
            return plain(*args)
        raise Refused("DY004", f"the model asks {what}, which a compiled program cannot tell")

    return ask
