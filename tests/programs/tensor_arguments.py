"""Numbers that only the input determines as arguments of tensor operations, as users write them."""

import torch
import torch.nn.functional as F

from tests.programs.base import Base


def _number(x):
    """A number from 1 to 3."""
    return int((x[0, :2] > 0).sum()) + 1


class Arguments(Base):
    paths = 1


class NewTensors(Arguments):
    def forward(self, x):
        n, v = _number(x), x[0, 0].item()
        made = x.new_tensor([v, n, 1]), torch.full((2,), v), torch.full((2, 2), n), torch.full_like(x, v)
        return *made, x.new_full((2,), v), torch.as_tensor([n, 2]), torch.as_tensor(v), torch.tensor([[v, 1], [n, 2]])


class SizedTensors(Arguments):
    def forward(self, x):
        n = _number(x)
        made = torch.zeros(n), torch.ones(n, 2), torch.full((n,), 2.5), x.new_zeros(n), torch.arange(n)
        return *made, torch.arange(1, n + 1), torch.arange(0, n, 0.5), torch.eye(n), x.new_ones(2, n)


class Spaced(Arguments):
    def forward(self, x):
        v = x[0, 0].item()
        return torch.linspace(0, v, 5), torch.linspace(v, v + 1, 3)


class FlagsInTensors(Arguments):
    def forward(self, x):
        flag = bool(x.sum() > 0)
        return x * flag, x + flag, torch.where(x > 0, flag, x), torch.tensor([flag, True]), x * (flag + 1)


class RowsByNumbers(Arguments):
    def forward(self, x):
        n = _number(x)
        return x[[n - 1, 0]], x[:, [0, n]], x[n - 1, :n], x[..., n], x[torch.tensor([n - 1, 0])]


class Clamped(Arguments):
    def forward(self, x):
        v = abs(x[0, 0].item())
        clamped = torch.clamp(x, min=v), x.clamp(-v, v), x.clamp(max=v), x.clip(-v), x.clamp_min(v)
        return *clamped, F.relu(x - v), F.threshold(x, v, 0.5), F.hardtanh(x, -v, v)


class Filled(Arguments):
    def forward(self, x):
        v, n = x[0, 0].item(), _number(x)
        y = x.clone()
        y.fill_(v)
        z = x.clone()
        z[0] = v
        z[:, n] = n
        z[n - 1, 0] = 7
        return y, z, x.masked_fill(x > 0, v), torch.where(x > 0, v, x), torch.where(x > 0, x, n)


class Padded(Arguments):
    def forward(self, x):
        n = _number(x)
        return F.pad(x, (0, n)), F.pad(x, (n, 1), value=2.0), F.pad(x, (1, n), mode="constant")


class Repeated(Arguments):
    def forward(self, x):
        n = _number(x)
        return x.repeat(n, 1), x[:1].expand(n, -1), torch.tile(x, (1, n)), x.repeat_interleave(n, 0)


class SplitBySizes(Arguments):
    def forward(self, x):
        n = _number(x)
        first, second = x.split([n, 8 - n], 1)
        third, fourth = torch.split(x, [n, 8 - n], dim=1)
        return first, second, third.sum(), fourth.mean()


class Selected(Arguments):
    def forward(self, x):
        n = _number(x)
        values, places = torch.topk(x, k=n, dim=1)
        return values, places, torch.roll(x, shifts=n, dims=1), x.narrow(1, n, 2), x.narrow(1, 1, n), x.select(1, n)


class IndexSelected(Arguments):
    def forward(self, x):
        n = _number(x)
        chosen = torch.index_select(x, 0, torch.tensor([n - 1, 0])), x.index_select(1, torch.tensor([n]))
        return *chosen, x.gather(1, torch.full((3, 1), n)), F.one_hot(torch.tensor([n, 0]), 4)


class OneHotOfHostSize(Arguments):
    def forward(self, x):
        n = _number(x)
        return F.one_hot(torch.tensor([0, 1]), num_classes=n + 1)


class Compared(Arguments):
    def forward(self, x):
        v, n = x[0, 0].item(), _number(x)
        close = torch.isclose(x, torch.tensor(v)), torch.isclose(x, x + 1e-9)
        return *close, x > v, x == v, torch.maximum(x, torch.tensor(v)), x.eq(n), torch.lt(x, n), n < x, v - x


class Converted(Arguments):
    def forward(self, x):
        n = _number(x)
        y = torch.tensor([n, 2]).to(x.dtype)
        return y, torch.tensor(n).float(), (x * n).to(torch.int32), (x > 0).sum().type(torch.float32) / n


class Operations(Arguments):
    def forward(self, x):
        v, n = x[0, 0].item(), _number(x)
        y = torch.add(x, x, alpha=v), torch.sub(x, v), x.pow(n), x**n, abs(v) ** x.abs(), torch.lerp(x, -x, v)
        z = F.leaky_relu(x, v), x.mul(v).div(n), torch.true_divide(x, n), x // n, x % n
        return *y, *z, torch.addcmul(x, x, x, value=v), x.remainder(n), torch.fmod(x, n)


class Triangles(Arguments):
    def forward(self, x):
        n = _number(x)
        return x.reshape(n * 0 + 4, -1), x.unflatten(1, (2, 4)), x.view(3, n - n + 8)
