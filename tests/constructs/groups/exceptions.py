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


@refused("`except*` and exception groups", "`except`")
class Groups(Base):
    def forward(self, x):
        try:  # DY002
            return x if x.sum() > 0 else -x
        except* ValueError:
            pass


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
