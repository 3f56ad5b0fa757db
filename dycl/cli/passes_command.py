"""`dycl passes`: list the passes in the order in which they run."""

import argparse

NAME = "passes"
SUMMARY = "list the passes that a compilation runs, in order"
DESCRIPTION = """\
Lists the passes that a compilation runs over a program, in order. Each can be
left out by its name: dycl.compile(model, args, without=["merge_blocks"]).
With DYCL_DUMP set to a folder, the program's text is written there after each.
"""
EXAMPLES = """\
  dycl passes
  DYCL_DUMP=stages python compile_my_model.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; the command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0."""
    from dycl.optimize.pipeline import PASSES

    width = max(len(item.name) for item in PASSES)
    for number, item in enumerate(PASSES, start=1):
        print(f"{number}  {item.name:<{width}}  {item.summary}")
        for role, properties in (("requires", item.requires), ("ensures", item.ensures)):
            for held in properties:
                print(f"{'':<{width + 5}}{role}: {held.name}")
    return 0
