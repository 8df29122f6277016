"""The Starlark engine and the bundled Starlark scripts."""
