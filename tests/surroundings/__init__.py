"""Models that read and write what was there before the call."""
