"""Run Python's own tests of its language through DyCL: `python -m tests.python_semantics --help`."""

import sys

from tests.python_semantics.campaign import main

sys.exit(main())
