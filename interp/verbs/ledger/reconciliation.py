"""Taking the truth from bindings in files or of a live Karmada, and printing what is corrected in the ledger."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from estimator.accounting.audit.read_bindings import Unreadable, only_bindings, stream_bindings
from estimator.accounting.demand import Binding
from estimator.accounting.ledger.ledger import RECONCILED, Ledger
from estimator.accounting.podless_bindings import Told
from estimator.accounting.reconcile import Correction, Reconciliation
from estimator.accounting.sources.karmada_source import GRACE_SECONDS, LiveObjects, live_bindings
from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import read_kubeconfig
from estimator.placement.bindings import in_namespace
from interp.inputs import read_objects
from interp.scripts.object_demands import ObjectDemands, object_demands
from interp.verbs.ledger.options import Options

_BATCH: Final = 2000  # bindings compared in one transaction


def correct(options: Options) -> Counter[str]:
    """Print and record every correction; how many there are of each sort."""
    with object_demands(options.sources) as demands:
        return asyncio.run(_correct(options, demands))


async def _correct(options: Options, demands: ObjectDemands) -> Counter[str]:
    corrections = Counter[str]()
    kubeconfig, as_of = options.kubeconfig, options.as_of
    async with AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(Ledger(options.url))
        taken = await ledger.now() - GRACE_SECONDS if kubeconfig else as_of
        if kubeconfig:
            truth = await stack.enter_async_context(_live(kubeconfig, options.context))
        else:
            truth = _files(options.bindings)
        given = demands.of_files(_read_workloads(options.workloads))

        async def objects(found: Sequence[Binding]) -> Told:
            others = [binding for binding in found if binding.workload not in given]
            return {**given, **await demands.of_bindings(others, truth.objects)}

        run = Reconciliation(ledger, taken, dry_run=options.dry_run, objects=objects)
        async for batch in truth.batches:
            corrections += _print(await run.take(batch))
        corrections += _print(await run.finish(complete=options.complete or bool(kubeconfig)))
        if kubeconfig and not options.dry_run:
            await ledger.note_moment(RECONCILED)
        if run.newer:
            hint = "" if kubeconfig or as_of is not None else "; --as-of TIME says when the files were exported"
            click.echo(f"{run.newer} left alone: the ledger knows something newer{hint}", err=True)
    return corrections


def _print(corrections: Sequence[Correction]) -> Counter[str]:
    """Print them; how many there are of each sort."""
    for correction in corrections:
        click.echo(correction)
    return Counter(correction.what for correction in corrections)


class _Truth(NamedTuple):
    """Bindings in batches, and where their objects are if these can be asked for."""

    batches: AsyncIterator[list[Binding | Unreadable]]
    objects: LiveObjects | None = None


def _files(paths: Sequence[str]) -> _Truth:
    async def batches() -> AsyncIterator[list[Binding | Unreadable]]:
        bindings = stream_bindings(paths)
        while batch := list(islice(bindings, _BATCH)):
            yield batch

    return _Truth(batches())


@asynccontextmanager
async def _live(kubeconfig: str, context: str) -> AsyncIterator[_Truth]:
    async with ApiServer(read_kubeconfig(Path(kubeconfig), context)) as server:
        yield _Truth(
            (list(only_bindings(page, kubeconfig)) async for page in live_bindings(server)), LiveObjects(server)
        )


def _read_workloads(paths: Sequence[str]) -> list[dict[str, Any]]:
    return [in_namespace(obj) for obj in read_objects(tuple(paths))] if paths else []
