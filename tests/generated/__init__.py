"""Generated programs: random models in Python source, compiled and compared with eager PyTorch."""
