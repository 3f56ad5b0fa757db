"""ONNX Runtime, the runtime half: codes are scanned, opened as sessions that share threads, and run."""
