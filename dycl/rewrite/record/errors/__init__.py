"""Where PyTorch raises an error, so does the program: because of element types, sizes, values or numbers."""
