"""The benchmark: the zoo's networks, run in every way that a user might pick, and the limit."""
