"""The smallest and largest whole number that a host value can be, as far as the block's own operations tell."""

import math

from dycl.rewrite.record.host_values import HostValue
from dycl.rewrite.record.recorder import Recorder


def bounds(value: HostValue, recorder: Recorder) -> range | None:
    """Every whole number that `value` can be, and perhaps some that it cannot; None if that is not known."""
    if value.kind == "bool":
        return range(2)
    found = recorder.element_bounds(value.tensor)
    if found is None or not all(map(math.isfinite, found)):
        return None
    return range(math.floor(found[0]), math.ceil(found[1]) + 1)
