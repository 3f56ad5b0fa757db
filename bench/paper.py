"""DyCL's figures beside those of the paper that it follows (ISSTA 2023, arXiv:2307.04963), network by network."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dycl.bench.tables import milliseconds, own_share, speed_up, table, title
from dycl.bench.ways import DYCL, EAGER, ORACLE, PLAIN
from dycl.zoo import NETWORKS

Record = dict[str, Any]
TORCH_COMPILE, BRANCHES = "torch.compile", "ONNX If/Loop"


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper and its repository say of one network.

    Seconds on a Jetson TX2 in PyTorch, TorchDynamo and DyCL on ONNX Runtime; the gain by graph optimisation on an AGX
    in per cent, on ONNX Runtime and TVM; seconds of compiling: rewriting, graph optimisation, sub-DNNs on ONNX Runtime.
    """

    sub_dnns: int
    megabytes: float
    traced_wrong: float
    log_error: float
    pytorch: float
    dynamo: float
    dycl: float
    gain: float
    gain_tvm: float
    rewriting: float
    optimising: float
    backend: float

    @property
    def own_share(self) -> float:
        """How much of the compilation is DyCL's own; the paper prints its ratio to the backend's part instead."""
        own = self.rewriting + self.optimising
        return own / (own + self.backend)


PAPER = {
    1: Published(108, 354, 0.83, -10.00, 2.37, 4.25, 1.12, 1.2, 0.9, 0.06, 9.19, 37.18),
    2: Published(42, 430, 0.83, -9.35, 2.04, 1.94, 1.40, 10.6, 29.4, 0.04, 14.24, 56.17),
    3: Published(81, 21, 0.83, -5.53, 0.80, 0.74, 0.17, -2.5, 1.3, 0.05, 0.28, 68.23),
    4: Published(20, 99, 0.83, -5.48, 1.58, 1.09, 1.30, 3.7, 22.3, 0.08, 1.95, 94.35),
    5: Published(108, 2.3, 1.00, -5.81, 0.71, 0.33, 0.04, 10.2, 13.0, 0.14, 0.85, 59.67),
    6: Published(111, 4.6, 1.00, -6.45, 0.71, 0.33, 0.03, 6.8, 1.9, 0.16, 0.76, 202.80),
    7: Published(200, 68, 0.87, -10.00, 1.06, 0.49, 0.40, 3.6, 15.5, 0.09, 8.96, 80.85),
    8: Published(200, 249, 0.87, -10.00, 1.43, 0.82, 0.76, 2.3, 0.3, 0.06, 49.09, 219.30),
    9: Published(42, 7.2, math.nan, -10.00, 0.76, 1.15, 0.07, 0.2, 0.2, 0.14, 0.85, 210.20),
}
"""By the network's number in the paper. It gives the share of wrong predictions of traced models for families alone."""


def correctness(records: Sequence[Record]) -> str:
    """Wrong predictions of a traced model and of DyCL, and numeric errors."""
    return _compared(
        records,
        ("traced, wrong: paper", "here", f"{DYCL}, wrong: paper", "here", "log10 of error: paper", "here"),
        lambda paper, record: (
            "" if math.isnan(paper.traced_wrong) else f"{paper.traced_wrong:.2f}",
            _traced(record),
            "0",
            _wrong(record),
            f"{paper.log_error:.2f}",
            _log_error(record),
        ),
    )


def _wrong(record: Record) -> str:
    return f"{record['compared']['inconsistent'] / record['compared']['inputs']:.4g}"


def _log_error(record: Record) -> str:
    error = record["compared"]["largest_error"]
    return f"{math.log10(error):.2f}" if error else "no error"


def _traced(record: Record) -> str:
    wrong = record["compared"]["traced_inconsistent"]
    return "" if wrong is None else f"{wrong / record['compared']['inputs']:.2f}"


def speed(records: Sequence[Record]) -> str:
    """How many times as fast as eager PyTorch."""
    return _compared(
        records,
        ("TorchDynamo: paper", f"{TORCH_COMPILE} here", f"{BRANCHES} here", f"{DYCL}: paper", "here", f"{ORACLE} here"),
        lambda paper, record: (
            f"{paper.pytorch / paper.dynamo:.2f}x",
            _speed(record, TORCH_COMPILE),
            _speed(record, BRANCHES),
            f"{paper.pytorch / paper.dycl:.2f}x",
            _speed(record, DYCL),
            _speed(record, ORACLE),
        ),
    )


def _speed(record: Record, way: str) -> str:
    return speed_up(record["ways"][way], spread=False)


def optimisation(records: Sequence[Record]) -> str:
    """How much faster graph optimisation makes the programs."""
    return _compared(
        records,
        ("paper, ONNX Runtime", "paper, TVM", "here", f"{PLAIN}, ms", f"{DYCL}, ms"),
        lambda paper, record: (
            f"{paper.gain:.1f} %",
            f"{paper.gain_tvm:.1f} %",
            _gain(record),
            *(milliseconds(record["ways"][way], "median") for way in (PLAIN, DYCL)),
        ),
    )


def _gain(record: Record) -> str:
    """By how much graph optimisation speeds a network up: the median over inputs."""
    return f"{statistics.median(item[PLAIN] / item[DYCL] - 1 for item in record['by_exit']) * 100:.1f} %"


def compilation(records: Sequence[Record]) -> str:
    """Where the seconds of a compilation go, and what comes of it."""
    return _compared(
        records,
        ("sub-DNNs: paper", "here", "weights, MB: paper", "here", "DyCL's own, s: paper", "here",
         "backend, s: paper", "here", "own share: paper", "here"),
        lambda paper, record: (
            str(paper.sub_dnns),
            str(record["program"]["subnets"]),
            f"{paper.megabytes:g}",
            f"{record['parameters'] / 1e6:.1f}",
            f"{paper.rewriting + paper.optimising:.2f}",
            f"{_own(record):.2f}",
            f"{paper.backend:.1f}",
            f"{record['program']['stages']['load']:.2f}",
            f"{paper.own_share:.0%}",
            f"{own_share(record['program']['stages']):.0%}",
        ),
    )  # fmt: skip


def _own(record: Record) -> float:
    stages = record["program"]["stages"]
    return float(sum(stages.values()) - stages["load"])


def beyond(records: Sequence[Record]) -> str:
    """The networks that the paper does not measure."""
    rows = [
        (
            title(record),
            _traced(record),
            _wrong(record),
            _log_error(record),
            milliseconds(record["ways"][EAGER], "median"),
            *(_speed(record, way) for way in (TORCH_COMPILE, BRANCHES, DYCL, ORACLE)),
            _gain(record),
            f"{sum(record['program']['stages'].values()):.1f}",
        )
        for record in records
        if not _number(record)
    ]
    head = ("network", "traced, wrong", f"{DYCL}, wrong", "log10 of error", f"{EAGER}, ms",
            TORCH_COMPILE, BRANCHES, DYCL, ORACLE, "optimisation", "compiled in, s")  # fmt: skip
    return table(head, rows)


def _compared(
    records: Sequence[Record], head: tuple[str, ...], row: Callable[[Published, Record], tuple[str, ...]]
) -> str:
    rows = [(title(record), *row(PAPER[number], record)) for record in records if (number := _number(record))]
    return table(("network", *head), rows)


def _number(record: Record) -> int | None:
    return NETWORKS[record["settings"]["network"]].number
