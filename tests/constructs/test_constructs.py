"""Every row of docs/constructs.md is what the row says, and the page is what the rows make.

`make constructs` writes the page anew.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.constructs.checking import check
from tests.constructs.construct import Construct
from tests.constructs.page import GROUPS, page, rows

PAGE = Path(__file__).parents[2] / "docs" / "constructs.md"
CONSTRUCTS = [construct for group in GROUPS for construct in rows(group)]


# PyTorch's tensors are behind NumPy's newest way to make arrays of them.
@pytest.mark.filterwarnings("ignore:__array:DeprecationWarning")
@pytest.mark.parametrize("construct", CONSTRUCTS, ids=str)
def test_construct(construct: Construct) -> None:
    check(construct)


def test_no_construct_stands_twice() -> None:
    assert [name for name, count in Counter(construct.name for construct in CONSTRUCTS).items() if count > 1] == []


def test_the_page_is_what_the_constructs_make(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--regenerate"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
