"""One target under the fuzzer: `python -m tests.fuzz.child MODULE SECONDS INPUTS SEED FINDS CORPUS…`.

Coverage-guided with atheris where it is installed; elsewhere hypothesis varies the corpus. The exit status is 0 when
nothing was found; otherwise the input that failed is a new file in the folder FINDS.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

LONGEST = 4096
SLOWEST_SECONDS = 10
MOST_MIB = 1024
_A_ROUND = 500  # inputs that hypothesis tries with one seed

Check = Callable[[bytes], None]


class Effort(NamedTuple):
    """How long to try: for some seconds, or a number of inputs, which with a seed are the same on every machine."""

    seconds: int
    inputs: int = 0
    seed: int = 0


def main(module: str, effort: Effort, finds: Path, corpus: list[Path]) -> int:
    try:
        import atheris
    except ImportError:
        return _varied(import_module(module).check, effort, finds, corpus)
    with atheris.instrument_imports(include=["interpreters", "webhook", "yaml"]):
        check = import_module(module).check
    most = f"-runs={effort.inputs}" if effort.inputs else f"-max_total_time={effort.seconds}"
    limits = [most, f"-max_len={LONGEST}", f"-timeout={SLOWEST_SECONDS}"]
    places = [f"-rss_limit_mb={MOST_MIB}", f"-artifact_prefix={finds}/", *map(str, corpus)]
    places += [f"-seed={effort.seed}"] if effort.seed else []
    atheris.Setup([module, *limits, *places, "-print_final_stats=1", "-verbosity=0"], check)
    atheris.Fuzz()  # ends the process
    return 0


def _varied(check: Check, effort: Effort, finds: Path, corpus: list[Path]) -> int:
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    known = [file.read_bytes() for folder in corpus for file in sorted(folder.iterdir())] or [b""]
    pieces = st.binary(max_size=8) | st.sampled_from(known).flatmap(_part)
    edits = st.lists(st.tuples(st.integers(0, LONGEST), st.integers(0, 8), pieces), max_size=6)
    end = time.monotonic() + effort.seconds
    failed: list[bytes] = []

    # Not derandomized, which is hypothesis' own choice in CI: every round would try the same inputs again.
    @settings(max_examples=_A_ROUND, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
              derandomize=False, suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.sampled_from(known), edits)
    def vary(data: bytes, edits: list[tuple[int, int, bytes]]) -> None:
        for place, cut, new in edits:
            start = place % (len(data) + 1)
            data = data[:start] + new + data[start + cut :]
        try:
            check(data)
        except BaseException:
            failed.append(data)
            raise

    seeds = itertools.count(effort.seed) if effort.seed else iter(lambda: secrets.randbits(64), None)
    for tried, seed in enumerate(seeds):
        if tried * _A_ROUND >= effort.inputs if effort.inputs else time.monotonic() >= end:
            break
        try:
            hypothesis.seed(seed)(vary)()
        except Exception:
            traceback.print_exc()
            smallest = failed[-1]  # hypothesis ends with the smallest
            (finds / f"crash-{hashlib.sha1(smallest, usedforsecurity=False).hexdigest()}").write_bytes(smallest)
            return 1
    return 0


def _part(data: bytes) -> SearchStrategy[bytes]:
    """A stretch of a known input: what a reader takes notice of is rarely found by chance."""
    from hypothesis import strategies as st

    return st.tuples(st.integers(0, len(data)), st.integers(0, 64)).map(lambda cut: data[cut[0] : cut[0] + cut[1]])


if __name__ == "__main__":
    _, module, seconds, inputs, seed, finds, *corpus = sys.argv
    effort = Effort(int(seconds), int(inputs), int(seed))
    sys.exit(main(module, effort, Path(finds), [Path(folder) for folder in corpus]))
