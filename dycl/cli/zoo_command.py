"""`dycl zoo`: list the networks, or try one."""

import argparse

from dycl.cli.failure import Failure, needing

NAME = "zoo"
SUMMARY = "list the networks that decide while they run, or try one"
DESCRIPTION = """\
Lists the networks of the zoo. With a network's name: loads it with seeded
weights, compiles it, and says how many different paths its inputs take.
"""
EXAMPLES = """\
  dycl zoo
  dycl zoo skipnet-rnn
  dycl zoo shallowdeep-vgg --size full --inputs 20
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    parser.add_argument("network", nargs="?", help="the network to try")
    parser.add_argument("--size", choices=("small", "full"), default="small", help="default: %(default)s")
    parser.add_argument("--inputs", type=int, default=100, metavar="N", help="how many inputs (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0."""
    with needing("compile", "the zoo", {"torch": "torch", "onnx": "onnx"}):
        from dycl import zoo
        from dycl.compiler import compile
    if arguments.network is None:
        width = max(map(len, zoo.NETWORKS))
        for network in zoo.NETWORKS.values():
            print(f"{network.name:<{width}}  {network.title}")
            print(f"{'':<{width}}  {network.decides}")
            print(f"{'':<{width}}  {network.source}")
        return 0
    if arguments.network not in zoo.NETWORKS:
        raise Failure(f"the zoo has no network {arguments.network}; it has {', '.join(zoo.NETWORKS)}")
    if arguments.inputs < 1:
        raise Failure(f"--inputs is {arguments.inputs}, it must be at least 1")
    model = zoo.load(arguments.network, arguments.size)
    inputs = zoo.inputs(arguments.network, arguments.size, arguments.inputs, seed=1)
    program = compile(model, inputs[0])
    paths = {tuple((taken.span, taken.outcome) for taken in program.trace(*given).path.decisions) for given in inputs}
    weights = sum(parameter.numel() for parameter in model.parameters())
    print(f"{zoo.network(arguments.network).title}, {arguments.size}: {weights:,} weights, {program!r}")
    print(f"{len(inputs)} inputs take {len(paths)} different paths")
    return 0
