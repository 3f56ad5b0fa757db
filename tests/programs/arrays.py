"""NumPy on what the model computes, as users write it."""

import numpy as np
import torch

from tests.programs.base import Base


class Arrays(Base):
    paths = 1


class Exits(Base):
    def forward(self, x):
        scores = self.a(x).softmax(-1).detach().cpu().numpy()
        best = scores.mean(axis=0).argmax()
        if scores.max() > 0.3 and best < 5:
            return self.b(x), int(best)
        return self.c(x), float(scores[0, best])


class BackToTensors(Arrays):
    def forward(self, x):
        a = x.numpy()
        made = torch.from_numpy(a * 2), torch.tensor(a), torch.as_tensor(a.mean(0)), torch.tensor(a.mean())
        return *made, torch.tensor([a.max(), 1.0]), torch.from_numpy(np.asarray(x)), torch.from_numpy(np.array(x) + 1)


class Arithmetic(Arrays):
    def forward(self, x):
        a = x.numpy()
        whole = (x * 10).to(torch.int32).numpy()
        made = a + 1, 2.5 * a, a - whole, a / 3, whole // 3, whole % 4, whole / 2, a**2, -a, abs(a), whole + 1.5
        flags = (a > 0) & (a < 1), ~(a > 0), (a > 0) | (whole == 0), (a > 0) + (a < 1), (a > 0) * 2, a >= whole
        return [torch.from_numpy(value) for value in (*made, *flags)]


class Promotion(Arrays):
    def forward(self, x):
        small = (x * 10).to(torch.int8).numpy()
        half = x.half().numpy()
        single = x.numpy()
        double = x.double().numpy()
        mixed = (
            small + single,
            half + small,
            single + double,
            small * 2,
            small * 2.0,
            half * 2.0,
            single * np.float64(2),
        )
        scalars = single.sum() * 2.0, small.sum() + 1, single.mean() + double.mean(), small.mean(), single[0, 0] * 3
        return [torch.from_numpy(np.asarray(value)) for value in (*mixed, *scalars)]


class Reductions(Arrays):
    def forward(self, x):
        a = x.numpy()
        whole = (x * 10).to(torch.int32).numpy()
        one = np.sum(a), np.mean(a), np.std(a), np.var(a, ddof=1), np.max(a), np.min(a), np.prod(a), np.ptp(a)
        two = np.sum(whole), np.mean(whole), np.std(whole), whole.max(), whole.prod(), np.median(a), np.median(whole)
        rows = (
            a.sum(axis=1),
            a.mean(0),
            a.std(1, keepdims=True),
            np.median(a, axis=1),
            whole.sum(1),
            whole.mean(axis=-1),
        )
        flags = np.any(a > 2), np.all(a > -3), (a > 0).sum(), (a > 0).mean(), np.count_nonzero(a > 0), a.any(axis=0)
        norms = np.linalg.norm(a), np.linalg.norm(a, axis=1), np.linalg.norm(a[0], 1), np.linalg.norm(a[0], np.inf)
        return [torch.from_numpy(np.asarray(value)) for value in (*one, *two, *rows, *flags, *norms)]


class PythonNumbers(Arrays):
    def forward(self, x):
        a = x.numpy()
        numbers = float(a.mean()), int(a.argmax()), bool((a > 0).any()), a[0, 0].item(), a.sum().item(), round(a[0, 1])
        return *numbers, a[0].tolist(), len(a), a.shape, a.ndim, a.size, a.dtype == np.float32, (a[0] > 0).tolist()


class Ordering(Arrays):
    def forward(self, x):
        a = x.numpy()
        order = np.argsort(a[0])[::-1]
        made = (
            np.sort(a),
            np.sort(a, axis=0),
            np.argsort(a, axis=1),
            order[:3].copy(),
            a[0][order],
            np.sort(a, axis=None),
        )
        places = np.argmax(a), np.argmin(a, axis=1), a.argmax(axis=0), np.cumsum(a), a.cumsum(axis=1), np.diff(a)
        return [torch.tensor(value) for value in (*made, *places)]


class ElementWise(Arrays):
    def forward(self, x):
        a = x.numpy()
        size = np.abs(a) + 0.5
        one = np.exp(a), np.log(size), np.sqrt(size), np.tanh(a), np.floor(a), np.ceil(a), np.round(a), np.round(a, 2)
        two = np.maximum(a, 0), np.minimum(a, size), np.power(size, 2.5), np.sign(a), np.square(a), np.log1p(size)
        tests = np.isnan(a), np.isfinite(a), np.isinf(1 / a), np.logical_and(a > 0, a < 1), np.logical_not(a > 0)
        more = (
            np.clip(a, -1, 1),
            a.clip(0),
            np.where(a > 0, a, 0.0),
            np.where(a > 0, 1, -1),
            np.hypot(a, size),
            np.sin(a),
        )
        return [torch.from_numpy(value) for value in (*one, *two, *tests, *more)]


class Joining(Arrays):
    def forward(self, x):
        a = x.numpy()
        whole = np.arange(3)
        made = np.concatenate([a, a[:1]]), np.stack([a[0], a[1]], axis=1), np.vstack((a[0], a[1])), np.hstack([a, a])
        more = np.concatenate([a[:, 0], whole]), np.array([a[0, 0], 1.0, a.mean()]), np.array([a[0], a[1] * 2])
        last = np.dot(a[0], a[1]), a @ a.T, np.matmul(a, a.T), np.outer(a[0], whole), a.dot(np.ones(8, np.float32))
        return [torch.from_numpy(np.asarray(value)) for value in (*made, *more, *last)]


class Shapes(Arrays):
    def forward(self, x):
        a = x.numpy()
        one = (
            a.reshape(4, 6),
            a.reshape(-1),
            a.T,
            a.transpose(1, 0),
            a.ravel(),
            a.flatten(),
            a[:, None],
            a.reshape((2, -1)),
        )
        two = np.expand_dims(a, 0), np.squeeze(a[None]), a.swapaxes(0, 1), np.repeat(a, 2, axis=0), np.tile(a, 2)
        more = (
            np.zeros_like(a),
            np.ones_like(a),
            np.full_like(a, a.max()),
            a.astype(np.int64),
            a.astype("float64"),
            a.copy(),
        )
        return [torch.from_numpy(value) for value in (*one, *two, *more)]


class Indexing(Arrays):
    def forward(self, x):
        a = x.numpy()
        k = int((x[0, :2] > 0).sum())
        one = (
            a[0],
            a[0, 1],
            a[:, 1:3],
            a[k],
            a[k, :2],
            a[:, k],
            a[..., -1],
            a[[0, 2]],
            a[np.array([1, 0]), 1],
            a[::-1, 0].copy().copy(),
        )
        table = np.array([1.0, 2.0, 3.0])
        two = a[a.argmax(1) > 3], table[k], table[a.argmax(axis=1) % 3], a[a > 0], a[:, ::2], a[0][::-1].copy()
        places = np.where(a > 0), np.nonzero(a[0] > 0), (np.flatnonzero(a), np.argwhere(a > 1))
        return [torch.tensor(value) for value in (*one, *two)], [torch.tensor(v) for pair in places for v in pair]


class Written(Arrays):
    def forward(self, x):
        y = x.clone()
        a = y.numpy()
        a[0] = 1
        a[1, 2] += 5
        a *= 2
        b = a.copy()
        b[:, 0] = a[:, 1]
        view = a[2]
        view -= 1
        return y, torch.from_numpy(b), torch.from_numpy(a), torch.from_numpy(view)


class DecisionsOnArrays(Base):
    def forward(self, x):
        a = x.numpy()
        kept = []
        for row in a:
            if row.mean() > 0:
                kept.append(row)
        if not kept:
            return x
        total = np.stack(kept).sum(axis=0)
        if np.any(total > 2):
            total = total / np.max(total)
        return torch.from_numpy(total)


class ArrayLoop(Base):
    def forward(self, x):
        a = np.abs(x.detach().numpy())
        steps = 0
        while a.sum() > 4:
            a = a * np.float32(0.5)
            steps += 1
        return torch.as_tensor(a), steps


class ScalarArithmetic(Base):
    def forward(self, x):
        mean, top = x.numpy().mean(), np.max(x.numpy())
        score = mean * 2 + top / 3 - 1
        if score > np.float32(0.2):
            return x * score, x + mean, float(score), isinstance(score, np.float32), isinstance(mean, float)
        return (
            x / top,
            mean * x,
            float(min(mean, top)),
            isinstance(x.double().numpy().sum(), float),
            type(top) is np.float32,
        )


class HelperOnArrays(Base):
    @staticmethod
    def pick(scores):
        order = np.argsort(-scores)
        return order[: 2 if scores[order[0]] - scores[order[1]] > 0.5 else 3]

    def forward(self, x):
        places = self.pick(x[0].numpy())
        return self.a(x)[:, places], x[0][torch.from_numpy(places)]


class Counting(Arrays):
    def forward(self, x):
        whole = (x[0] * 2).to(torch.int64).abs().numpy()
        values, counts = np.unique(whole, return_counts=True)
        made = values, counts, np.unique(whole), np.bincount(whole), np.bincount(whole, minlength=20)
        return [torch.from_numpy(value) for value in made]


class NumbersIntoArrays(Arrays):
    def forward(self, x):
        v, n = x[0, 0].item(), int((x[0] > 0).sum())
        made = np.array([v, 2.0]), np.array([n, 1]), np.full(3, v), np.zeros(n), np.arange(n), np.ones((2, n))
        return (
            [torch.from_numpy(a) for a in made],
            float(np.exp(v)),
            float(np.sqrt(n)),
            float(np.clip(v, 0, 1)),
            tuple(np.shape(x)),
        )


class TensorsInNumpy(Arrays):
    def forward(self, x):
        made = np.exp(x), np.abs(x), np.argmax(x), np.clip(x, 0, 1), np.isnan(x), np.maximum(x, 0), np.floor(x)
        return *made, torch.from_numpy(np.sort(x)), torch.from_numpy(np.stack([x[0], x[1]]))


class StaticArraysStayNative(Base):
    def forward(self, x):
        grid = np.linspace(0, 1, 8).astype(np.float32)
        window = np.hanning(8)
        weights = torch.from_numpy(grid * window.astype(np.float32))
        return x * weights if x.sum() > 0 else x - weights


class FromTheEnd(Arrays):
    def forward(self, x):
        a = x.numpy()
        places = (x[0, :4] * 2).to(torch.int64).clamp(-4, 3).numpy()
        turned = torch.from_numpy(a[::-1].copy()), torch.from_numpy(np.ascontiguousarray(a[::-1]))
        return *turned, np.take(np.arange(4), places), abs(a) ** 0.5


class OneOfTwoFlags(Arrays):
    def forward(self, x):
        a = x.numpy()
        positive = a.sum() > 0
        return positive is np.True_, positive is (a.max() > 0), positive is True
