"""Tests of the Starlark engine, its lint, its scripts and its guide."""
