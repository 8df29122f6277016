"""How many replicas or whole component sets fit a cluster, what stops the next one, and what it costs a quota."""
