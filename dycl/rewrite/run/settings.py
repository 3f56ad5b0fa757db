"""The process while it rewrites: settings of PyTorch, and functions that must not run as they are."""

import builtins
import itertools
import logging
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

from dycl.rewrite.normalise.contexts import DERIVATIVES
from dycl.rewrite.own_code import is_library
from dycl.rewrite.own_thread import Replacement, is_compiling, replaced
from dycl.rewrite.record.memory.aliases import memory
from dycl.rewrite.record.recorder import Recorder
from dycl.rewrite.run import outside, untold
from dycl.rewrite.semantics.random_numbers import STAND_INS
from dycl.rewrite.signals import DecisionMet, Refused
from dycl.rewrite.state.pinned import Pinned
from dycl.rewrite.tensor_types import dress, dress_of

_DERIVATIVES = {
    torch.autograd: ("grad", "backward"),
    torch.autograd.functional: ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"),
    torch.func: ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "vjp", "jvp"),
    torch.Tensor: ("backward",),
}


@contextmanager
def rewriting(
    recorder: Recorder,
    pinned: Pinned,
    watch: Callable[[Any, str], None],
    names: Collection[str],
) -> Iterator[None]:
    """Settings of the process while it rewrites, for the thread that does.

    Attention takes its ordinary path, whose operations backends know. PyTorch does not log the shape rules that fail: a
    problem says so in its own words. A fake tensor has no text, and an open size no hash: the program would take it for
    the real one's. Derivatives, which do not exist here, are refused. Random functions are seen by the machine.
    The classes that the program makes are noted, and `watch` is told of the tables that it puts hooks into. `names` are
    those that its functions use.
    """
    build_class = builtins.__build_class__

    def told(*args: Any, **kwargs: Any) -> Any:
        cls = build_class(*args, **kwargs)
        pinned.note_class(cls)
        return cls

    replacements: list[Replacement] = [
        (builtins, "__build_class__", told),
        (torch.backends.mha, "get_fastpath_enabled", lambda: False),
        (FakeTensor, "__repr__", _no_text),
        (FakeTensor, "__str__", _no_text),
        (torch.SymInt, "__repr__", _no_text),
        (torch.SymInt, "__hash__", _no_hash),
        (torch.SymInt, "__array__", _no_array),
        *((module, name, _no_derivative(name)) for module, names in _DERIVATIVES.items() for name in names),
        *((module, name, stand_in) for (module, name), stand_in in STAND_INS.items()),
        *_without_dynamo(),
        (RemovableHandle, "__init__", _hook_handle(watch)),
        (RemovableHandle, "remove", _remove_hook),
        (torch.Tensor, "__deepcopy__", _deep_copy(recorder)),
        (torch.Tensor, "__reduce_ex__", _no_shallow_copy),
        (torch.Tensor, "__dlpack__", _no_export),
        (torch.utils, "swap_tensors", _no_swap),
        *untold.replacements(recorder),
        *outside.replacements(names, pinned),
        (threading.Thread, "start", _no_thread),
        *((mode, "__enter__", _no_mode(mode.__enter__)) for mode in (TorchFunctionMode, TorchDispatchMode)),
    ]
    DERIVATIVES.begin()
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    logger.addFilter(_not_from_here)
    try:
        with replaced(replacements), outside.nothing_outside(names):
            yield
    finally:
        logger.removeFilter(_not_from_here)


def _no_mode(enter: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What stands in for the beginning of a mode: one of the user's own would see DyCL's operations, too."""

    def enter_known(mode: Any) -> Any:
        if not is_library(type(mode).__module__):
            raise Refused("DY002", f"the mode `{type(mode).__name__}` looks at all of PyTorch's operations")
        return enter(mode)

    return enter_known


def _without_dynamo() -> list[Replacement]:
    """Let what `torch.compile` made run as it is, where it is run natively."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    # The number of compiled frames, which `fullgraph=True` wants to be at least one.
    answers = {"_callback_from_stance": None, "set_fullgraph_compiled_frame_count": 1}
    found = [(name, answer) for name, answer in answers.items() if hasattr(dynamo, name)]
    return [(dynamo, name, lambda _, answer=answer: answer) for name, answer in found]


_make_handle, _remove = RemovableHandle.__init__, RemovableHandle.remove
_FIRST_HOOK = 2**40


def _hook_handle(watch: Callable[[Any, str], None]) -> Callable[..., None]:
    def make(handle: RemovableHandle, hooks: dict[int, Any], *, extra_dict: Any = None) -> None:
        """A handle whose number depends on the hooks that are there alone, not on how often the call was tried."""
        for table in (hooks, *(extra_dict if isinstance(extra_dict, list) else [extra_dict])):
            watch(table, "the hooks of a module")
        _make_handle(handle, hooks, extra_dict=extra_dict)
        handle.id = next(number for number in itertools.count(_FIRST_HOOK) if number not in hooks)

    return make


def _remove_hook(handle: RemovableHandle) -> None:
    """Remove a hook; the handle's number may be another one's from now on."""
    _remove(handle)
    handle.id = -1


def _deep_copy(recorder: Recorder) -> Callable[..., torch.Tensor]:
    """What stands in for `deepcopy` of a tensor: an operation, where PyTorch copies memory past all operations."""

    def deep_copied(tensor: torch.Tensor, memo: dict[Any, Any]) -> torch.Tensor:
        if id(tensor) in memo:
            found: torch.Tensor = memo[id(tensor)]
            return found
        shared = ("memory", memory(tensor))
        view = recorder.recording.aliases.views.get(id(tensor))
        if view is not None and id(view.parent) in memo:
            parent = memo[id(view.parent)]
            args = [parent if part is view.parent else part for part in view.args]
            result = view.func(*args, **view.kwargs)
            copied: torch.Tensor = result if view.position is None else result[view.position]
        elif shared in memo:
            raise Refused("DY006", "tensors that share memory are copied together by `deepcopy`", "use `.clone()`")
        else:
            copied = dress(tensor.detach().clone(), *dress_of(tensor))
        known = all(isinstance(stride, int) for stride in (*copied.stride(), *tensor.stride()))
        if known and copied.stride() != tensor.stride():
            raise Refused("DY006", "a view that leaves out elements is copied by `deepcopy`", "use `.clone()`")
        memo[shared], memo[id(tensor)] = tensor, copied
        return copied

    return deep_copied


def _no_shallow_copy(tensor: torch.Tensor, protocol: int) -> Any:
    reason = "a tensor is copied by `copy.copy`, which gives a tensor in the same memory past all operations"
    raise Refused("DY006", reason, "use `.clone()`, or the tensor itself")


def _no_export(tensor: torch.Tensor, **_: Any) -> Any:
    reason = "a tensor is given away by DLPack, so that something else lies in its memory past all operations"
    raise Refused("DY006", reason, "use `.clone()`, or the tensor itself")


def _not_from_here(record: logging.LogRecord) -> bool:
    return not is_compiling()


def _no_text(value: torch.Tensor | torch.SymInt) -> str:
    raise DecisionMet("the text of a value that only the input determines")


def _no_hash(size: torch.SymInt) -> int:
    raise DecisionMet("the hash of a size that only the input determines")


def _no_array(size: torch.SymInt, *_: Any, **__: Any) -> Any:
    raise DecisionMet("a size that only the input determines, as an array,")


def _no_swap(*tensors: torch.Tensor) -> None:
    raise Refused("DY007", "`swap_tensors` lets two tensors change places under all of their names")


def _no_thread(thread: threading.Thread) -> None:
    raise Refused("DY002", "a thread is started while the model runs", "call the function directly")


def _no_derivative(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise Refused("DY002", f"`{name}` takes a derivative while the model runs", "write the derivative out by hand")

    return refuse
