"""One operator with one element type: compiled for some samples, and run on those and on other values."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

import dycl
from tests.operators.comparison import difference
from tests.operators.exceptions import ORDERED, PLACES, spreads, undetermined
from tests.operators.model import Calls, copied, inputs_of
from tests.operators.samples import noisy, samples, special, tensors

Verdict = Literal["equal", "refused", "wrong", "crashed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """What came of one sample."""

    verdict: Verdict
    detail: str = ""


def outcomes(operator: Any, dtype: torch.dtype, most: int) -> Iterator[Outcome]:
    """One outcome a sample, and one more for each that is written to, if eager PyTorch allows that."""
    for sample in samples(operator, dtype, most):
        yield _outcome(operator, sample, writes=False)
        if dtype == torch.float32:
            yield _outcome(operator, sample, writes=True)


def _outcome(operator: Any, sample: Any, writes: bool) -> Outcome:
    call = _values_alone(operator.op) if operator.name in PLACES else operator.op
    model = Calls(call, sample, writes).eval()
    given = inputs_of(tensors(sample))
    expected = _eager(model, given)
    if expected is None or difference(_eager(model, given), expected):
        return Outcome("skipped", "eager PyTorch fails, or gives something else each time")
    try:
        program = dycl.compile(model, tuple(map(copied, given)))
    except dycl.CompileError as error:
        # A write that is refused is no restriction of the operator.
        problem = error.problems[0]
        return Outcome("skipped" if writes else "refused", f"{problem.identifier} {problem.reason}")
    except Exception as error:
        return Outcome("crashed", f"compile raises {type(error).__name__}: {error}")
    # What complex numbers make of NaN and infinity is a matter of the formula.
    odd = not model.complex_places and not spreads(operator.name)
    others = _others(operator.name, given, odd) if operator.name not in ORDERED and not writes else []
    return _runs(model, program, _values(given, others))


def _values_alone(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The operator without the places that it gives beside values, or with what stands there in their place."""

    def values(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        result = operator(x, *args, **kwargs)
        if isinstance(result, tuple):
            return result[0]
        dim = kwargs.get("dim", next((arg for arg in args if type(arg) is int), -1))
        return result if result.shape != x.shape or not x.dim() else torch.gather(x, dim, result)

    return values


def _eager(model: Calls, given: Sequence[Tensor]) -> Any:
    """What eager PyTorch gives, in memory of its own; None if it fails."""
    try:
        with torch.no_grad():
            return _kept(model(*map(copied, given)))
    except Exception:
        return None


def _kept(result: Any) -> Any:
    if isinstance(result, Tensor):
        return result.clone()
    return tuple(map(_kept, result)) if isinstance(result, tuple | list) else result


_Change = Callable[[Tensor, torch.Generator], Tensor]


def _others(name: str, given: Sequence[Tensor], odd: bool) -> list[_Change]:
    """What is made of the sample's values for more runs."""
    without = undetermined(name, given[0].dtype) if given else ()
    return [noisy, functools.partial(special, without=without)] if odd else [noisy]


def _values(given: Sequence[Tensor], others: Sequence[_Change]) -> Iterator[Sequence[Tensor]]:
    yield given
    generator = torch.Generator().manual_seed(7)
    for other in others:
        yield [other(tensor, generator) for tensor in given]


def _runs(model: Calls, program: dycl.Program, values: Iterator[Sequence[Tensor]]) -> Outcome:
    for given in values:
        expected = _eager(model, given)
        try:
            found = program(*map(copied, given))
        except Exception as error:
            if expected is not None:
                return Outcome("crashed", f"run raises {type(error).__name__}: {error}")
            continue
        if expected is not None and (problem := difference(found, expected)):
            return Outcome("wrong", problem)
    return Outcome("equal")
