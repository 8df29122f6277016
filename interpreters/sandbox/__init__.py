"""Killable worker processes in which scripts run, and the two ways to call them.

`pool.SandboxPool` for servers, `runner.SandboxRunner` for the command line; `process.start` starts a worker early.
"""
