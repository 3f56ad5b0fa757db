"""The version of DyCL."""

__version__ = "0.1.0"
