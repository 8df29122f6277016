"""Scripts that say what a custom resource needs: the nouns, the engines, the sandbox and the catalog."""

__version__ = "0.1.0"
