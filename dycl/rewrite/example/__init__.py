"""The example call: what its arguments are, and which of their sizes are open."""
