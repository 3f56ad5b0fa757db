"""What all tests share: generated inputs are not timed, since the first compilation of a process is slow.

Models are small, and eager PyTorch runs them fastest with one thread.
"""

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

settings.register_profile("dycl", deadline=None)
settings.load_profile("dycl")
torch.set_num_threads(1)
# Whatever a test compiles is compared with its model on the example first.
os.environ.setdefault("DYCL_CHECK", "1")


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What backends build is kept for the session, and not where the user's is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYCL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the expected half of the case files anew")
