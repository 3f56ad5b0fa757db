"""The command line: `dycl demo`, `dycl inspect`, `dycl run`, `dycl zoo`, `dycl bench`."""

from dycl.cli.command import main

__all__ = ["main"]
