"""Softmax and layer normalisation: each line along the last dimension by itself."""

import math
from dataclasses import dataclass

from tvm import tirx

from dycl.runtime.tvm.kernels.arrays import View, along, nest, plain
from dycl.runtime.tvm.kernels.expressions import larger
from dycl.runtime.tvm.kernels.functions import exp
from dycl.runtime.tvm.kernels.loops import (
    Arrays,
    Expr,
    Register,
    Statement,
    bound,
    load,
    loop,
    number,
    spread,
    store,
    whole,
)


@dataclass(frozen=True, slots=True)
class Softmax:
    """The softmax of each line along the last dimension, or its logarithm."""

    source: View
    is_logarithm: bool

    def build(self) -> Expr:
        """The function of the source and the result, which is plain."""
        arrays, source = Arrays(), self.source
        given, made = arrays.array("float32", source.size), arrays.array("float32", math.prod(source.shape))
        result = plain("float32", source.shape)
        *outer, length = source.shape

        def line(place: tuple[Expr, ...]) -> list[Statement]:
            most, total = Register("float32", 1), Register("float32", 1)

            def raised(index: Expr) -> list[Statement]:
                value, statement = bound("value", load(given, source.at((*place, index)), 1), "float32")
                if self.is_logarithm:
                    return [statement, total.set(total.value + exp(value - most.value, "float32", 1))]
                found, set_found = bound("found", exp(value - most.value, "float32", 1), "float32")
                return [
                    *(statement, set_found, total.set(total.value + found)),
                    store(made, result.at((*place, index)), found, 1),
                ]

            def divided(index: Expr) -> list[Statement]:
                at = result.at((*place, index))
                if self.is_logarithm:
                    value = load(given, source.at((*place, index)), 1) - most.value - total.value
                    return [store(made, at, value, 1)]
                return [store(made, at, load(made, at, 1) / total.value, 1)]

            statements = [most.declared, total.declared, total.set(number(0, "float32"))]
            statements.append(most.set(load(given, source.at((*place, whole(0))), 1)))
            statements += loop(
                length,
                lambda index: [most.set(larger(most.value, load(given, source.at((*place, index)), 1)))],
            )
            statements += loop(length, raised)
            if self.is_logarithm:
                statements.append(total.set(tirx.log(total.value)))
            return statements + loop(length, divided)

        return arrays.function(nest(outer, line))


@dataclass(frozen=True, slots=True)
class LayerNormalised:
    """Each line less its mean, divided by its standard deviation; times a weight and plus a bias, if there are such."""

    rows: int
    length: int
    scaled: bool
    epsilon: float
    lanes: int

    def build(self) -> Expr:
        """The function of the source, the weight and bias if there are such, and the result; all are plain."""
        arrays, length = Arrays(), self.length
        given = arrays.array("float32", self.rows * length)
        scales = [arrays.array("float32", length) for _ in range(2 * self.scaled)]
        made = arrays.array("float32", self.rows * length)

        def line(place: tuple[Expr, ...]) -> list[Statement]:
            start = place[0] * length
            mean, set_mean = self._average(given, start, None)
            spread_out, set_spread = self._average(given, start, mean)
            epsilon = number(self.epsilon, "float32")
            factor, set_factor = bound("factor", number(1, "float32") / tirx.sqrt(spread_out + epsilon), "float32")

            def one(index: Expr, lanes: int) -> list[Statement]:
                value = load(given, start + index, lanes)
                value = (value - spread(mean, lanes)) * spread(factor, lanes)
                if self.scaled:
                    value = value * load(scales[0], index, lanes) + load(scales[1], index, lanes)
                return [store(made, start + index, value, lanes)]

            return [*set_mean, *set_spread, set_factor, *along(length, self.lanes, one)]

        return arrays.function(nest((self.rows,), line))

    def _average(self, given: Expr, start: Expr, mean: Expr | None) -> tuple[Expr, list[Statement]]:
        """The mean of a line, or of its squared distances from a mean."""
        wide, total = Register("float32", self.lanes), Register("float32", 1)

        def add(index: Expr, lanes: int) -> list[Statement]:
            value = load(given, start + index, lanes)
            if mean is not None:
                value = value - spread(mean, lanes)
                value = value * value
            into = wide if lanes > 1 else total
            return [into.set(into.value + value)]

        zero = number(0, "float32")
        statements = [wide.declared, total.declared, wide.set(spread(zero, self.lanes)), total.set(zero)]
        statements += along(self.length, self.lanes, add)
        for lane in range(self.lanes if self.lanes > 1 else 0):
            statements.append(total.set(total.value + tirx.Shuffle([wide.value], [whole(lane)])))
        found, statement = bound("average", total.value / number(self.length, "float32"), "float32")
        return found, [*statements, statement]
