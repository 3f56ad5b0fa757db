"""Compare every operator of PyTorch's database with eager PyTorch: `python -m tests.operators --help`."""

import sys

from tests.operators.campaign import main

sys.exit(main())
