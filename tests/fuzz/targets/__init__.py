"""One module per reader: `check(data)` raises when it does anything but read `data` or refuse it in its own words.

Slowness and hunger need no assertion: the fuzzer ends a check that takes longer than its limits.
"""
