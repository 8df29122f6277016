"""One file per verb of the `interp` command."""
