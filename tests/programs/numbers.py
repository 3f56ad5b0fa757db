"""Python arithmetic and `math` on numbers that only the input determines, as users write them."""

import math

import torch

from tests.programs.base import Base


class Numbers(Base):
    paths = 1

    @staticmethod
    def inputs(generator):
        return (torch.randn(3, 8, generator=generator) * 3,)


class QuotientAndRemainder(Numbers):
    def forward(self, x):
        n = int(x.sum())
        whole, rest = divmod(n, 3)
        hours, minutes = divmod(x.sum().item(), 2.5)
        other = divmod(17, n * n + 1)
        return whole, rest, hours, minutes, other


class Logarithms(Numbers):
    def forward(self, x):
        v = x.abs().sum().item() + 1
        n = int(v)
        return math.log(v, 2), math.log(v, v + 1), math.log(8, n + 1), math.log10(v), math.log1p(v), math.expm1(v / 50)


class Trigonometry(Numbers):
    def forward(self, x):
        v = math.tanh(x.sum().item())
        u = x[0, 0].item()
        angles = math.asin(v), math.acos(v), math.atan(u), math.atan2(u, v), math.atan2(v, -1), math.tan(v)
        return angles, math.sinh(v), math.cosh(v), math.asinh(u), math.acosh(u * u + 1), math.atanh(v / 2)


class LengthsAndAngles(Numbers):
    def forward(self, x):
        a, b = x[0, 0].item(), x[0, 1].item()
        n = int(abs(a) * 100)
        lengths = math.hypot(a, b), math.hypot(a, b, 1.0), math.dist((a, b), (1.0, 2)), math.cbrt(a)
        return lengths, math.degrees(a), math.radians(b), math.copysign(a, b), math.copysign(2, a), math.isqrt(n)


class WholeNumbers(Numbers):
    def forward(self, x):
        n, m = int(x[0, 0] * 10), int(x[0, 1] * 10)
        return math.gcd(n, m), math.gcd(n, 12), math.lcm(n, 4), math.prod([n, m, 2]), math.prod([2.5, n], start=2)


class FloatingSums(Numbers):
    def forward(self, x):
        values = x[0].tolist()
        return math.fsum(values), sum(values), sum(values, 1), math.fmod(values[0], 1.5), math.modf(values[1])


class Comparisons(Numbers):
    def forward(self, x):
        a, b = x[0, 0].item(), x[0, 1].item()
        return math.isclose(a, b), math.isclose(a, b, abs_tol=2), math.isclose(a, a * (1 + 1e-12)), a.is_integer()


class Powers(Numbers):
    def forward(self, x):
        n = int(x[0, 0].abs() * 2)
        return pow(n, 2), pow(2.0, n), 2**n, n**n, (-2) ** n, n**2.5


class NegativePowers(Base):
    def forward(self, x):
        n = int(x.sum())
        return x * 2**n


class Shifts(Numbers):
    def forward(self, x):
        n = int(x[0, 0].abs() * 3)
        m = int(x.sum() * 10)
        return m << n, m >> n, 1 << n, 1000 >> n, m << 2, m >> 1, m & 7, m | 1, m ^ 5, ~m


class FlagArithmetic(Numbers):
    def forward(self, x):
        flag = bool(x.sum() > 0)
        other = bool(x[0, 0] > 0)
        whole = flag + other, flag * 3, -flag, flag / 2, flag & other, flag | 2, flag ^ other, flag << 2
        return whole, x * flag, flag * x, flag == 1, x + (not flag), abs(flag), round(flag), ~(flag + 0)


class RoundedNumbers(Numbers):
    def forward(self, x):
        n = int(x.sum() * 1000)
        v = x.sum().item()
        whole = round(n, 1), round(n, -2), round(n, -3), round(v), round(v, None), round(n)
        return whole, round(v, 2), round(v, 0), round(v * 1000 + 0.5, 1), round(n / 8, 2)


class FloatMethods(Numbers):
    def forward(self, x):
        v = x.sum().item()
        n = int(v)
        return v.is_integer(), float(n).is_integer(), n.conjugate(), v.real, n.imag, n.numerator


class ExtremesOfMixedKinds(Base):
    def forward(self, x):
        n = int(x.sum())
        v = x[0, 0].item()
        return min(n, v), max(n, 0.5), max(v, 0), min(1, v, n)


class ExtremesWithKeys(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        best = max(range(3), key=lambda i: values[i])
        return best, min(values, key=abs), max([], default=3), min((v for v in values if v > 0), default=-1.0)


class SortedNumbers(Base):
    def forward(self, x):
        values = x[0, :3].tolist()
        pairs = sorted(zip(values, range(3)), reverse=True)
        return sorted(values), sorted(values, key=lambda v: -v), pairs[0][1]


class SumsOfMixedKinds(Numbers):
    def forward(self, x):
        n, v, f = int(x.sum()), x[0, 0].item(), bool(x[0, 1] > 0)
        return sum([n, v, f]), sum((n, 2)), sum([f, f]), abs(n), abs(v), sum([x[0], x[1], n])


class SumsOfLargeAndSmallNumbers(Numbers):
    def forward(self, x):
        v = x[0, 0].item()
        parts = [v, 1e16, 1.0, -1e16]
        known = (1e16, 1.0, 1.0, -1e16)
        return sum(parts), sum(part for part in parts), sum(k for k in known), sum([1e308, v, 1e308]) > 0, sum(parts, 1)


class SumsDecided(Base):
    def forward(self, x):
        tenths = sum(0.1 for value in x[0] if value > 0)
        return self.a(x) if tenths > 0.3 else self.b(x), tenths


class ExtremesOfNothing(Base):
    def forward(self, x):
        try:
            return min(value for value in x[0, :3].tolist() if value > 0.5)
        except ValueError as error:
            return str(error)


class DecisionsOnArithmetic(Base):
    def forward(self, x):
        n = int(x.abs().sum())
        if n % 2 == 0 and math.log2(n + 1) > 2:
            return self.a(x)
        if divmod(n, 3)[1] == 1:
            return self.b(x)
        return self.c(x) * (n >> 1)
