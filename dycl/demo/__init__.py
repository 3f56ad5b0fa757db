"""The demo: an early-exit classifier, trained, compiled and compared with PyTorch. Needs the extra `dycl[demo]`."""

from dycl.demo.demonstration import demonstrate

__all__ = ["demonstrate"]
