"""The command `dycl`: its arguments, its subcommands, its exit codes."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from dycl.cli import (
    backends_command,
    bench_command,
    demo_command,
    inspect_command,
    passes_command,
    run_command,
    tune_command,
    zoo_command,
)
from dycl.cli.failure import Failure
from dycl.runtime import DyclError
from dycl.version import __version__

_EXAMPLES = """\
examples:
  dycl demo                            see what DyCL does, in under a minute
  dycl inspect model.dycl --graph      show what is in an artefact
  dycl run model.dycl --input x.npy    run an artefact
  dycl tune model.dycl                 choose its backends for this machine
  dycl backends                        list the DL compilers that can be used
  dycl passes                          list the compiler's passes
  dycl zoo                             list networks to try and to measure
  dycl bench --quick                   measure them, against everything else
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command: 0, 1 if it could not be done or found a difference, 2 if it was misspelt."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # A terminal that lacks a character shows a question mark.
    parsed = _parser().parse_args(arguments)
    try:
        code: int = parsed.command(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; what Python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except DyclError as error:
        print(error, file=sys.stderr)
        return 1
    except Failure as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


_COMMANDS = (
    demo_command,
    inspect_command,
    run_command,
    tune_command,
    backends_command,
    passes_command,
    zoo_command,
    bench_command,
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dycl",
        description="DyCL compiles PyTorch models that make decisions while they run.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dycl {__version__}")
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        subparser = subcommands.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.DESCRIPTION,
            epilog=f"examples:\n{command.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(command=command.run)
    return parser
