"""The heterogeneous control-flow graph: nodes, types, verifier, text form, JSON form. Needs nothing but Python."""
