"""Settings of the whole suite: hypothesis draws the same examples in every run, and nothing is timed."""

from hypothesis import settings

settings.register_profile("weir", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("weir")
