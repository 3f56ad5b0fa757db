"""One module a topic. What is written here only builds, wires and feeds; the models are the packages' own."""
