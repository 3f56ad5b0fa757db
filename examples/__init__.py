"""What others may build on DyCL."""
