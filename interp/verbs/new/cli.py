"""`interp new`: a script and cases that pass at once."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from interp.options.completions import complete_kinds
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES, LUA

_KIND = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/v[a-z0-9]+/[A-Z][A-Za-z0-9]*")


@click.command("new", short_help="start a script with cases that pass")
@click.argument("kind", metavar="[GROUP/VERSION/KIND]", required=False)
@click.option("--from", "origin", metavar="KIND", shell_complete=complete_kinds, help="Copy a bundled script.")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default=LUA, show_default=True)
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path(), help="Where the tree starts.")
def command(kind: str | None, origin: str | None, lang: str, folder: Path) -> int:
    """Write <GROUP>/<VERSION>/<KIND>/interpreter.lua (or .star) and cases.yaml; `core/v1/Pod` for the core group.

    \b
    interp new example.io/v1/TrainingJob
    interp test example.io
    interp new --from FlinkDeployment --dir scripts
    """
    if (kind is None) == (origin is None):
        raise click.UsageError("name either a GROUP/VERSION/KIND or, with --from, a bundled kind to copy.")
    if kind is not None:
        if not _KIND.fullmatch(kind):
            raise click.UsageError(f"{kind!r}: expected GROUP/VERSION/KIND, such as apps/v1/Deployment.")
        gvk = GroupVersionKind.from_folder(kind)
        texts = _from_template(gvk, LANGUAGES[lang].file_name)
    else:
        gvk, texts = _from_bundled(str(origin), lang)
    target = folder / gvk.folder
    taken = [path for path in (target / known.file_name for known in LANGUAGES.values()) if path.exists()]
    if taken:
        raise click.UsageError(f"{taken[0]} exists; it is left as it is.")
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = target / name
        if not path.exists():
            path.write_text(text)
            click.echo(f"wrote {path}")
    click.echo(f"next: interp test {target}")
    return 0


def _from_template(kind: GroupVersionKind, script: str) -> dict[str, str]:
    def filled(name: str) -> str:
        text = (files("interp.verbs.new") / "templates" / name).read_text()
        return Template(text).substitute(apiVersion=kind.api_version, kind=kind.kind)

    return {name: filled(name) for name in (script, "cases.yaml")}


def _from_bundled(name: str, language: str) -> tuple[GroupVersionKind, dict[str, str]]:
    """The bundled script of a kind with its snippets written out, and its cases."""
    from interp.options.kind_patterns import matcher, refuse_unknown
    from interpreters.scan import Candidate, scan_bundled
    from interpreters.snippets import is_mark

    known = {one.kind: one for one in scan_bundled(language) if isinstance(one, Candidate) and one.kind and one.folder}
    refuse_unknown("--from", [name], known)
    meant = sorted(filter(matcher([name]), known))
    if len(meant) > 1:
        raise click.UsageError(
            f"--from {name} is one of {', '.join(kind.folder for kind in meant)}: name one of these."
        )
    found = known[meant[0]]
    lines = [line for line in found.script.text.splitlines(keepends=True) if not is_mark(line)]
    cases = (found.folder or Path()) / "cases.yaml"
    return meant[0], {LANGUAGES[language].file_name: "".join(lines), "cases.yaml": cases.read_text()}
