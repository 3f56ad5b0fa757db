"""Host arithmetic: Python's numbers, where the input determines them."""

import math
import statistics

import torch

from tests.constructs.construct import Base, bounded, refused, supported


@supported("`+ - * / // % **`, `abs`, `-n` on `.item()`, in Python's precision")
class Arithmetic(Base):
    def forward(self, x):
        v, w = x[0].item(), x[1].item()
        n, m = int(v * 10), int(w * 10)
        if v > w:
            return v * w + v / (abs(w) + 1) - v // 0.3, n % 7, n // 3
        return -n * m, abs(n) ** 2, m % 0.7


@supported("division by zero, `ZeroDivisionError` where Python raises it")
class ZeroDivision(Base):
    def forward(self, x):
        return 1 / int(x[0] > 0)


@supported("bits of whole numbers: `& | ^ ~ << >>`")
class Bits(Base):
    def forward(self, x):
        n, k = int(x[0] * 100), int(x.argmax())
        return (n & 6 | 1, n ^ 3, ~n) if n > 0 else (n >> k, n << k)


@bounded(
    "whole numbers computed from the input",
    "64 bits, of which `/` takes 53; beyond them the program stops with an `OverflowError`",
)
class LargeNumbers(Base):
    def forward(self, x):
        n = int(x[0] * 1000)
        return n**3 if n > 0 else n * 10**12


@supported("`int`, `float`, `bool`, `round(v)`, `round(v, 2)`, `divmod`, `pow`, `min`, `max`, `sum`")
class Builtins(Base):
    def forward(self, x):
        v, w = x[0].item(), x[1].item()
        if v > w:
            return round(v), round(v, 2), divmod(int(v * 10), 3), min(v, w, 0.5)
        return pow(abs(v), 2), max([v, w]), sum([v, w], 1.0), int(v), bool(w)


@supported("`math`: `sqrt`, `exp`, `log`, `floor`, `ceil`, `trunc`, `tanh`, `atan2`, `hypot`, `isclose`")
class Math(Base):
    def forward(self, x):
        v, w = x[0].item(), x[1].item()
        if math.isclose(v, w, abs_tol=0.5) or math.floor(v) > 0:
            return math.sqrt(abs(v)) + math.exp(w) + math.log(abs(v) + 1), math.ceil(w)
        return math.atan2(v, w) + math.hypot(v, w) + math.tanh(v), math.trunc(w * 3)


@supported("errors of `math`: `math.sqrt(-1)` raises `ValueError`")
class MathDomain(Base):
    def forward(self, x):
        return math.sqrt(x[0].item())


@refused("`math.factorial(n)`", "a table: `[1, 1, 2, 6][n]`")
class Combinatorics(Base):
    def forward(self, x):
        n = int(x.argmax()) + 2
        return math.gcd(n * 6, 4) if x[0] > 0 else math.factorial(n)  # DY001


@refused("`pow(n, power, modulus)`", "`n ** power % modulus`")
class Modulus(Base):
    def forward(self, x):
        return pow(int(x.argmax()), 2, 3) if x[0] > 0 else 0  # DY008


@refused("methods of numbers: `n.bit_length()`", "arithmetic")
class Methods(Base):
    def forward(self, x):
        v = x[0].item()
        return int(v * 100).bit_length() if v > 0 else 0  # DY001


@supported("`statistics.median`")
class Statistics(Base):
    paths = 1

    def forward(self, x):
        return statistics.median(x.tolist())


@refused("complex numbers of Python: `complex(v, w)`", "`torch.complex`")
class Complex(Base):
    def forward(self, x):
        return abs(complex(x[0].item(), 1.0)) if x[0] > 0 else 0.0  # DY001


@supported(
    "a number in a tensor of old name: `torch.LongTensor([n, 2])`, `torch.FloatTensor([[v]])`, `torch.Tensor([v])`"
)
class TypedTensors(Base):
    def forward(self, x):
        n, v = int(x.argmax()), float(x[0])
        if v > 0:
            return torch.LongTensor([n, 2]), torch.FloatTensor([[v], [n]]), torch.ByteTensor((n, 1)), torch.Tensor([v])
        return torch.BoolTensor([n, False]), torch.DoubleTensor([v, n]), torch.LongTensor([v]), x.new([v, 1])


@supported(
    "a number that does not fit its element type: `torch.tensor([n], dtype=torch.uint8)`", "raises as in PyTorch"
)
class NarrowTensors(Base):
    paths = 1

    def forward(self, x):
        return torch.ByteTensor([int(x[0] * 300)]), torch.tensor([int(x[1] * 20)], dtype=torch.int8)


@supported("a number back in a tensor: `torch.tensor([v, 1])`, `x * v`, `x[0] = v`, `torch.full`")
class BackToTensor(Base):
    def forward(self, x):
        v = x.sum().item() * 2
        if v > 0:
            return torch.tensor([v, 1.0, int(v)]) + torch.full((3,), v)
        y = x.clone()
        y[0] = v
        return y * v


@supported("a number as an option of an operation: `x.clamp(min=v)`, `x.pow(n)`, `torch.roll(x, n)`")
class Options(Base):
    def forward(self, x):
        v, n = x.mean().item(), int(x.argmax())
        return x.clamp(min=v) if v > 0 else torch.roll(x, n) + x.abs().pow(n)


@supported("`x.item()` of whole numbers and flags, `x.tolist()` nested")
class Items(Base):
    def forward(self, x):
        rows = torch.stack([x, -x]).tolist()
        return rows[0][1] * 2 if (x[0] > 0).item() else [x.argmax().item(), rows]
