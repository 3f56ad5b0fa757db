"""What a compiled sub-DNN must give, and backends tried out: they are compared with PyTorch, and timed, before use."""
