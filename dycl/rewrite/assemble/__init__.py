"""Put the recorded blocks together to a program."""
