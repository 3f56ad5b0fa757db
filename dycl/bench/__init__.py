"""The command `dycl bench`: the zoo's networks, run in every way that a user might pick, and the limit.

The figures that the documents quote are in `bench/results` of a checkout.
"""
