"""Try new generated programs for some minutes: `python -m tests.generated --minutes 30`."""

import sys

from tests.generated.fuzz import main

sys.exit(main())
