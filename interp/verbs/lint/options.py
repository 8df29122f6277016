"""`interp lint`: find mistakes in scripts before they run, and in policies before Karmada follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import click
import msgspec
from msgspec import Meta

from interp import startup
from interp.options.karmada_release import karmada_option
from interp.output.formats import format_option
from interp.output.github import github_annotation
from interp.output.text import counted
from interpreters.core.findings import Finding
from interpreters.core.karmada.releases import Release
from interpreters.core.languages import LANGUAGES
from interpreters.core.requirements import Wire
from interpreters.lint import Remark, lint_script
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Broken, Found, Origin, scan_bundled, scan_place


class ReportedRemark(Wire, frozen=True, omit_defaults=False):
    """A finding as `-o json` prints it."""

    file: str
    line: Annotated[int, Meta(ge=1)]
    column: Annotated[int, Meta(ge=1)]
    rule: str
    message: str


@click.command("lint", short_help="find mistakes in scripts before they run")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]...")
@click.option("--bundled", is_flag=True, help="Lint the bundled scripts.")
@click.option("--portable", is_flag=True, help="Also what works here but is refused by Karmada's own Lua.")
@click.option("--clusters", multiple=True, metavar="F", help="Policies: the member clusters their groups are made of.")
@karmada_option()
@format_option("text", "json", "github", "sarif")
def command(
    paths: tuple[Path, ...], bundled: bool, portable: bool, clusters: tuple[str, ...], karmada: Release, output: str
) -> int:
    """Look for mistakes in the scripts at or below each PATH (here by default): syntax, misnamed functions, unknown
    globals, missing cases, replies that look wrong. One line each: `file:line:column: rule: message`.

    ResourceInterpreterCustomizations are checked like scripts. PropagationPolicies and ClusterPropagationPolicies are
    checked too: rules of placement, groups that no cluster matches (with --clusters), kinds with several components
    whose estimate Karmada would ignore, values that a release of Karmada does not know. Both are found in any YAML or
    JSON file below a folder; other files there are passed over.
    """
    from interp.verbs.lint.policies import lint_policies, read_clusters

    found: list[Found] = [entry for language in LANGUAGES for entry in scan_bundled(language) if bundled]
    about_policies: list[Path] = []
    for path in dict.fromkeys(paths) if paths else () if bundled else (Path(),):
        scripts, files = _lintable(path)
        if not scripts and not files:
            raise click.UsageError(f"{path}: no script here, and no customization or policy.")
        found += [entry for entry in scripts if entry not in found]
        about_policies += [file for file in files if file not in about_policies]
    policies = [lint_policies(path, read_clusters(clusters), karmada) for path in about_policies]
    remarks: list[Remark] = [remark for linted in policies for remark in linted.remarks]
    with SandboxRunner(first=startup.worker()) as runner:
        for entry in found:
            if isinstance(entry, Broken):
                remarks.append(Remark(entry.name, Finding(1, 1, "unreadable", str(entry.error))))
            else:
                remarks += lint_script(runner, entry, portable=portable)
    remarks = list(dict.fromkeys(remarks))  # scripts that share a snippet share what is said of it
    for line in _REPORTS[output](remarks):
        click.echo(line)
    if output == "text":
        for note in (note for linted in policies for note in linted.notes):
            click.echo(f"note: {note}", err=True)
        checked = sum(linted.count for linted in policies)
        what = [counted(len(found), "script")] if found or not checked else []
        what += [counted(checked, "policy", "policies")] if checked else []
        summary = ", ".join([*what, counted(len(remarks), "finding")])
        click.echo(click.style(summary, fg="red" if remarks else "green", bold=True), err=True)
    return 1 if remarks else 0


def _lintable(path: Path) -> tuple[list[Found], list[Path]]:
    """The scripts at or below a path, and the files with policies."""
    from interp.verbs.lint.manifests import Held, held_by, manifests_below

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


def _text(remarks: list[Remark]) -> Iterator[str]:
    for remark in remarks:
        found = remark.finding
        yield f"{remark.file}:{found.line}:{found.column}: {click.style(found.rule, fg='yellow')}: {found.message}"


def _json(remarks: list[Remark]) -> Iterator[str]:
    yield _pretty(
        [
            ReportedRemark(one.file, one.finding.line, one.finding.column, one.finding.rule, one.finding.message)
            for one in remarks
        ]
    )


def _github(remarks: list[Remark]) -> Iterator[str]:
    for remark in remarks:
        found = remark.finding
        yield github_annotation(found.message, file=remark.file, line=found.line, col=found.column, title=found.rule)


def _sarif(remarks: list[Remark]) -> Iterator[str]:
    from interp.verbs.lint.sarif import sarif_log

    yield _pretty(sarif_log(remarks))


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


_REPORTS: Final[dict[str, Callable[[list[Remark]], Iterator[str]]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}
