"""The pages show the committed figures."""

from pathlib import Path

import pytest

from bench import documented
from dycl.bench import results
from dycl.zoo import NETWORKS


@pytest.mark.parametrize("page", documented.PAGES, ids=lambda page: page.name)
def test_the_page_shows_the_committed_figures(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert documented.filled(text, documented.made()) == text, "run python -m bench.documented"


@pytest.mark.parametrize(("size", "inputs"), [("small", 1000), ("full", 100)])
def test_every_network_was_measured_and_agrees(size: str, inputs: int) -> None:
    found = documented.records(size)
    assert [record["settings"]["network"] for record in found] == list(NETWORKS)
    assert all(record["compared"]["inputs"] == inputs and results.agrees(record) for record in found)


def test_what_stands_between_the_markers_is_made_anew() -> None:
    text = "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n"
    assert documented.filled(text, {"one": "new"}) == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"
