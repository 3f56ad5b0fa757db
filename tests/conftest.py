"""What all tests share: generated inputs are not timed, since the first compilation of a process is slow."""

from hypothesis import settings

settings.register_profile("dycl", deadline=None)
settings.load_profile("dycl")
