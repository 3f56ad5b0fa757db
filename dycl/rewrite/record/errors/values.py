"""What PyTorch refuses because of a tensor's values: an index that points nowhere, a whole number divided by zero.

The backend would count a negative index from the end, or give some number. So each such operation brings a check into
the block that records it. No check is needed where the values are known, or where how they came about bounds them: the
places that `argmax` and `topk` find are places.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors import indices, more_values
from dycl.rewrite.record.errors.checks import check, inside
from dycl.rewrite.record.errors.indices import along, bounds_message, length
from dycl.rewrite.record.errors.number_limits import require_taken
from dycl.rewrite.record.errors.numbers import RULES as NUMBERS
from dycl.rewrite.record.errors.numbers import not_below_zero
from dycl.rewrite.record.operations import ASSERTIONS
from dycl.rewrite.record.schemas import name_of
from dycl.rewrite.signals import Refused

_SOLVED = "aten._linalg_check_errors.default"


def require_valid(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Records, asks: bool
) -> tuple[Any, ...]:
    """Let the program raise the error that PyTorch raises for some values of these arguments.

    Gives arguments that the backend can compute with in any case: the check comes after. PyTorch need not be asked
    about an operation that is part of another.
    """
    if asks:
        require_taken(func, args, kwargs, recorder)
    rule = _RULES.get(name_of(func))
    if rule is None:
        return args
    with recorder:
        valid = rule(recorder, *args, **kwargs)
    return (*valid, *args[len(valid) :])


def has_rule(name: str) -> bool:
    """Whether it is known of which values an operation complains."""
    return name in _RULES


def is_assertion(name: str, args: tuple[Any, ...], recorder: Records) -> bool:
    """Whether an operation does nothing but check what only the input determines; then it is a check of the block."""
    if name not in (*ASSERTIONS, _SOLVED) or not recorder.is_dynamic(args[0]):
        return False
    with recorder:
        holds = torch.eq(args[0], 0).all() if name == _SOLVED else torch.ne(args[0], 0)
    if name == _SOLVED:
        recorder.check(holds, "LinAlgError", f"{args[1]}: a matrix is singular, or not positive-definite")
    else:
        recorder.check(holds, "RuntimeError", args[1] if len(args) > 1 else "assertion failed")
    return True


def _embedding_bag(
    recorder: Records, weight: Tensor, indices: Tensor, offsets: Tensor, *options: Any, **named: Any
) -> Any:
    rows, count = weight.shape[0], indices.shape[0]
    message = "embedding_bag: an index is not in the range of the table"
    indices = inside(recorder, indices, 0, rows, "RuntimeError", message)
    if length(offsets, 0):
        begins = torch.eq(offsets[0], 0)
        check(recorder, begins, "RuntimeError", "offsets[0] has to be 0")
        ends = torch.le(offsets[-1], count)
        check(recorder, ends, "RuntimeError", "offsets[-1] can not be greater than input's length")
        rising = torch.ge(offsets[1:], offsets[:-1]).all()
        _limit(recorder, rising, "offsets of `embedding_bag` that go back")
        has_end = named.get("include_last_offset", options[4] if len(options) > 4 else False)
        if has_end and named.get("mode", options[1] if len(options) > 1 else 0) != _MAXIMUM:
            # PyTorch's sums end there, its averages by halves, its maxima go on.
            _limit(recorder, torch.eq(offsets[-1], count), "bags that end before the indices do")
    return weight, indices


_MAXIMUM = 2


def _select(recorder: Records, tensor: Tensor, dim: int, index: Any) -> Any:
    """One place of a dimension; if that is of open size, `size_errors` looks at it."""
    size = length(tensor, dim)
    if not isinstance(index, torch.SymInt) or not isinstance(size, int) or not size:
        return ()
    place = recorder.materialise(index)
    found = inside(recorder, place, -size, size, "IndexError", bounds_message(dim, tensor))
    return (tensor, dim, index if found is place else recorder.symbol_of(found))


def _flat(recorder: Records, tensor: Tensor, index: Tensor, *_: Any, **__: Any) -> Any:
    count = tensor.numel()
    message = "out of range: an index points behind the tensor's elements"
    return tensor, inside(recorder, index, -count, count, "IndexError", message)


def _one_hot(recorder: Records, tensor: Tensor, num_classes: Any = -1) -> Any:
    if isinstance(num_classes, int) and num_classes < 0:
        return ()
    message = "Class values must be non-negative and smaller than num_classes."
    return (inside(recorder, tensor, 0, num_classes, "RuntimeError", message),)


def _limit(recorder: Records, condition: Tensor, what: str) -> None:
    """Stop where a condition does not hold, which PyTorch does not ask for; refuse what is known not to hold."""
    if recorder.is_dynamic(condition):
        recorder.check(condition, "ValueError", f"a compiled program does not compute {what}", is_limit=True)
    elif not condition.item():
        raise Refused("DY004", f"{what}")


def _not_negative(recorder: Records, tensor: Tensor, message: str) -> Tensor:
    if tensor.dtype == torch.uint8:
        return tensor
    clamped = torch.clamp(tensor, min=0)
    check(recorder, torch.eq(tensor, clamped).all(), "RuntimeError", message)
    return clamped if recorder.is_dynamic(clamped) else tensor


def _counted(message: str) -> Callable[..., Any]:
    def rule(recorder: Records, tensor: Tensor, *_: Any, **__: Any) -> Any:
        return (_not_negative(recorder, tensor, message),)

    return rule


def _bins(recorder: Records, tensor: Tensor, weights: Tensor | None = None, minlength: Any = 0) -> Any:
    not_below_zero(recorder, minlength, "minlength should be >= 0")
    if weights is not None and not isinstance(length(tensor, 0), int):
        # PyTorch gives whole numbers there.
        _limit(recorder, recorder.materialise(length(tensor, 0)) > 0, "`bincount` of nothing with weights")
    return (_not_negative(recorder, tensor, "bincount only supports 1-d non-negative integral inputs."),)


def _repeated(recorder: Records, tensor: Tensor, repeats: Tensor, dim: int | None = None, **options: Any) -> Any:
    _require_total(recorder, tensor, repeats, dim, options.get("output_size"))
    return tensor, _not_negative(recorder, repeats, "repeats can not be negative")


def _require_total(recorder: Records, tensor: Tensor, repeats: Tensor, dim: int | None, given: Any) -> None:
    """How many elements a caller says that repeating gives, if it does."""
    if given is not None:
        count = tensor.numel() if dim is None else tensor.shape[dim]
        total = torch.mul(repeats.sum(), count) if repeats.numel() == 1 else repeats.sum()
        right = torch.eq(total, given)
        check(recorder, right, "RuntimeError", "allocated size does not match required size")


def _divided(recorder: Records, dividend: Any, divisor: Any, **options: Any) -> Any:
    if options.get("rounding_mode", "floor") is None or not all(map(_is_whole, (dividend, divisor))):
        return ()
    if isinstance(divisor, int):
        if divisor == 0 and dividend.numel():
            raise RuntimeError("ZeroDivisionError")
        return ()
    numbers = divisor if isinstance(divisor, Tensor) else recorder.materialise(divisor)
    zero = torch.eq(numbers, 0)
    check(recorder, torch.logical_not(zero.any() if zero.dim() else zero), "RuntimeError", "ZeroDivisionError")
    if not recorder.is_dynamic(numbers):
        return ()
    # A division of whole numbers by zero would end the process.
    safe = torch.where(zero, torch.ones_like(numbers), numbers)
    return dividend, safe if isinstance(divisor, Tensor) else recorder.symbol_of(safe)


def _is_whole(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return not operand.is_floating_point()
    return not isinstance(operand, float | torch.SymFloat)


def _masked_scatter(recorder: Records, tensor: Tensor, mask: Tensor, source: Tensor) -> Any:
    wide = torch.broadcast_tensors(tensor, mask)[1]  # type: ignore[no-untyped-call]
    enough = torch.le(wide.sum(), source.numel())
    message = "Number of elements of source < number of ones in mask"
    check(recorder, enough, "RuntimeError", message, guards=True)
    return ()


def _unpooled(recorder: Records, tensor: Tensor, indices: Tensor, output_size: Sequence[int], *_: Any) -> Any:
    count = math.prod(output_size)
    return tensor, inside(recorder, indices, 0, count, "RuntimeError", "Found an invalid max index")


def _loss(recorder: Records, scores: Tensor, target: Tensor, *rest: Any, **options: Any) -> Any:
    """Check the classes of a loss; those that are to be ignored may be anything."""
    ignored = rest[2] if len(rest) > 2 else options.get("ignore_index", -100)
    classes = scores.shape[1] if scores.dim() > 1 else scores.shape[0]
    counted = torch.where(torch.eq(target, ignored), torch.zeros_like(target), target)
    inside(recorder, counted, 0, classes, "IndexError", "Target is out of bounds.")
    return ()


def _labels(recorder: Records, scores: Tensor, target: Tensor, *_: Any, **__: Any) -> Any:
    """Check that labels are classes, or negative: those behind the last one."""
    message = "multilabel_margin_loss: a target is out of range"
    return scores, inside(recorder, target, -1, length(scores, -1), "RuntimeError", message)


_NO_NUMBERS = "linalg: the algorithm failed to converge because the input matrix contained non-finite values."


def _without_nan(recorder: Records, tensor: Tensor, *_: Any, **__: Any) -> Any:
    check(recorder, ~torch.isnan(tensor).any(), "RuntimeError", _NO_NUMBERS)
    return ()


def _comparable(what: str) -> Callable[..., Any]:
    """Numbers that are compared, where PyTorch's own kernel makes something else of NaN than its rules say."""

    def rule(recorder: Records, tensor: Tensor, *_: Any, **__: Any) -> Any:
        if tensor.is_floating_point() and recorder.is_dynamic(tensor):
            known = ~torch.isnan(tensor).any()
            recorder.check(known, "ValueError", f"a compiled program does not {what}", is_limit=True)
        return ()

    return rule


def _symmetric(recorder: Records, tensor: Tensor, triangle: str = "L", *_: Any, **__: Any) -> Any:
    """Of a symmetric matrix one triangle is read: it has no NaN, and infinity on its diagonal alone."""
    if length(tensor, -1) == 1:
        return ()
    read, beside = (tensor.tril(), tensor.tril(-1)) if triangle.upper() == "L" else (tensor.triu(), tensor.triu(1))
    check(recorder, ~(torch.isnan(read) | torch.isinf(beside)).any(), "RuntimeError", _NO_NUMBERS)
    return ()


def _extreme(recorder: Records, tensor: Tensor, dim: Any = None, *_: Any, **__: Any) -> Any:
    """The greatest or least of no elements does not exist; open sizes are looked at in `size_errors`."""
    for axis in range(tensor.dim()) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim:
        if isinstance(size := length(tensor, axis), int) and not size:
            raise (RuntimeError if dim is None else IndexError)("Expected reduction dim to have non-zero size.")
    return ()


def _mode(recorder: Records, tensor: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    return _extreme(recorder, tensor, dim)


_BOUNDED_SCATTERS = ("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add.default")

_RULES: dict[str, Callable[..., Any]] = {
    "aten._embedding_bag.default": _embedding_bag,
    "aten._embedding_bag_forward_only.default": _embedding_bag,
    "aten.gather.default": along("RuntimeError"),
    **{f"aten.{name}": along("RuntimeError") for name in _BOUNDED_SCATTERS},
    "aten.scatter_reduce.two": along("RuntimeError"),
    "aten.select.int": _select,
    "aten.take.default": _flat,
    "aten.put.default": _flat,
    "aten.one_hot.default": _one_hot,
    "aten.unique_dim.default": _comparable("look for unique parts among NaN"),
    "aten.multi_margin_loss.default": _comparable("compute a margin loss of NaN"),
    "aten.bincount.default": _bins,
    "aten.repeat_interleave.Tensor": _counted("repeats can not be negative"),
    "aten.repeat_interleave.self_Tensor": _repeated,
    "aten.masked_scatter.default": _masked_scatter,
    "aten.max_unpool2d.default": _unpooled,
    "aten.max_unpool3d.default": _unpooled,
    "aten.nll_loss_forward.default": _loss,
    "aten.nll_loss2d_forward.default": _loss,
    "aten.multilabel_margin_loss_forward.default": _labels,
    "aten._linalg_svd.default": _without_nan,
    "aten._linalg_eigh.default": _symmetric,
    "aten.linalg_pinv.atol_rtol_tensor": _without_nan,
    **{f"aten.{name}": _extreme for name in ("max.default", "min.default", "max.dim", "min.dim", "median.dim")},
    "aten.aminmax.default": _extreme,
    "aten.mode.default": _mode,
    **{f"aten.div.{form}": _divided for form in ("Tensor_mode", "Scalar_mode")},
    "aten.divide.Tensor_mode": _divided,
    "aten.floor_divide.default": _divided,
    "aten.floor_divide.Scalar": _divided,
    **{f"aten.remainder.{form}": _divided for form in ("Tensor", "Scalar", "Scalar_Tensor")},
    **{f"aten.fmod.{form}": _divided for form in ("Tensor", "Scalar")},
    **indices.RULES,
    **NUMBERS,
    **more_values.RULES,
}
