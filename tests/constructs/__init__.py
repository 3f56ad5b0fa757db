"""The constructs of Python and PyTorch that models use: a model a row of docs/constructs.md, a module a group."""
