"""A module that nobody imports before a model does."""

ITEMS = [0]
