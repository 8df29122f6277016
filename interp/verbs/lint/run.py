"""Finding the scripts and policies that the options of `interp lint` name, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import click

from interp import startup
from interp.verbs.lint.findings import Linted
from interp.verbs.lint.manifests import Held, held_by, manifests_below
from interp.verbs.lint.options import Options
from interp.verbs.lint.policies import lint_policies, read_clusters
from interpreters.catalog import Catalog
from interpreters.components import kinds_sent_whole
from interpreters.core.findings import Finding
from interpreters.core.languages import LANGUAGES, LUA
from interpreters.interpretation import load_functions
from interpreters.lint import Remark, lint_script
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Broken, Found, Origin, scan_bundled, scan_place


def lint(options: Options) -> Linted:
    """Everything found, each once."""
    found, files = _found(options)
    clusters = read_clusters(options.clusters)
    with SandboxRunner(first=startup.worker()) as runner:
        several = _several_components(runner, found) if files else frozenset()
        policies = [
            lint_policies(path, clusters, options.karmada, lambda kind: (kind.group, kind.kind) in several)
            for path in files
        ]
        remarks: list[Remark] = [remark for linted in policies for remark in linted.remarks]
        for entry in found:
            if isinstance(entry, Broken):
                remarks.append(Remark(entry.name, Finding(1, 1, "unreadable", str(entry.error))))
            else:
                remarks += lint_script(runner, entry, portable=options.portable)
    remarks = list(dict.fromkeys(remarks))  # scripts that share a snippet share what is said of it
    notes = [note for linted in policies for note in linted.notes]
    return Linted(len(found), sum(linted.count for linted in policies), remarks, notes)


def _several_components(runner: SandboxRunner, found: list[Found]) -> frozenset[tuple[str, str]]:
    """By the scripts that are linted, and the bundled ones."""
    entries = [*found, *scan_bundled(LUA)]
    return kinds_sent_whole(Catalog.build(entries, load_functions(runner, entries)))


def _found(options: Options) -> tuple[list[Found], list[Path]]:
    """The scripts, and the files with policies."""
    found: list[Found] = [entry for language in LANGUAGES for entry in scan_bundled(language) if options.bundled]
    about_policies: list[Path] = []
    for path in dict.fromkeys(options.paths) if options.paths else () if options.bundled else (Path(),):
        scripts, files = _lintable(path)
        if not scripts and not files:
            raise click.UsageError(f"{path}: no script here, and no customization or policy.")
        found += [entry for entry in scripts if entry not in found]
        about_policies += [file for file in files if file not in about_policies]
    return found, about_policies


def _lintable(path: Path) -> tuple[list[Found], list[Path]]:
    """The scripts at or below a path, and the files with policies."""
    if not path.is_dir():
        held = held_by(path)
        is_about_policies = Held.POLICIES in held
        scripts = scan_place(path, Origin.FOLDER, among_others=is_about_policies or Held.CUSTOMIZATIONS in held)
        return scripts, [path] if is_about_policies else []
    scripts, policies = scan_place(path, Origin.FOLDER), []
    for file in manifests_below(path):
        more, about_policies = _lintable(file)
        scripts += more
        policies += about_policies
    return scripts, policies
