"""How many replicas or whole sets fit the nodes and quotas of one cluster, and what stops the next one."""
