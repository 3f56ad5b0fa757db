"""NumPy."""

import numpy as np
import torch

from tests.constructs.construct import Base, refused, supported


@supported("`x.numpy()`, `np.asarray(x)`, `torch.from_numpy(a)`, `torch.as_tensor(a)`")
class Conversions(Base):
    def forward(self, x):
        a = x.detach().cpu().numpy()
        return torch.from_numpy(a * 2) if a.sum() > 0 else torch.as_tensor(np.asarray(-x))


@supported("arithmetic, comparisons, `a[i]`, `a[mask]`, `a[::-1]`, `a.reshape`")
class Arrays(Base):
    def forward(self, x):
        a = x.numpy()
        b = a[a > 0] if a[0] > 0 else (a + 1)[::-1].copy()
        return torch.from_numpy(b.reshape(-1, 1))


@supported("`np.mean`, `np.std`, `a.max()`, `np.argmax`, `np.linalg.norm`")
class Reductions(Base):
    def forward(self, x):
        a = x.numpy()
        if np.std(a) > 0.8:
            return float(np.mean(a) + a.max()), int(np.argmax(a))
        return float(np.linalg.norm(a))


@supported("`np.where`, `np.clip`, `np.sort`, `np.concatenate`, `np.stack`, `np.cumsum`")
class Functions(Base):
    def forward(self, x):
        a = x.numpy()
        b = np.where(a > 0, a, np.clip(a, -1, 0))
        return torch.from_numpy(np.concatenate([np.sort(b), np.cumsum(a)]) if a[0] > 0 else np.stack([a, b]))


@supported("numbers of NumPy: `np.sqrt(v)`, `np.isfinite(v)`, `np.inf`")
class Scalars(Base):
    def forward(self, x):
        v = x[0].item()
        return x * np.sqrt(abs(v)) if v > -np.inf and np.isfinite(v) and v > 0 else x


@supported("arrays that do not depend on the input: `np.hanning(3)`, a table of NumPy")
class Constants(Base):
    def forward(self, x):
        return x * torch.from_numpy(np.hanning(5)[1:4].astype(np.float32)) if x.sum() > 0 else x


@refused("an array that is filled: `a = np.zeros(3); a[i] = v`", "`torch.zeros`")
class Filled(Base):
    def forward(self, x):
        a = np.zeros(3)
        for i in range(3):
            a[i] = x[i].item()  # DY014
        return torch.from_numpy(a)


@refused("functions without a translation: `np.fft.rfft`", "the tensor operation")
class Fourier(Base):
    def forward(self, x):
        return torch.from_numpy(np.abs(np.fft.rfft(x.numpy())))  # DY014


@refused("options of NumPy's functions: `where=`", "`np.where`")
class NumpyOptions(Base):
    def forward(self, x):
        a = x.numpy()
        return torch.from_numpy(np.exp(a, where=a > 0)) if a[0] > 0 else x  # DY014


@refused("`np.random`", "pass the numbers in")
class NumpyRandom(Base):
    def forward(self, x):
        return x * np.random.rand() if x.sum() > 0 else x  # DY005


@supported("an array or a number of NumPy as a result, known ones too, alone or in containers")
class ArrayResult(Base):
    def forward(self, x):
        a = x.numpy()
        best = np.argmax(a)
        if a[best] > 0.5:
            return a[best], best, {"row": a * 2, "limit": np.float32(0.5)}
        return [a[::-1], a.sum() > 0, np.arange(3)]


@supported("numbers of NumPy in a list of unknown length, or of arrays")
class ListOfNumbers(Base):
    def forward(self, x):
        seen, rows = [], []
        while x.norm() > 0.1:
            x = x / 2 + 0.01
            seen.append(x.numpy().argmax())
            rows.append((x.numpy() * 2, x.numpy().max()))
        return seen, rows, len(seen)


@supported(
    "numbers of NumPy where Python takes a number: indices, keys, `range`, `round(v, 2)`, `divmod`, `[0] * n`, `not`"
)
class NumbersOfNumpy(Base):
    def forward(self, x):
        n = np.argmax(x.numpy())
        pair = divmod(n, 2), n << 1, round(x.numpy().max(), 2), not n
        return {0: "a", 1: "b"}.get(n, "c"), [0] * n, list(enumerate("ab", n)), (1, 2, 3)[n], list(range(n)), pair


@refused("a number of NumPy as a new key: `d[np.argmax(a)] = v`", "`d[int(np.argmax(a))] = v`")
class KeyOfNumpy(Base):
    paths = 1

    def forward(self, x):
        found = {}
        found[np.argmax(x.numpy())] = x  # DY008
        return len(found)


@supported("`a += 1`, `a[0] = 0` on an array of the input, which the tensor sees")
class InPlace(Base):
    def forward(self, x):
        y = x.clone()
        a = y.numpy()
        if x.sum() > 0:
            a += 1
            a[0] = 0
        return y
