"""Case files: a program above, its graph or its refusal below."""
