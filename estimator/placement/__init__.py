"""Where a workload may go: bindings, cluster affinities and scheduling groups."""
