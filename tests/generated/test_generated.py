"""Generated programs do what eager PyTorch does. The programs are the same in every run; `make fuzz` tries new ones."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.generated.checking import check
from tests.generated.constructs import CONSTRUCTS, constructs_of
from tests.generated.programs import GeneratedProgram, programs

_fixed = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True, scope="module")
def no_debugging_records() -> Iterator[None]:
    """PyTorch writes thousands of them, which would hide the program that failed."""
    trace = logging.getLogger("torch.__trace")
    trace.disabled = True
    yield
    trace.disabled = False


@settings(_fixed, max_examples=120)
@given(programs())
def test_generated_program_does_what_eager_does(program: GeneratedProgram) -> None:
    check(program)


def test_every_construct_is_generated() -> None:
    seen: set[str] = set()

    @settings(_fixed, max_examples=300)
    @given(programs())
    def collect(program: GeneratedProgram) -> None:
        seen.update(constructs_of(program.source))

    collect()
    assert seen == set(CONSTRUCTS)
