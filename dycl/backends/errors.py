"""How the backend says that it cannot translate something."""

from dycl.hcfg.types import Span


class Untranslatable(Exception):
    """An operation whose arguments have no translation."""

    identifier = "DY004"

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(f"{span}: {reason}")
        self.reason = reason
        self.span = span


class Miscompiled(Untranslatable):
    """A backend has a translation, and what it makes of it is not what PyTorch computes."""

    identifier = "DY018"
