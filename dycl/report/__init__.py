"""What DyCL tells about a model: its decisions, and why it would be refused."""

from dycl.report.explain import DecisionPoint, Explanation, explain

__all__ = ["DecisionPoint", "Explanation", "explain"]
