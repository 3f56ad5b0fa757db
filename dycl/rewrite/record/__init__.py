"""What a block computes: ATen operations recorded on fake tensors, and the values that stand for unknown ones."""
