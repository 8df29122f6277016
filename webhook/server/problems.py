"""A request that gets an HTTP error for an answer."""

from __future__ import annotations


class HttpProblem(Exception):
    """A request that cannot be answered in its own envelope: `status` is HTTP's, `reason` is for metrics."""

    def __init__(self, status: int, reason: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
