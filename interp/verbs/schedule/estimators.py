"""`--estimator`: the estimators that `interp schedule` asks over gRPC."""

from __future__ import annotations

import click


def read_addresses(estimators: tuple[str, ...]) -> dict[str, str]:
    """`CLUSTER=HOST:PORT` of each estimator."""
    pairs = [text.partition("=") for text in estimators]
    for name, _, address in pairs:
        if not name or ":" not in address:
            raise click.UsageError(f"--estimator {name}: expected CLUSTER=HOST:PORT")
    return {name: address for name, _, address in pairs}
