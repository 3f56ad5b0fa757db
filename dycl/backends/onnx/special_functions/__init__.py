"""Special functions that ONNX has no operator for, each composed in double precision."""
