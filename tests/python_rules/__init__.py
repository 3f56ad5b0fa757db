"""Python's own rules, which the machine follows by hand: small models, each compared with eager PyTorch."""
