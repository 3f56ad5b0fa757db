"""Every operator of PyTorch's own database, compiled and compared with eager PyTorch: equal or refused."""
