"""The release of interp, as the package and every report name it."""

__version__ = "0.1.0"
