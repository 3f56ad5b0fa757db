"""What a call means for values that only the input determines."""
