"""What was there before the call: the program may change it, and the user finds it as it was."""

from dycl.rewrite.state.heap.whole import Heap

__all__ = ["Heap"]
