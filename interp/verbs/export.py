"""`interp export`: scripts as ResourceInterpreterCustomizations that Karmada runs itself, with cases as its tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from interp.completions import complete_kinds
from interp.scripts import Sources, open_scripts, script_options
from interpreters.catalog import Catalog, Offer
from interpreters.core.documents import dump_documents
from interpreters.core.errors import UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Answer
from interpreters.scan import Origin


@click.command("export", short_help="scripts as ResourceInterpreterCustomizations for Karmada")
@click.argument("names", nargs=-1, metavar="[KIND]...", shell_complete=complete_kinds)
@script_options
@click.option(
    "--testdata",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write customizations and test data below DIR, laid out as Karmada does, instead of printing.",
)
def command(names: tuple[str, ...], testdata: Path | None, **options: Any) -> int:
    """Print customizations for `kubectl apply` to Karmada, one document a kind, each script complete in itself.

    KIND is a kind such as FlinkDeployment, with its group if need be: Job.batch.volcano.sh, MPIJob.v1.kubeflow.org.
    Without one, every kind is exported except Kubernetes' own. Those may be named; their components are left out, for
    Karmada would then scale them to 0.

    \b
    interp export FlinkDeployment RayJob | kubectl apply --server-side -f -
    interp export --folder scripts/ --testdata out/
    """
    from interpreters.export import customization

    with open_scripts(Sources(**options)) as (_, catalog):
        kinds = _chosen(catalog, names)
        documents = {kind: customization(kind, _offers(catalog, kind)) for kind in kinds}
        if testdata is None:
            click.echo(_yaml(documents.values()), nl=False)
        else:
            for kind, document in documents.items():
                _write(testdata, kind, document, _offers(catalog, kind))
            click.echo(f"{len(documents)} kind{'' if len(documents) == 1 else 's'} written below {testdata}", err=True)
    return 0


def _chosen(catalog: Catalog, names: Sequence[str]) -> list[GroupVersionKind]:
    from difflib import get_close_matches

    from interpreters.core.karmada_answers import is_native

    if not names:
        for kind, operation in catalog.offers:
            if kind is None and (offer := catalog.offers[None, operation][0]).source.origin is not Origin.DEFAULT:
                raise click.UsageError(f"{offer.script.name} answers for every kind: name the KIND to export it for.")
        if catalog.own_broken:
            raise catalog.own_broken[0].error
        return [kind for kind in catalog.kinds if not is_native(kind)]
    spellings: dict[str, list[GroupVersionKind]] = {}
    for kind in sorted({*catalog.kinds, *(broken.kind for broken in catalog.own_broken if broken.kind)}):
        group = kind.group or "core"
        for spelling in (kind.kind, f"{kind.kind}.{group}", f"{kind.kind}.{kind.version}.{group}", kind.folder):
            spellings.setdefault(spelling.lower(), []).append(kind)
    chosen: list[GroupVersionKind] = []
    for name in names:
        if name.lower() not in spellings:
            near = get_close_matches(name.lower(), spellings, n=1)
            hint = f"did you mean {spellings[near[0]][0].kind}?" if near else "interp list shows them all"
            raise UnknownTargetError(f'no script knows the kind "{name}"; {hint}')
        chosen += spellings[name.lower()]
    return list(dict.fromkeys(chosen))


def _offers(catalog: Catalog, kind: GroupVersionKind) -> list[Offer]:
    """What answers for a kind, the default left out; a kind of Kubernetes' own keeps its components to itself.

    Raises `ScriptError` for a broken script: what would be exported in its place is not what was meant."""
    from interpreters.core.karmada_answers import is_native

    nowhere = [broken for broken in catalog.own_broken if broken.kind is None]
    for broken in (*nowhere, *(catalog.in_the_way(kind, operation) for operation in OPERATIONS)):
        if broken is not None:
            raise broken.error
    return [
        offer
        for operation, offer in catalog.operations(kind)
        if offer.source.origin is not Origin.DEFAULT and not (is_native(kind) and operation.answer is Answer.COMPONENTS)
    ]


def _write(root: Path, kind: GroupVersionKind, document: dict[str, Any], offers: Iterable[Offer]) -> None:
    from interpreters.cases import case_files, read_cases, served_as
    from interpreters.export import karmada_tests

    operations = {offer.operation for offer in offers}
    tables = dict.fromkeys(offer.candidate.folder for offer in offers if offer.candidate.folder)
    cases = [served_as(case, kind) for table in tables for file in case_files(table) for case in read_cases(file)]
    folder = root / kind.folder
    (folder / "testdata").mkdir(parents=True, exist_ok=True)
    (folder / "customizations.yaml").write_text(_yaml([document]))
    tests = karmada_tests(case for case in cases if case.operation in operations)
    for name, documents in tests.items():
        (folder / "testdata" / name).write_text(_yaml(documents))


def _yaml(documents: Iterable[dict[str, Any]]) -> str:
    """Documents that each begin with `---`, so that files can be put together."""
    return "".join(f"---\n{dump_documents([document])}" for document in documents)
