"""The one error of the graph: it is not well formed."""


class HcfgError(ValueError):
    """A graph, or its JSON form, breaks a rule; the message is one sentence that names the place and the rule."""
