"""Asking scripts on behalf of several verbs: which scripts, and what they say about objects."""
