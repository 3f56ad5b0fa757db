"""Lists of unknown length: they grow in a loop that the input ends."""

import torch

from tests.constructs.construct import Base, refused, supported


@supported("`seen.append(x)` of tensors of one shape, then `torch.stack(seen)`, `torch.cat(seen)`")
class Stack(Base):
    def forward(self, x):
        seen = [x]
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x)
        return torch.stack(seen), torch.cat(seen)


@supported("`seen.append(n)` of tuples of numbers and tensors")
class Tuples(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2 + 0.01
            seen.append((x.argmax().item(), x))
        return seen


@supported("the list as a result; its `len`")
class Result(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.sum().item())
        return seen, len(seen)


@supported("`seen[-1]`, `seen[i]`, `seen[1:]`, `seen[i] = v`")
class Indexing(Base):
    def forward(self, x):
        seen = [x]
        while seen[-1].norm() > 0.1:
            seen.append(seen[-1] / 2)
        seen[0] = x * 0
        return seen[len(seen) // 2], seen[1:]


@supported("`seen.index(v)`, `seen.count(v)`, `seen.remove(v)`, `v in seen`, of numbers and of tuples of them")
class Searching(Base):
    def forward(self, x):
        seen, pairs = [], []
        while x.norm() > 0.1:
            x = x.roll(1) / 2 + 0.01
            seen.append(x.argmax().item())
            pairs.append((x.argmax().item(), x.sum().item() > 0))
        if 2 in seen:
            seen.remove(2)
        if 1 not in seen or (0, True) not in pairs:
            return seen, seen.count(0), pairs.count((1, True))
        return seen.index(1), seen.index(seen[-1], 0, len(seen)), pairs.index((0, True)), seen.count(1.0)


@supported("`for v in seen`, `sum(seen)`, `[f(v) for v in seen]`, `enumerate(seen)`")
class Iteration(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.sum().item())
        total = 0.0
        for i, v in enumerate(seen):
            if v > 0:
                total += v * i
        return total, sum(seen), [v * 2 for v in seen]


@supported("`todo.pop()`, `while todo`: a stack")
class Pop(Base):
    def forward(self, x):
        todo, total = [x.sum().item()], 0.0
        while todo:
            v = todo.pop()
            total += v
            if abs(v) > 0.3:
                todo.append(v / 2)
                todo.append(v / 3)
        return total


@supported("`seen + other`, `seen.reverse()`, `v in seen`")
class Joining(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.argmax().item())
        other = seen + [7]
        other.reverse()
        return other, 2 in seen


@supported("`min(seen)`, `max(seen)` of numbers")
class Sorting(Base):
    def forward(self, x):
        seen = [0.0]
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.sum().item())
        return min(seen), max(seen)


@refused("`seen.sort()`", "a tensor: `torch.stack(seen)`, `argsort`")
class SortingByKey(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.sum().item())
        seen.sort()  # DY001
        return seen


@refused(
    "a text that grows",
    "a list of numbers",
)
class Growing(Base):
    def forward(self, x):
        text = ""
        while x.norm() > 0.1:  # DY011
            x = x / 2
            text += "a"
        return text


@supported(
    "a bounded loop: each length has blocks of its own, and everything works", "`for step in range(8): ... break`"
)
class Bounded(Base):
    def forward(self, x):
        seen = []
        for _ in range(5):
            if x.norm() < 0.5:
                break
            x = x / 2
            seen.append({"x": x})
        return seen


@refused("a tensor changed in place after it was put into such a list", "`seen.append(x.clone())`")
class Changed(Base):
    def forward(self, x):
        seen = []
        x = x.clone()
        while x.norm() > 0.1:
            x.div_(2)  # DY006
            seen.append(x)
        return torch.stack(seen)


@supported("`[v] * n`, `n * [v]`, also where nothing bounds `n`")
class Repeated(Base):
    def forward(self, x):
        steps = 0
        while x.norm() > 0.1:
            x = x / 2
            steps += 1
        return [steps] * (steps - 2), steps * [0.5, 1.5], [x] * steps


@supported("`torch.tensor(seen)`")
class ToTensor(Base):
    def forward(self, x):
        seen = []
        while x.norm() > 0.1:
            x = x / 2
            seen.append(x.argmax().item())
        return torch.tensor(seen)
