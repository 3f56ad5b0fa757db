"""Every lowering gives PyTorch's result, whether sizes are known while compiling or not."""

import importlib

import pytest

from dycl.backends.onnx.lowerings import LOWERINGS
from tests.operations.cases import Case, check, check_named
from tests.operations.linalg import OLD_CHOLESKY

TOPICS = (
    "arithmetic",
    "comparisons",
    "complex_numbers",
    "composites",
    "counting",
    "functions",
    "half_precision",
    "indexing",
    "layers",
    "linalg",
    "nan",
    "places",
    "polynomials",
    "reductions",
    "reflections",
    "segments",
    "shapes",
    "special",
    "windows",
)


CASES: list[Case] = [case for topic in TOPICS for case in importlib.import_module(f"tests.operations.{topic}").CASES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    """The translation gives PyTorch's result, and does so or is refused where no size is known."""
    check(case)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [case for case in CASES if case.symbolic], ids=str)
def test_recorded_with_names(case: Case) -> None:
    """What was recorded with sizes that only the input determines gives PyTorch's result."""
    check_named(case)


def test_every_lowering_has_a_case() -> None:
    """No lowering goes untested, but for one that this version of PyTorch has no operation for."""
    gone = set() if OLD_CHOLESKY else {"aten.cholesky.default"}
    assert set(LOWERINGS) - {case.target for case in CASES} == gone
