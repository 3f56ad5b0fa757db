"""Exceptions."""

import torch

from tests.constructs.construct import Base, bounded, refused, supported


class Failed(Exception):
    pass


@supported("`raise ValueError(...)`, of one of Python's types", "the program raises the same")
class Raise(Base):
    def forward(self, x):
        if x.sum() < 0:
            raise ValueError("negative")
        return x


@bounded("`raise Failed(...)`, of a type of your own", "the program raises `dycl.ModelError`, with the type's name")
class RaiseOwn(Base):
    def forward(self, x):
        if x.sum() < 0:
            raise Failed("negative")
        return x


@bounded('the input in a message: `raise ValueError(f"got {x.sum()}")`', "the message has `...` in its place")
class Message(Base):
    def forward(self, x):
        if x.sum() < 0:
            raise ValueError(f"got {x.sum().item()}")
        return x


@supported("`try`, `except`, `else`, `finally` around a decision")
class Try(Base):
    def check(self, x):
        if x.sum() < 0:
            raise Failed(x)
        return x * 2

    def forward(self, x):
        log = []
        try:
            y = self.check(x)
        except Failed as error:
            y = error.args[0] - 1
        else:
            log.append("fine")
        finally:
            log.append("done")
        return y, log


@supported("`except` of an error that Python raises: `items[n]`")
class TryPython(Base):
    def forward(self, x):
        try:
            return [x, -x][int(x.argmax())]
        except IndexError:
            return x * 0


@supported("`return` inside of `try` with `finally`")
class TryLeave(Base):
    def forward(self, x):
        for i in range(3):
            try:
                if x[i] > 0:
                    return x * i
            finally:
                x = x + 0.1
        return x


@supported("`except` of an error that a tensor operation raises, for all inputs: shapes that do not fit")
class TryShapes(Base):
    def forward(self, x):
        try:
            return x.view(2, 2) if x.sum() > 0 else x
        except RuntimeError:
            return x * 2


@supported("`raise ... from error` in a handler, `error.args`")
class Reraise(Base):
    def forward(self, x):
        try:
            if x.sum() > 0:
                raise Failed("no")
            return x
        except Failed as error:
            if x[0] > 0:
                raise ValueError("again") from error
            return error.args[0]


@supported("`StopIteration`, `next` at the end of an iterator")
class Stop(Base):
    def forward(self, x):
        values = iter([v for v in x if v > 0])
        try:
            return next(values)
        except StopIteration:
            return None


@supported("`except*` and exception groups")
class Groups(Base):
    def forward(self, x):
        try:
            if x.sum() > 0:
                raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])
            return -x
        except* ValueError as group:
            y = x * len(group.exceptions)
        except* KeyError:
            y = y + 1
        return y


@refused("a bare `except:` around a decision, in a function that `forward` calls", "`except Exception:`")
class Bare(Base):
    def check(self, x):
        try:
            return x if x.sum() > 0 else -x
        except:
            return x

    def forward(self, x):
        return self.check(x)  # DY001


@supported("`AssertionError` caught, and its text: `str(error)`")
class Asserted(Base):
    def forward(self, x):
        try:
            assert x.sum() > 0, "negative"
        except AssertionError as error:
            return str(error)
        return x


@supported("`torch._assert`")
class TorchAssert(Base):
    def forward(self, x):
        torch._assert(x.sum() > 0, "not positive")
        return x


@refused("a model that fails on every path", "mend the example call")
class Always(Base):
    def forward(self, x):
        y = x.view(2, 4)  # DY010
        return y if x.sum() > 0 else -y


@supported("`except IndexError` around `x[n]`")
class TryValues(Base):
    def forward(self, x):
        try:
            return x[int(x.argmax()) + 1]
        except IndexError:
            return x[0]


@supported("`x[..., :n]`, `x[None, ..., n]`, `x.narrow(0, n, 1)` inside of `try` and `with`")
class TrySlices(Base):
    def forward(self, x):
        n = int(x.argmax()) + 1
        with torch.no_grad():
            y = x[..., :n], x[..., n:, None]
        try:
            return y, x[None, ..., n], x.narrow(0, n, 1)
        except (IndexError, RuntimeError):
            return y


@bounded(
    "texts of tensors, arrays and containers of them in a message: `str(x)`, `repr(x)`, `{x!r}`", "`...` in their place"
)
class MessageOfTensors(Base):
    def forward(self, x):
        if x.max() > 1.5:
            raise ValueError("got " + repr(x) + str([x, 1]) + f"{x!r} {dict(a=x)} {x.numpy()}" + "%s" % x)
        if x.min() < -1.5:
            raise Found(x, 3)
        return x


class Found(ValueError):
    """An error that makes its own text."""

    def __init__(self, x, number):
        super().__init__(f"{number} of {x}")
        self.x = x


@supported("errors that keep tensors: `error.x` of an error of your own")
class CaughtWithTensor(Base):
    def forward(self, x):
        try:
            if x.sum() > 0:
                raise Found(x, 3)
        except Found as error:
            return error.x + 1
        return x


@supported("the text of an error with a whole number in it, as a key")
class TextAsKey(Base):
    def forward(self, x):
        try:
            raise ValueError(f"at {int(x.argmax())}")
        except ValueError as error:
            return {"at 0": 1, "at 1": x, "at 2": None}[str(error)]


@refused("the text of an error with a tensor in it, as a result", "the tensor itself")
class TextOfError(Base):
    paths = 1

    def forward(self, x):
        try:
            raise ValueError(f"got {x}")
        except ValueError as error:
            return str(error)  # DY013
