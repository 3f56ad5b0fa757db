"""Networks that look at one image."""
