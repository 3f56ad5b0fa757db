"""Complex numbers, which the backend does not have: recorded as pairs of real ones."""
