"""What all tests share: generated inputs are not timed, since the first compilation of a process is slow."""

import pytest
from hypothesis import settings

settings.register_profile("dycl", deadline=None)
settings.load_profile("dycl")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the expected half of the case files anew")
