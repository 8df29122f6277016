"""`python -m benchmarks [NAME…]`: run the benchmarks, all or the named ones, and print their rows as they come."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

import benchmarks


def main(names: list[str]) -> None:
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[0] != "_")
    for name in names:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
    for name in names or known:
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "run"):
            continue  # shared pieces of the others
        start = time.perf_counter()
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}")
        for what, value, unit, budget in module.run():
            print(f"  {what:<78} {value:>12,.1f} {unit:<6} {verdict(value, unit, budget)}", flush=True)
        print(f"  ({time.perf_counter() - start:.0f} s)")


def verdict(value: float, unit: str, budget: float | None) -> str:
    if budget is None:
        return ""
    is_rate = unit.endswith("/s")
    good = value >= budget if is_rate else value <= budget
    return f"{'within' if good else 'MISSES'} {'≥' if is_rate else '≤'} {budget:,.0f}"


if __name__ == "__main__":
    main(sys.argv[1:])
