"""`interp new`: a script and cases that pass at once."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from interpreters.core.kinds import GroupVersionKind
from interpreters.scan import LANGUAGE_OF_SUFFIX

_KIND = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/v[a-z0-9]+/[A-Z][A-Za-z0-9]*")
_SUFFIX_OF_LANGUAGE = {language: suffix for suffix, language in LANGUAGE_OF_SUFFIX.items()}


@click.command("new", short_help="start a script with cases that pass")
@click.argument("kind", metavar="GROUP/VERSION/KIND")
@click.option("--lang", type=click.Choice(list(_SUFFIX_OF_LANGUAGE)), default="lua", show_default=True)
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path(), help="Where the tree starts.")
def command(kind: str, lang: str, folder: Path) -> int:
    """Write <GROUP>/<VERSION>/<KIND>/interpreter.lua (or .star) and cases.yaml; `core/v1/Pod` for the core group.

    \b
    interp new example.io/v1/TrainingJob
    interp test example.io
    """
    if not _KIND.fullmatch(kind):
        raise click.UsageError(f"{kind!r}: expected GROUP/VERSION/KIND, such as apps/v1/Deployment.")
    gvk = GroupVersionKind.from_folder(kind)
    target = folder / gvk.folder
    taken = [path for path in (target / f"interpreter{suffix}" for suffix in LANGUAGE_OF_SUFFIX) if path.exists()]
    if taken:
        raise click.UsageError(f"{taken[0]} exists; it is left as it is.")
    target.mkdir(parents=True, exist_ok=True)
    suffix = _SUFFIX_OF_LANGUAGE[lang]
    for template, name in ((f"interpreter{suffix}", f"interpreter{suffix}"), ("cases.yaml", "cases.yaml")):
        path = target / name
        if not path.exists():
            text = (files("interp") / "templates" / template).read_text()
            path.write_text(Template(text).substitute(apiVersion=gvk.api_version, kind=gvk.kind))
            click.echo(f"wrote {path}")
    click.echo(f"next: interp test {target}")
    return 0
