"""What every case of the bundled scripts costs, in an order that a seed chooses, twice. Run by a process of its own."""

from __future__ import annotations

import json
import random
import sys

from interpreters.core.engine import Limits
from interpreters.sandbox.runner import SandboxRunner
from interpreters.suites import bundled_suites, run_suite


def costs_of_cases(runner: SandboxRunner, language: str, seed: int) -> dict[str, tuple[int, ...]]:
    """The costs of each case that is answered, by suite and case."""
    suites = list(bundled_suites(runner, language))
    if seed:
        random.Random(seed).shuffle(suites)
    costs: dict[str, tuple[int, ...]] = {}
    for suite in [*suites, *reversed(suites)]:
        for result in run_suite(runner, suite):
            if result.cost is not None:
                name = f"{suite.name}: {result.case.name}"
                costs[name] = (*costs.get(name, ()), result.cost)
    return costs


def main() -> None:
    language, seed = sys.argv[1], int(sys.argv[2])
    with SandboxRunner(limits=Limits(seconds=30)) as runner:
        print(json.dumps(costs_of_cases(runner, language, seed)))
