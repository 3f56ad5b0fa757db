"""Passes over the graph, one file each."""
