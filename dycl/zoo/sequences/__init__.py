"""Networks that read or write sequences."""
