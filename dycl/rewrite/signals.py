"""The ways in which running the user's code natively can stop short.

None derives from `Exception`, so the user's own `except Exception` does not swallow them.
"""

from typing import Any, ClassVar


class DecisionMet(BaseException):
    """Natively run code needs a value that only the input determines: step into its source instead."""

    # Code in between may swallow even a BaseException; the machine notices by counting.
    met: ClassVar[int] = 0

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.made_at: Any = None
        """The call that made the iterator which met the decision, if one did."""
        DecisionMet.met += 1

    def refusal(self, identifier: str, reason: str) -> "Refused":
        """The problem that it is if its source cannot be stepped into."""
        return Refused(identifier, reason)


class Unfollowed(DecisionMet):
    """Natively run code enters a function that the machine must follow, as of what the model holds."""

    def refusal(self, identifier: str, reason: str) -> "Refused":
        """What it is that must be followed, wherever it is told."""
        return Refused("DY007", self.reason)


class CheckMet(BaseException):
    """Whether an operation raises `error` depends on `condition`, and the program catches errors: decide on it."""

    def __init__(self, condition: Any, error: str, message: str) -> None:
        super().__init__(error)
        self.condition = condition
        self.error = error
        self.message = message
        self.given: tuple[Any, ...] = (message,)
        """What the error is made of where the program catches it."""


class Restart(BaseException):
    """A function turned out to need interpretation: run the block again from its start."""


class Again(BaseException):
    """Something was learnt that the program must be explored with from the start."""


class OwnMistake(Exception):
    """DyCL itself fails with the error that is this one's cause."""


class Refused(BaseException):
    """The program needs something that DyCL does not support; `identifier` names the error page."""

    def __init__(self, identifier: str, reason: str, help: str | None = None) -> None:
        super().__init__(f"{identifier}: {reason}")
        self.identifier = identifier
        self.reason = reason
        self.help = help


SIGNALS = (DecisionMet, CheckMet, Restart, Again, Refused, KeyboardInterrupt)
"""What is never an error of the user's program."""
