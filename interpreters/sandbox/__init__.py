"""Killable worker processes in which scripts run, and the two fronts that hand calls to them.

`pool.SandboxPool` for servers, `runner.SandboxRunner` for the command line; `process.start` starts a worker early.
"""
