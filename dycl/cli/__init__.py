"""The command line: `dycl demo`, `dycl inspect`, `dycl run`."""

from dycl.cli.command import main

__all__ = ["main"]
