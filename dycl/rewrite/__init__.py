"""Program rewriting: an unmodified model becomes blocks of straight-line tensor code (needs PyTorch)."""
