"""What all tests share: generated inputs are not timed, since the first compilation of a process is slow.

Models are small, and eager PyTorch runs them fastest with one thread.
"""

import os

import pytest
import torch
from hypothesis import settings

settings.register_profile("dycl", deadline=None)
settings.load_profile("dycl")
torch.set_num_threads(1)
# Whatever a test compiles is compared with its model on the example first.
os.environ.setdefault("DYCL_CHECK", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the expected half of the case files anew")
