"""What NumPy computes, as tensor operations."""
