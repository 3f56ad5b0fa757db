"""Errors of sizes that the program catches: there a rule must say exactly what PyTorch says.

Where nobody catches it, an error too many stops a program loudly. Behind a `try`, it would be another result.
"""

from collections.abc import Callable
from typing import Any

from torch._ops import OpOverload

from dycl.rewrite.record.contract import Records
from dycl.rewrite.record.errors.values import has_rule
from dycl.rewrite.record.schemas import is_mutable, name_of
from dycl.rewrite.record.sizes.asked_needs import Need, agree
from dycl.rewrite.signals import Refused


def require_agreement(
    rule: Callable[..., Any],
    func: OpOverload[Any, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    recorder: Records,
) -> None:
    """Refuse sizes of which a rule and PyTorch say different things, where the program would catch the error."""
    if not recorder.catches_errors() or func.namespace != "aten" or is_mutable(func):
        return
    noting: Any = _Noting(recorder)
    rule(noting, *args, **kwargs)
    if noting.needs and not agree(func, args, kwargs, noting.needs, complete=not has_rule(name_of(func))):
        reason = f"for which sizes `{func}` raises an error that is caught here is not known"
        raise Refused("DY008", reason, "test the sizes before, with `if`")


class _Noting:
    """A recorder that notes what is needed of sizes instead of checking it."""

    def __init__(self, recorder: Records) -> None:
        self._recorder = recorder
        self.needs: list[Need] = []

    def require_size(self, condition: Any, error: str, message: str, guards: bool = True) -> None:
        self.needs.append(Need(condition, error))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._recorder, name)
