"""The error that ends a command with a message instead of a traceback."""


class Failure(Exception):
    """What the user asked for cannot be done; the message is one sentence that says why."""
