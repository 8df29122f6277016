"""Killable worker processes in which scripts run, and the pool that hands calls to them."""
