"""Python's own tests of its language, interpreted by DyCL's machine."""
