"""The benchmark's figures as pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dycl.bench.tables import title
from dycl.bench.ways import DYCL, EAGER, ORACLE, WAYS

Record = dict[str, Any]
COLOURS = {EAGER: "#9a9a9a", "torch.compile": "#c58b2a", "torch.jit.script": "#7b9e4b", "ONNX If/Loop": "#8a6bb1",
           DYCL: "#c0392b", ORACLE: "#1f5f8b"}  # fmt: skip
STAGES = {"rewrite": ("rewriting", "#c0392b"), "optimize": ("graph optimisation", "#e08e79"),
          "compile": ("translation", "#f3cfc3"), "load": ("backend", "#1f5f8b")}  # fmt: skip


def draw(records: Sequence[Record], folder: Path) -> list[Path]:
    """The pictures of these figures, written to `folder` as SVG and PNG."""
    needed = {
        "speed-up": (speed_up, "ways"),
        "ratio-to-oracle": (ratio_to_oracle, "to_oracle"),
        "latency-by-exit": (latency_by_exit, "by_exit"),
        "compile-time": (compile_time, "program"),
    }
    drawable = {
        name: (picture, [record for record in records if key in record]) for name, (picture, key) in needed.items()
    }
    figures = {name: picture(chosen) for name, (picture, chosen) in drawable.items() if chosen}
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures.items():
        for kind in ("svg", "png"):
            written.append(folder / f"{name}.{kind}")
            figure.savefig(written[-1], dpi=120, metadata={"Date": None} if kind == "svg" else None)
        plt.close(figure)
    return written


def speed_up(records: Sequence[Record]) -> Figure:
    """How many times as fast as eager PyTorch each way is, network by network."""
    names = [name for name in WAYS if name in COLOURS and name != EAGER]
    figure, axes = _figure(len(records), 0.62)
    height = 0.8 / len(names)
    for place, name in enumerate(names):
        for row, record in enumerate(records):
            way = record["ways"][name]
            where = row + (place - (len(names) - 1) / 2) * height
            if way["problem"] or way["wrong"]:
                axes.text(
                    1.02, where, "fails" if way["problem"] else "wrong", va="center", fontsize=6, color=COLOURS[name]
                )
            else:
                axes.barh(where, way["ratio"], height, color=COLOURS[name], label=name if row == 0 else None)
    axes.axvline(1, color=COLOURS[EAGER], linewidth=1)
    _name_rows(axes, records)
    axes.set_xlabel(f"times as fast as {EAGER} (median over inputs; 1 is equal)")
    handles = [Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in names]
    figure.legend(handles, names, fontsize=8, loc="outside upper center", ncol=len(names), frameon=False)
    return figure


def ratio_to_oracle(records: Sequence[Record]) -> Figure:
    """How much longer DyCL takes than a program that knows every decision beforehand."""
    figure, axes = _figure(len(records), 0.34)
    for row, record in enumerate(records):
        ratio = record["to_oracle"]
        axes.plot([ratio["ratio_low"], ratio["ratio_high"]], [row, row], color=COLOURS[DYCL], linewidth=2)
        axes.plot(ratio["ratio"], row, "o", color=COLOURS[DYCL])
    axes.axvline(1, color=COLOURS[ORACLE], linewidth=1)
    _name_rows(axes, records)
    axes.set_xlabel(f"{DYCL}'s time over the {ORACLE}'s\n(median, and where 80 % of the inputs lie)")
    return figure


def latency_by_exit(records: Sequence[Record]) -> Figure:
    """How long each input takes, by how far it goes: by its sub-DNNs or, if all run as many, by the oracle's time."""
    columns = 4
    rows = -(-len(records) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(12, 2.5 * rows + 0.4), squeeze=False, layout="constrained")
    for axes, record in zip(grid.flat, records, strict=False):
        inputs = record["by_exit"]
        by_calls = len({item["calls"] for item in inputs}) > 2
        for name in (EAGER, DYCL, ORACLE):
            across = [item["calls"] if by_calls else item[ORACLE] * 1e3 for item in inputs]
            axes.plot(across, [item[name] * 1e3 for item in inputs], "o", markersize=3, color=COLOURS[name], label=name)
        axes.set_title(title(record), fontsize=8)
        axes.set_xlabel("sub-DNNs run" if by_calls else f"{ORACLE}, ms", fontsize=7)
        axes.set_ylabel("ms", fontsize=7)
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=7)
    for axes in list(grid.flat)[len(records) :]:
        axes.axis("off")
    figure.legend(
        *grid[0][0].get_legend_handles_labels(), fontsize=8, loc="outside upper center", ncol=3, frameon=False
    )
    return figure


def compile_time(records: Sequence[Record]) -> Figure:
    """Where compile time goes: the share of each stage, and the seconds of all."""
    figure, axes = _figure(len(records), 0.34)
    for row, record in enumerate(records):
        left = 0.0
        stages = record["program"]["stages"]
        total = sum(stages.values())
        for stage, (label, colour) in STAGES.items():
            share = stages[stage] / total * 100
            axes.barh(row, share, 0.7, left=left, color=colour, label=label if row == 0 else None)
            left += share
        axes.text(101, row, f"{total:.2g} s", va="center", fontsize=8)
    _name_rows(axes, records)
    axes.set_xlabel("% of the time to compile")
    figure.legend(fontsize=8, loc="outside upper center", ncol=len(STAGES), frameon=False)
    return figure


def _figure(rows: int, inches: float) -> tuple[Figure, Axes]:
    return plt.subplots(figsize=(8, 1.2 + inches * rows), layout="constrained")


def _name_rows(axes: Axes, records: Sequence[Record]) -> None:
    axes.set_yticks(range(len(records)), [title(record) for record in records], fontsize=8)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
