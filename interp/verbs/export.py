"""`interp export`: scripts as ResourceInterpreterCustomizations that Karmada runs itself, with cases as its tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.options.completions import complete_kinds
from interp.options.samples import sample_option
from interp.scripts.sources import Sources, open_scripts, script_options
from interpreters.catalog import Catalog, Offer
from interpreters.core.documents import dump_documents
from interpreters.core.errors import UnknownTargetError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation
from interpreters.scan import Origin

if TYPE_CHECKING:
    from interpreters.division_proof import CaseProof


@click.command("export", short_help="scripts as ResourceInterpreterCustomizations for Karmada")
@click.argument("names", nargs=-1, metavar="[KIND]...", shell_complete=complete_kinds)
@script_options
@click.option(
    "--testdata",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write customizations and test data below DIR, laid out as Karmada does, instead of printing.",
)
@sample_option
def command(names: tuple[str, ...], testdata: Path | None, samples: tuple[Path, ...], sources: Sources) -> int:
    """Print customizations for `kubectl apply` to Karmada, one document a kind, each script complete in itself.

    KIND is a kind such as FlinkDeployment, with its group if need be: Job.batch.volcano.sh, MPIJob.v1.kubeflow.org.
    Without one, every kind is exported except Kubernetes' own. Those may be named; their components are left out, for
    Karmada would then scale them to 0. Of other kinds, what a Division forbids is left out, as `interp register` does.

    \b
    interp export FlinkDeployment RayJob | kubectl apply --server-side -f -
    interp export --folder scripts/ --testdata out/
    """
    from interp.inputs import read_objects
    from interpreters.division_proof import CaseProof
    from interpreters.export import customization

    objects = read_objects(tuple(map(str, samples))) if samples else []
    with open_scripts(sources) as (runner, catalog):
        kinds = _chosen(catalog, names)
        proof = CaseProof(runner, catalog, objects)
        offers = {kind: _offers(proof, catalog, kind) for kind in kinds}
        documents = {kind: customization(kind, offered) for kind, offered in offers.items() if offered}
        if not documents:
            raise UnknownTargetError("nothing is left to export")
        if testdata is None:
            click.echo(_yaml(documents.values()), nl=False)
        else:
            for kind, document in documents.items():
                _write(testdata, kind, document, offers[kind])
            click.echo(f"{len(documents)} kind{'' if len(documents) == 1 else 's'} written below {testdata}", err=True)
    return 0


def _chosen(catalog: Catalog, names: Sequence[str]) -> list[GroupVersionKind]:
    from difflib import get_close_matches

    from interpreters.core.karmada.answers import is_native

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


def _offers(proof: CaseProof, catalog: Catalog, kind: GroupVersionKind) -> list[Offer]:
    """What answers for a kind, less what would do harm there as it would in a webhook, and less the default.

    Raises `ScriptError` for a broken script: what would be exported in its place is not what was meant."""
    nowhere = [broken for broken in catalog.own_broken if broken.kind is None]
    for broken in (*nowhere, *(catalog.in_the_way(kind, operation) for operation in OPERATIONS)):
        if broken is not None:
            raise broken.error
    offered = {op: offer for op, offer in catalog.operations(kind) if offer.source.origin is not Origin.DEFAULT}
    against = _reasons_against(proof, kind, offered)
    for operation, reason in against.items():
        if operation.registrable and offered[operation].source.origin is not Origin.BUNDLED:
            click.echo(f"left out: {kind} {operation}: {reason}", err=True)
    return [offer for operation, offer in offered.items() if operation not in against]


def _reasons_against(
    proof: CaseProof, kind: GroupVersionKind, offered: Mapping[Operation, Offer]
) -> dict[Operation, str]:
    """By the rules of `interp register`; Kubernetes' own kinds, exported only when named, keep their components."""
    from interpreters.core.karmada.answers import answered_by_karmada, is_native
    from webhook.registration.rules import COMPONENTS, NO_WISHES, Asked, reasons_against

    if is_native(kind):
        return {COMPONENTS: "Karmada would scale it to 0"} if COMPONENTS in offered else {}
    asked = Asked(kind, offered, answered_by_karmada(kind))
    return dict(reasons_against(asked, NO_WISHES, proof))


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
