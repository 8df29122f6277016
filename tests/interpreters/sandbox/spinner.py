"""An engine for tests that starts as fast as a worker can: it knows how to spin and how to tell its process id."""

from __future__ import annotations

import os
from collections.abc import Sequence

from interpreters.core.engine import Limits, Outcome, Script


class SpinnerEngine:
    """`spin` never returns, everything else answers with the process id."""

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        return frozenset({"spin", "pid"})

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        while function == "spin":
            pass
        return Outcome((str(os.getpid()).encode(),))
