"""Programs that show how DyCL is extended, each run by a test."""
