"""`dycl bench`: measure the zoo's networks in every way that a user might pick."""

import argparse
from pathlib import Path

from dycl.cli.failure import Failure, needing
from dycl.terminal import ProgressBar

NAME = "bench"
SUMMARY = "measure DyCL against PyTorch, ONNX If/Loop and the limit on networks that decide"
DESCRIPTION = """\
Runs the networks of the zoo in eager PyTorch, torch.compile, torch.jit.script,
TorchScript exported to ONNX If/Loop, DyCL without and with optimisation of the
graph, and the oracle, which knows every decision beforehand: the same inputs,
in turns. Compares results and paths with eager PyTorch. Writes JSON, a Markdown
page and pictures. What is measured already is not measured again.
"""
EXAMPLES = """\
  dycl bench --quick                        a first look, in under ten minutes
  dycl bench --only skipnet-rnn blockdrop   some networks, in full
  dycl bench --size full --threads 1        full size alone, on one thread
  dycl bench                                everything, in about two hours
"""

_NEEDED = {"torch": "torch", "onnx": "onnx", "matplotlib": "matplotlib"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing; `parser` knows the command's arguments afterwards."""
    parser.add_argument("--only", nargs="+", metavar="NETWORK", help="measure these networks alone (see dycl zoo)")
    parser.add_argument("--quick", action="store_true", help="small networks, few inputs, short rounds")
    parser.add_argument("--size", nargs="+", choices=("small", "full"), default=["small", "full"], help="default: both")
    parser.add_argument(
        "--threads", nargs="+", type=int, default=[1, 2], metavar="N", help="default: 1 2; small networks use the first"
    )
    parser.add_argument("--backend", nargs="+", default=["onnxruntime"], metavar="NAME", help="default: onnxruntime")
    parser.add_argument("--inputs", type=int, metavar="N", help="inputs to compare (default: 1000 small, 100 full)")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long to time a network (default: %(default)g)")
    parser.add_argument(
        "--patience",
        type=float,
        default=200.0,
        metavar="S",
        help="seconds until a way is given up (default: %(default)g)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("bench-results"), metavar="FOLDER", help="default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0 if DyCL and PyTorch agree on every input."""
    with needing("bench", "the benchmark", _NEEDED):
        from dycl.bench import campaign, plan, results
        from dycl.zoo import NETWORKS
    names = arguments.only or list(NETWORKS)
    for name in names:
        if name not in NETWORKS:
            raise Failure(f"the zoo has no network {name}; it has {', '.join(NETWORKS)}")
    planned = (
        plan.quick(names, arguments.backend)
        if arguments.quick
        else plan.whole(
            names,
            arguments.size,
            arguments.backend,
            arguments.threads,
            inputs=arguments.inputs,
            seconds=arguments.seconds,
            patience=arguments.patience,
        )
    )
    numbers = {settings: number for number, settings in enumerate(planned, 1)}
    with ProgressBar("") as bar:

        def progress(settings: plan.Settings, stage: str, done: int, total: int) -> None:
            bar.rename(f"{numbers[settings]}/{len(planned)} {settings.label}: {stage}")
            bar.show(done, total)

        records = campaign.run(planned, arguments.out, progress)
    page, pictures = results.write(records, arguments.out)
    print(page.read_text(encoding="utf-8"))
    print(f"written to {arguments.out}: {page.name}, {len(records)} JSON files, {len(pictures)} pictures")
    return 0 if all(map(results.agrees, records)) else 1
