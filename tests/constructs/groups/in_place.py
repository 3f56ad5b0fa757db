"""Tensors in place, and views."""

import torch
import torch.nn.functional as F

from tests.constructs.construct import WIDTH, Base, refused, supported


class Square(Base):
    @staticmethod
    def inputs(generator):
        return (torch.randn(WIDTH, WIDTH, generator=generator),)


@supported("`y.mul_(2)`, `y += 1`, `F.relu(y, inplace=True)`")
class InPlace(Base):
    def forward(self, x):
        y = x.clone()
        if x.sum() > 0:
            y += 1
            F.relu(y, inplace=True)
        return y.mul_(2)


@supported("`y[i] = v`, `y[1:] = z`, `y[mask] = 0`, `y[rows, columns] += 1`, with numbers and tensors of the input")
class Assignment(Square):
    def forward(self, x):
        y = x.clone()
        y[int(x[0].argmax())] = 0
        if x.sum() > 0:
            y[y > 1] = 1.0
            y[:, 1:] = x[:, :-1]
        y[[0, 1], [1, 2]] += 1
        return y


@supported("views change together, across decisions: `v = y[0]`, `if ...: v.add_(1)`, `return y`")
class Views(Square):
    def forward(self, x):
        y = x * 2
        v = y[0]
        t = y.t()
        if x.sum() > 0:
            v.add_(1)
        if x[0, 0] > 0:
            t[1] = 0
        return y, v


@supported("two names of one tensor: `z = y; z += 1`")
class Aliases(Base):
    def forward(self, x):
        y = x.clone()
        z = y
        if x.sum() > 0:
            z += 1
        return y, z


@supported("`a is b` of tensors")
class SameTensor(Base):
    def forward(self, x):
        y = x if x.sum() > 0 else x.clone()
        return 1 if y is x else 2


@supported("a change through a diagonal: `y.diagonal().add_(1)`")
class Diagonal(Square):
    def forward(self, x):
        y = x * 2
        if x.sum() > 0:
            y.diagonal().add_(1)
        return y


@refused("a change through a view that has no way back: `y.unfold(0, 2, 2).add_(1)`", "`torch.cat([y[:2] + 1, y[2:]])`")
class Unfolded(Square):
    def forward(self, x):
        y = x * 2
        if x.sum() > 0:
            y.unfold(0, 2, 2).add_(1)  # DY006
        return y


@refused("`y.unsqueeze_(0)` where `y` has a view", "`y = y.unsqueeze(0)`")
class Reshaped(Base):
    def forward(self, x):
        y = x * 2
        v = y[:2]
        if x.sum() > 0:
            y.unsqueeze_(0)  # DY006
        v.add_(1)
        return y


@supported("`out=`: `torch.add(x, 1, out=y)`")
class Out(Base):
    def forward(self, x):
        y = torch.empty(WIDTH)
        torch.add(x, 1, out=y)
        return y if x.sum() > 0 else x


@supported("`y.data`, `y.detach()`, `y.clone()`, `y.contiguous()`")
class Detached(Base):
    def forward(self, x):
        y = x.clone()
        y.data.add_(1)
        if x.sum() > 0:
            y.detach().mul_(2)
        return y.contiguous()


@supported("`x.to(torch.int32)`, `x.double()`")
class ElementTypes(Base):
    def forward(self, x):
        y = x.double() if x.sum() > 0 else x.to(torch.int32)
        return y * 2


@refused("sparse tensors", "dense ones")
class Sparse(Base):
    def forward(self, x):
        return x.to_sparse().to_dense() if x.sum() > 0 else x  # DY004


@supported("complex tensors: `torch.fft`, `torch.complex`, `.abs()`")
class Complex(Base):
    def forward(self, x):
        return torch.fft.rfft(x).abs() if x.sum() > 0 else torch.complex(x, x).angle()


@supported("half precision: `x.half()`, `x.bfloat16()`")
class Half(Base):
    def forward(self, x):
        return x.half() * 2 if x.sum() > 0 else x.bfloat16()


@refused("`y.data_ptr()`, `y.storage()`: the memory itself", "`y is x`")
class Memory(Base):
    def forward(self, x):
        y = x.clone() if x.sum() > 0 else x
        return y.data_ptr() == x.data_ptr()  # DY001
