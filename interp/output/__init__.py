"""How results, errors and warnings are printed: a file for each output format, shared by the verbs."""
