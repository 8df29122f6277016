"""`interp run` from nothing: the whole process, with its sandbox worker."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

OBJECT = Path(__file__).parent.parent / "docs" / "examples" / "flink.yaml"
TIMES = 20


def run() -> Iterator[tuple[str, float, str, float | None]]:
    interp = Path(sys.executable).parent / "interp"
    for what, arguments, budget in (
        ("interp run GetComponents flink.yaml", ["run", "GetComponents", str(OBJECT)], 100.0),
        ("interp run flink.yaml, all operations", ["run", str(OBJECT)], None),
        ("interp --help", ["--help"], None),
    ):
        seconds = []
        for _ in range(TIMES):
            start = time.perf_counter()
            subprocess.run([interp, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        yield f"{what}, median of {TIMES}", statistics.median(seconds) * 1000, "ms", budget
