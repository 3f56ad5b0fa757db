"""Builtins and library functions as plain Python, for the machine to step into."""
