"""`dycl backends`: list the DL compilers that sub-DNNs can go to, which are here, and how to get the others."""

import argparse

from dycl.runtime.backend_registry import known_backends

NAME = "backends"
SUMMARY = "list the DL compilers that can be used, and how to get the others"
DESCRIPTION = """\
Lists the DL compilers that sub-DNNs can go to, with the version that is
installed, what each takes, and how to get those that are not there.
A program names its backends when it is compiled; running it needs these alone.
"""
EXAMPLES = """\
  dycl backends
  dycl.compile(model, args, backend=["ncnn", "onnxruntime"])
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; the command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0."""
    found = known_backends()
    rows = [(one.name, one.version or "not installed", one.takes) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for one, (name, version, takes) in zip(found, rows, strict=True):
        print(f"{name:<{widths[0]}}  {version:<{widths[1]}}  {takes}")
        if one.version is None:
            print(f"{'':<{sum(widths) + 4}}get it: pip install '{one.requirement}'")
    return 0
