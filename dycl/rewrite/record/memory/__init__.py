"""Which tensors share memory: what is written through one of them is seen by the others."""
