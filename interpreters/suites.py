"""Scripts with their case tables: finding them, running them, and what counts as a failure beside a failing case."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from interpreters.cases import Case, Result, Verdict, case_files, is_case_file, read_cases, run_case, scripts_folder
from interpreters.catalog import Catalog
from interpreters.core.errors import InputError, InterpError
from interpreters.core.languages import LANGUAGES, LUA
from interpreters.interpretation import Runner, load_functions
from interpreters.scan import Candidate, Found, Origin, scan_bundled, scan_place


@dataclass(frozen=True)
class Suite:
    """The scripts of one folder and all their cases. `problems` are failures that no case shows."""

    name: str
    catalog: Catalog
    cases: tuple[Case, ...]
    problems: tuple[InterpError, ...] = ()


def find_suites(runner: Runner, paths: Iterable[Path]) -> Iterator[Suite]:
    """A suite for each folder with scripts at or below each path; a path may also name a script or a case file."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        folders = _folders(path)
        if not folders:
            raise InputError(
                f"{path}: no script here; expected <group>/<version>/<Kind>/{', '.join(_script_names())} or "
                "customizations.yaml below it"
            )
        for folder in folders:
            if not path.is_file():
                yield load_suite(runner, str(folder), scan_place(folder, Origin.FOLDER))
            elif is_case_file(path):
                yield load_suite(runner, str(folder), scan_place(folder, Origin.FOLDER), only=path)
            else:
                yield load_suite(runner, str(path), scan_place(path, Origin.FOLDER))


def bundled_suites(runner: Runner, language: str = LUA) -> Iterator[Suite]:
    """The bundled scripts of one language; a Starlark twin is tested by the table of its Lua original."""
    for found in scan_bundled(language):
        yield load_suite(runner, found.script.name if isinstance(found, Candidate) else found.name, [found])


def load_suite(runner: Runner, name: str, found: list[Found], only: Path | None = None) -> Suite:
    """Load the scripts and read their cases; what cannot be read becomes a problem of the suite."""
    catalog = Catalog.build(found, load_functions(runner, found))
    problems: list[InterpError] = [entry.error for entry in catalog.broken]
    cases: list[Case] = []
    folders = dict.fromkeys(entry.folder for entry in found if isinstance(entry, Candidate) and entry.folder)
    for folder in folders:
        for file in [only] if only else case_files(folder):
            try:
                cases += read_cases(file)
            except InterpError as error:
                problems.append(error)
    is_ours = any(isinstance(entry, Candidate) and entry.operations is None for entry in found)
    if is_ours and not cases and not problems:
        problems.append(InputError(f"{name}: no cases; a script needs a cases.yaml beside it (interp new shows one)"))
    return Suite(name, catalog, tuple(cases), tuple(problems))


def run_suite(
    runner: Runner,
    suite: Suite,
    *,
    wanted: Callable[[Case], bool] = lambda case: True,
    run_all: Callable[[Callable[[Case], Result], Iterable[Case]], Iterable[Result]] = map,
) -> Iterator[Result]:
    """The results of the wanted cases. `run_all` may be an executor's `map`, to run several at once."""

    def timed(case: Case) -> Result:
        start = time.perf_counter()
        result = run_case(runner, suite.catalog, case)
        return replace(result, seconds=time.perf_counter() - start)

    yield from run_all(timed, [case for case in suite.cases if wanted(case)])


def is_good(results: Iterable[Result], suite: Suite) -> bool:
    return not suite.problems and all(result.verdict is not Verdict.FAILED for result in results)


def lost_in(results: Iterable[Result]) -> list[tuple[Result, str]]:
    """What replies lost, each once, with the first result that shows it and a sentence naming its case."""
    shown: dict[str, list[Result]] = {}
    for result in results:
        for lost in result.lost:
            shown.setdefault(lost, []).append(result)
    return [
        (first, f"case {first.case.name!r}{f' and {len(more)} more' if more else ''}: {lost}")
        for lost, (first, *more) in shown.items()
    ]


def _folders(path: Path) -> list[Path]:
    if path.is_file():
        return [scripts_folder(path)]
    names = {*_script_names(), "customizations.yaml"}
    return sorted({file.parent for file in path.rglob("*") if file.name in names})


def _script_names() -> list[str]:
    return [language.file_name for language in LANGUAGES.values()]
