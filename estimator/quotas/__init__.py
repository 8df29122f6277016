"""Quota objects, read once for all: what a ResourceQuota or FederatedResourceQuota limits, and of which pods."""
