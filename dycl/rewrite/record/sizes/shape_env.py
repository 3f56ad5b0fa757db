"""PyTorch's reasoning about symbolic sizes, made to say what it takes for granted.

Where a shape rule of PyTorch asks whether an unknown size is 1, it gets a plausible answer without a word, and where
it needs two unknown sizes to be equal, it takes them as equal from then on. Here both are noted in `assumed`, and
nothing follows from them: whoever asked can then find out whether the answer holds for every size.
"""

import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv, guard_or_false
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from dycl.rewrite.signals import DecisionMet


class WatchedShapeEnv(ShapeEnv):
    """A shape environment that notes each assumption and believes none."""

    def __init__(self, asked_by_program: Callable[[], bool]) -> None:
        super().__init__()
        self.assumed: list[sympy.Basic] | None = None
        self._asked_by_program = asked_by_program

    # Nobody reads which line of a program asked for a size; to find that out, PyTorch imports half of itself.

    def _get_user_frame(self) -> None:
        """Leave the line open."""

    def _log_create_unbacked_symbol(self, *args: Any, **kwargs: Any) -> None:
        """Leave it out of PyTorch's log."""

    def size(self) -> torch.SymInt:
        """A new size, of which only is known that it is not negative."""
        symbol = self.create_unbacked_symint()
        super().guard_or_defer_runtime_assert(symbol.node.expr >= 0, "")
        return symbol

    def known(self, condition: sympy.Basic, bounds: Mapping[sympy.Symbol, tuple[int, int] | None]) -> bool | None:
        """Whether a condition holds for all sizes, or for none; None if that depends on the input."""
        ranges = {
            symbol: self.var_to_range[symbol] if found is None else ValueRanges(*found)
            for symbol, found in bounds.items()
        }
        found = bound_sympy(condition, ranges)
        return bool(found.lower) if found.is_singleton() else None

    @contextmanager
    def watched(self) -> Iterator[list[sympy.Basic]]:
        """What is assumed inside the `with` block."""
        assumed: list[sympy.Basic] = []
        outer, self.assumed = self.assumed, assumed
        try:
            yield assumed
        finally:
            self.assumed = outer

    def evaluate_expr(
        self,
        orig_expr: sympy.Basic,
        hint: Any = None,
        fx_node: Any = None,
        size_oblivious: bool = False,
        fallback_value: bool | None = None,
        *,
        forcing_spec: bool = False,
    ) -> sympy.Basic:
        """The value of an expression; a decision if it depends on the input and no fallback is given."""
        known = self._maybe_evaluate_static(orig_expr)
        if known is not None:
            return known
        if fallback_value is None:
            raise DecisionMet("a size that only the input determines")
        self._assume(orig_expr)
        return sympy.true if fallback_value else sympy.false

    def guard_or_defer_runtime_assert(  # type: ignore[override]
        self, orig_expr: sympy.Basic, msg: str, fx_node: Any = None
    ) -> bool:
        """Whether a condition holds; if that depends on the input, it is assumed."""
        known = self._maybe_evaluate_static(orig_expr)
        if known is not None:
            return bool(known)
        self._assume(orig_expr)
        return True

    def _assume(self, condition: sympy.Basic) -> None:
        """Note an assumption; to Python code of the program, where nobody looks at those, nothing may be granted."""
        if self.assumed is not None:
            self.assumed.append(condition)
        elif self._asked_by_program() and _is_asked_in_python():
            raise DecisionMet("a size that only the input determines")


def _is_asked_in_python() -> bool:
    """Whether a function like `guard_or_false` asks; PyTorch's own indexing asks, too, and is checked elsewhere."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") in _ON_THE_WAY:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == _ASKING and frame.f_code.co_name in _QUESTIONS


_ASKING = guard_or_false.__module__
_QUESTIONS = frozenset(("guard_or_false", "guard_or_true", "_guard_or", "expect_true", "statically_known_true"))
_ON_THE_WAY = frozenset((__name__, SymNode.__module__, "torch.fx.experimental.recording"))
