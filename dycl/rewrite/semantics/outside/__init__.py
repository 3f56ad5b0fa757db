"""Calls whose meaning lies outside of the program: logs and warnings, the code that makes them, when objects die."""
