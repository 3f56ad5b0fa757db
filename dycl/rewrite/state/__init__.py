"""The state of a run: frames and heap, frozen to compare and to copy, thawed to continue, widened to share a block."""
