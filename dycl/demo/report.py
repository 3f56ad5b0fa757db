"""The demo's words and figures."""

from collections.abc import Iterator, Mapping

from dycl.demo.comparison import Comparison, Traced
from dycl.terminal import bar, counted, styled

BAR_WIDTH = 40


def step(name: str, text: str) -> None:
    """Nothing; one line says what was done."""
    print(f"{styled(f'{name:<10}', 'bold')} {text}", flush=True)


def report(comparison: Comparison, latencies: Mapping[str, float], traced: Traced, runs: int) -> None:
    """Nothing; the comparison is printed."""
    for heading, lines in (
        (f"Accuracy on {counted(len(comparison.labels), 'test image')}", _accuracy(comparison)),
        ("DyCL against PyTorch, image by image", _consistency(comparison)),
        ("Where the images leave", _exits(comparison)),
        (f"Median latency of one image: one thread, {runs:,} runs each, in turns", _latency(latencies, traced)),
        ("What torch.jit.trace makes of the same model", _tracing(comparison, traced)),
    ):
        print(f"\n{styled(heading, 'bold')}")
        for line in lines:
            print(f"  {line}")
    print()
    if comparison.agrees:
        print(styled("DyCL and PyTorch agree on every image.", "green"))
    else:
        print(styled("DyCL and PyTorch do NOT agree.", "red"))


def _accuracy(comparison: Comparison) -> Iterator[str]:
    ways = {"PyTorch": comparison.eager, "DyCL": comparison.compiled, "torch.jit.trace": comparison.traced}
    for name, outcomes in ways.items():
        yield f"{name:<26}{outcomes.accuracy(comparison.labels):>8.1%}"


def _consistency(comparison: Comparison) -> Iterator[str]:
    yield f"{'inconsistent predictions':<26}{comparison.inconsistent_predictions:>8}"
    yield f"{'inconsistent paths':<26}{comparison.inconsistent_paths:>8}   the exit each image took, compared"
    yield f"{'largest difference':<26}{comparison.largest_difference:>8.1e}   of any output"


def _exits(comparison: Comparison) -> Iterator[str]:
    counts = comparison.compiled.exits.bincount(minlength=comparison.exits).tolist()
    for number, count in enumerate(counts, start=1):
        share = count / len(comparison.labels)
        yield f"exit {number}  {bar(count / max(counts), BAR_WIDTH)} {count:>4} {share:>6.1%}"


def _latency(latencies: Mapping[str, float], traced: Traced) -> Iterator[str]:
    eager, compiled, tracing = (latencies[name] for name in ("PyTorch", "DyCL", "torch.jit.trace"))
    yield f"{'PyTorch':<26}{eager * 1e6:>5.0f} us"
    yield f"{'DyCL':<26}{compiled * 1e6:>5.0f} us   {eager / compiled:.1f} times as fast"
    always = f"but every image leaves at exit {traced.exit + 1}"
    yield f"{'torch.jit.trace':<26}{tracing * 1e6:>5.0f} us   {eager / tracing:.1f} times as fast, {always}"


def _tracing(comparison: Comparison, traced: Traced) -> Iterator[str]:
    total = len(comparison.labels)
    yield f"It was traced on an image that leaves at exit {traced.exit + 1}, so every image leaves there."
    yield f"{'images at the wrong exit':<26}{comparison.traced_wrong_exits:>8} of {total}"
    yield f"{'predictions changed':<26}{comparison.traced_wrong_predictions:>8} of {total}"
    yield f"{'warnings while tracing':<26}{traced.warnings:>8}   none while running"
