"""Fuzz every target, or those named, one after the other: `python -m tests.fuzz [--seconds 60 | --inputs N] [TARGET…]`.

What fails is kept in the corpus of its target, where the tests run it ever after; what only reached new code is kept
under build/fuzz and is the start of the next run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.fuzz.child import Effort

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
TARGETS = sorted(file.stem for file in (HERE / "targets").glob("*.py") if file.stem not in ("__init__", "values"))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together (default: %(default)s)")
    parser.add_argument("--inputs", type=int, default=0, help="that many for each target, however long it takes")
    parser.add_argument("--seed", type=int, default=0, help="of chance, to go the same way again (default: a new one)")
    parser.add_argument("--reached", type=Path, default=Path("build/fuzz"), help="inputs that reached new code")
    parser.add_argument("targets", nargs="*", metavar="TARGET", choices=[*TARGETS, []], help=", ".join(TARGETS))
    options = parser.parse_args(arguments)
    targets = options.targets or TARGETS
    effort = Effort(0 if options.inputs else max(1, options.seconds // len(targets)), options.inputs, options.seed)
    failed = [
        target
        for target in targets
        if not fuzz(f"tests.fuzz.targets.{target}", effort, CORPUS / target, options.reached / target)
    ]
    return 1 if failed else 0


def fuzz(module: str, effort: Effort, corpus: Path, reached: Path) -> bool:
    """Whether fuzzing found nothing; a find is printed, and its input is a new file in `corpus`."""
    reached.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    known = set(corpus.iterdir())
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.child", module, *map(str, effort), corpus, reached, corpus],
        env=os.environ | ({"PYTHONHASHSEED": str(effort.seed)} if effort.seed else {}),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
    )  # fmt: skip
    if run.returncode == 0:
        spent = f"{effort.inputs} inputs" if effort.inputs else f"{effort.seconds} s"
        print(f"{module}: {spent}, nothing found, {len(list(reached.iterdir()))} inputs reached new code", flush=True)
        return True
    new = ", ".join(str(file) for file in sorted(set(corpus.iterdir()) - known)) or "no input was kept"
    print(f"{run.stdout}\n{module}: FAILED, exit status {run.returncode}; kept: {new}", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
