"""One file for each verb of the `interp` command, or a package where it needs more than one file.

Each holds a click `command`; that of a package is in its `cli.py`, with what it may be told in `options.py`.
"""
