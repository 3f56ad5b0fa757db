"""All tests with every version of Python and PyTorch that DyCL is meant for: `make test-versions`.

Nothing here but its own tests needs a package, so any Python from 3.11 on can run it.
"""
