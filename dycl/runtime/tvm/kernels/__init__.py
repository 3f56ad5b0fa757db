"""Kernels: each a frozen description that builds one function of TVM's; equal descriptions are built once."""
