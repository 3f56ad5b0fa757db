"""A function as a flat list of simple instructions: its syntax tree taken apart, nothing run."""
