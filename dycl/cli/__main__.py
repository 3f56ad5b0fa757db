"""`python -m dycl.cli` is the command `dycl`."""

import sys

from dycl.cli import main

if __name__ == "__main__":
    sys.exit(main())
