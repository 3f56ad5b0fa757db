"""Run all tests with one version of Python and PyTorch after the other: `python -m tests.versions --help`."""

import sys

from tests.versions.campaign import main

sys.exit(main())
