"""Measurements of time, each a module to run: `python -m bench.rewriting_time`."""
