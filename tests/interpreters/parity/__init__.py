"""The programs written twice, once in each language."""
