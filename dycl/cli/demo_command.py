"""`dycl demo`: train, compile and compare an early-exit classifier."""

import argparse
from pathlib import Path

from dycl.cli.failure import Failure, needing

NAME = "demo"
SUMMARY = "train an early-exit classifier, compile it, compare it with PyTorch"
DESCRIPTION = """\
Trains a small early-exit classifier on scikit-learn's digits, compiles it, and
runs every test image through PyTorch, the compiled program and torch.jit.trace.
The exit code is 1 if the compiled program and PyTorch differ in a prediction,
in a path, or in an output by more than rounding.
"""
EXAMPLES = """\
  dycl demo
  dycl demo --save digits.dycl
"""

_NEEDED = {"torch": "torch", "onnx": "onnx", "sklearn": "scikit-learn"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the compiled program in this file")
    parser.add_argument("--seed", type=int, default=0, help="what training starts from (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=12, help="how long to train (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0 if the compiled program and PyTorch agree on everything."""
    with needing("demo", "the demo", _NEEDED):
        from dycl.demo import demonstrate
    if arguments.epochs < 1:
        raise Failure(f"--epochs is {arguments.epochs}, it must be at least 1")
    comparison = demonstrate(epochs=arguments.epochs, seed=arguments.seed, save=arguments.save)
    return 0 if comparison.agrees else 1
