"""Run a program to its next decision: natively where that is possible, step by step where a decision hides."""
