"""The benchmark's figures as Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

from dycl.bench.ways import DYCL, EAGER, ORACLE, PLAIN, WAYS
from dycl.zoo import NETWORKS

Record = dict[str, Any]
BACKEND_STAGE = "load"
"""The stage of a compilation that is the backend's; the others are DyCL's own."""


def report(records: Sequence[Record]) -> str:
    """A page with every table, and every failure below them."""
    parts = ["# Benchmark results", machine(records), methods(records)]
    for size in ("full", "small"):
        chosen = [record for record in records if record["settings"]["size"] == size]
        if not chosen:
            continue
        parts.append(f"## {size.capitalize()} size")
        parts.append(f"### Correctness\n\n{correctness(fewest_threads(chosen))}")
        for threads in sorted({record["settings"]["threads"] for record in chosen}):
            rows = [record for record in chosen if record["settings"]["threads"] == threads]
            parts.append(f"### Latency, {threads} thread{'s' if threads > 1 else ''}\n\n{latency(rows)}")
        parts.append(f"### Compilation and size\n\n{compilation(fewest_threads(chosen))}")
    problems = failures(records)
    if problems:
        parts.append(f"## What failed\n\n{problems}")
    return "\n\n".join(parts) + "\n"


def machine(records: Sequence[Record]) -> str:
    """The machine, on one line."""
    facts: dict[str, str] = next((record["machine"] for record in records if "machine" in record), {})
    return "Measured on " + ", ".join(f"{name}: {value}" for name, value in facts.items()) + "."


def methods(records: Sequence[Record]) -> str:
    """How the figures came about."""
    return (
        "All ways run the same inputs one at a time, in turns, in one process with the same number of threads, with "
        "their default settings. Each run follows another of the same input that is not counted. Times are medians "
        "over all inputs and rounds. A speed-up is eager PyTorch's time over the way's, input by input: the median, "
        "and in brackets where 80 % of the inputs lie. A path is equal if each of its decisions is among the tests "
        "that Python makes in eager PyTorch, in order, and each test of a tensor there among its decisions. The "
        "oracle knows each input's path beforehand and runs it as one graph on the same backend, without the work that "
        "only decisions need; its ratios are over the inputs whose paths it got ready in time. *Traced, wrong* is the "
        "share of inputs whose prediction changes if the first input's path is taken for all. The networks' sources "
        "are the same for all ways and were arranged for none; some of what fails would work after small edits."
    )


def fewest_threads(records: Sequence[Record]) -> list[Record]:
    """The records with the smallest number of threads."""
    least = min(record["settings"]["threads"] for record in records)
    return [record for record in records if record["settings"]["threads"] == least]


def correctness(records: Sequence[Record]) -> str:
    """Whether the compiled program does what eager PyTorch does."""
    head = (
        "network", "decisions", "blocks", "sub-DNNs", "inputs", "paths seen", "paths equal", "inconsistent",
        "largest relative error", "traced, wrong",
    )  # fmt: skip
    rows = []
    for record in records:
        if "compared" not in record:
            rows.append(_without_figures(record, len(head)))
            continue
        program, compared = record["program"], record["compared"]
        traced = compared["traced_inconsistent"]
        rows.append(
            (
                title(record),
                str(program["decisions"]),
                str(program["blocks"]),
                str(program["subnets"]),
                f"{compared['inputs']:,}",
                str(compared["paths"]),
                f"{compared['paths_equal'] / compared['inputs']:.4g}",
                f"{compared['inconsistent'] / compared['inputs']:.4g}",
                f"{compared['largest_error']:.1e}",
                "" if traced is None else f"{traced / compared['inputs']:.2f}",
            )
        )
    return table(head, rows)


def latency(records: Sequence[Record]) -> str:
    """Milliseconds in eager PyTorch, and the speed-up of every other way."""
    others = [name for name in WAYS if name != EAGER]
    head = ("network", f"{EAGER}, ms", "its p99", *others, f"{DYCL}, ms", "its p99", f"{DYCL} / {ORACLE}")
    rows = []
    for record in records:
        if "ways" not in record:
            rows.append((title(record), *[""] * (len(head) - 1)))
            continue
        ways = record["ways"]
        mine = ways[DYCL]
        to_oracle = record.get("to_oracle")
        rows.append(
            (
                title(record),
                milliseconds(ways[EAGER], "median"),
                milliseconds(ways[EAGER], "p99"),
                *(speed_up(ways[name]) for name in others),
                milliseconds(mine, "median"),
                milliseconds(mine, "p99"),
                "" if to_oracle is None else _with_spread(to_oracle),
            )
        )
    return table(head, rows)


def compilation(records: Sequence[Record]) -> str:
    """Where compile time goes, what the result weighs, and what running it takes."""
    head = (
        "network", "rewriting, s", "graph, s", "translation, s", "backend, s", "own share",
        "weights, MB", "artefact, MB", "memory, MB", "memory in PyTorch, MB",
    )  # fmt: skip
    rows = []
    for record in records:
        if "program" not in record:
            rows.append((title(record), *[""] * (len(head) - 1)))
            continue
        program, stages = record["program"], record["program"]["stages"]
        rows.append(
            (
                title(record),
                *(f"{stages[stage]:.2f}" for stage in ("rewrite", "optimize", "compile", BACKEND_STAGE)),
                f"{own_share(stages):.0%}",
                *(
                    f"{count / 1e6:.1f}"
                    for count in (
                        record["parameters"],
                        program["artefact"],
                        program["memory"],
                        program["eager_memory"],
                    )
                ),
            )
        )
    return table(head, rows)


def own_share(stages: dict[str, float]) -> float:
    """How much of a compilation is not the backend's."""
    return 1 - stages[BACKEND_STAGE] / sum(stages.values())


def failures(records: Sequence[Record]) -> str:
    """A line for everything that did not work."""
    lines = []
    for record in records:
        settings = record["settings"]
        where = f"{settings['network']}, {settings['size']}, {settings['threads']} thread(s)"
        if "failed" in record:
            lines.append(f"- {where}: {record['failed']}")
        for name, way in record.get("ways", {}).items():
            if way["problem"]:
                lines.append(f"- {where}, {name}: {way['problem']}")
            elif way["wrong"]:
                lines.append(f"- {where}, {name}: another prediction for {way['wrong']} of {way['inputs']} inputs")
            if not way["problem"] and way["inputs"] < settings["timed"]:
                lines.append(f"- {where}, {name}: ready for the first {way['inputs']} of {settings['timed']} inputs")
    return "\n".join(lines)


def summary(records: Sequence[Record]) -> str:
    """One line a network, for those who want to know whether it works and what it brings."""
    others = [name for name in WAYS if name not in (EAGER, PLAIN)]
    head = ("network", "paths seen", "same path", "same prediction", "largest error", f"{EAGER}, ms", *others)
    rows = []
    for record in records:
        if "compared" not in record:
            rows.append(_without_figures(record, len(head)))
            continue
        compared, ways = record["compared"], record["ways"]
        rows.append(
            (
                title(record),
                str(compared["paths"]),
                f"{compared['paths_equal']} of {compared['inputs']}",
                f"{compared['inputs'] - compared['inconsistent']} of {compared['inputs']}",
                f"{compared['largest_error']:.1e}",
                milliseconds(ways[EAGER], "median"),
                *(speed_up(ways[name], spread=False) for name in others),
            )
        )
    return table(head, rows)


def title(record: Record) -> str:
    """A network's name, with its number in the paper if it has one."""
    network = NETWORKS[record["settings"]["network"]]
    return f"({network.number}) {network.title}" if network.number else network.title


def milliseconds(way: Record, which: str) -> str:
    """A way's median or other figure in milliseconds."""
    if which not in way:
        return "fails"
    value = way[which] * 1e3
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _without_figures(record: Record, columns: int) -> tuple[str, ...]:
    return (title(record), record.get("refused") or record.get("failed", ""), *[""] * (columns - 2))


def speed_up(way: Record, spread: bool = True) -> str:
    """How many times as fast as eager PyTorch a way is; that it fails, or is wrong for some input, is said."""
    if way["problem"]:
        return "fails"
    return (_with_spread(way) if spread else f"{way['ratio']:.2f}x") + (" wrong" if way["wrong"] else "")


def _with_spread(figures: Record) -> str:
    return f"{figures['ratio']:.2f}x ({figures['ratio_low']:.2f} to {figures['ratio_high']:.2f})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its columns lined up."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    shown = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return "\n".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]])
