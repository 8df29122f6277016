"""A server process for the crash tests: decides admission requests that arrive as lines, and answers each as a line.

A line `name cpu` asks for a workload. `+name` means allowed and written, `-name` denied and written, `!name` not known.
"""

from __future__ import annotations

import asyncio
import sys

from estimator.accounting.admission.decide import Gate, Interpretation
from estimator.accounting.ledger.database import LedgerError
from estimator.accounting.ledger.ledger import Ledger
from estimator.accounting.sources.quota_files import GivenQuotas
from tests.estimator.accounting.samples import limit, one, request


async def serve(url: str, cpus: str) -> None:
    loop = asyncio.get_running_loop()
    async with Ledger(url) as ledger:
        gate = Gate(ledger, GivenQuotas([limit({"cpu": cpus})]))

        async def decide(name: str, cpu: str) -> None:
            try:
                verdict = await gate.decide(request(name=name, uid=name), Interpretation(one(cpu)))
            except LedgerError:
                print(f"!{name}", flush=True)
            else:
                print(f"{'+' if verdict.allowed else '-'}{name}", flush=True)

        print("ready", flush=True)
        tasks = set()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            task = asyncio.create_task(decide(*line.split()))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2]))
