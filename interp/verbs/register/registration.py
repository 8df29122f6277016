"""What `interp register` does between its options and its output: planning with the scripts, and the live Karmada."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from interp.inputs import read_objects
from interp.options.karmada_release import release_of
from interp.options.kind_patterns import matcher, refuse_unknown, split_patterns
from interp.verbs.register.admission import check_service, unguarded_quotas
from interp.verbs.register.configurations import (
    Standing,
    apply,
    displaced,
    path_to,
    read_standing,
    touch,
    touchable,
)
from interp.verbs.register.control_plane import Change, Estate, read_estate
from interpreters.catalog import Catalog
from interpreters.core.karmada.api import MULTIPLE_POD_TEMPLATES
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation, find_operation
from interpreters.core.wire import Reply
from interpreters.division_proof import CaseProof
from interpreters.interpretation import Runner, interpret, load_functions, request_for
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import empty_folders, scan
from webhook.registration.admission import Admission
from webhook.registration.plan import Plan, plan_registration, tells_pods
from webhook.registration.rules import Wishes
from webhook.server.settings import Settings

_SHOWN = 20
_MANY = 200  # objects to touch take a while


class Scripts(NamedTuple):
    """Scripts that can be asked."""

    runner: Runner
    catalog: Catalog

    def answer(self, obj: dict[str, Any], operation: Operation) -> Reply:
        return interpret(self.runner, self.catalog, request_for(obj, operation)).reply


@contextmanager
def opened_scripts(
    settings: Settings, options: Mapping[str, Any]
) -> Iterator[tuple[Scripts, Plan, list[GroupVersionKind]]]:
    """The scripts, what to register of them (said on standard error), and the kinds whose pods they tell."""
    names = split_patterns([options["operations"]])
    operations = [find_operation(name) for name in names] or list(OPERATIONS)
    patterns, divide, count = (split_patterns(options[name]) for name in ("kinds", "divide", "count"))
    wanted = matcher(patterns or ["*"])
    samples = read_objects(tuple(map(str, options["samples"]))) if options["samples"] else []
    places = [Path(place) for place in settings.scripts]
    found = scan(places, bundled=None if settings.bundled_language == "none" else settings.bundled_language)
    for empty in empty_folders(places, found):
        click.echo(f"warning: --scripts: {empty}", err=True)
    with SandboxRunner() as runner:
        catalog = Catalog.build(found, load_functions(runner, found))
        for broken in catalog.own_broken:
            if broken.kind is None or wanted(broken.kind):
                raise broken.as_script_error  # the server would answer with it whatever Karmada asks
        known = {*catalog.kinds, *(broken.kind for broken in catalog.broken if broken.kind)}
        for option, given in (("--kinds", patterns), ("--divide", divide), ("--count", count)):
            refuse_unknown(option, given, known)
            for pattern in given:
                if not any(matcher([pattern])(kind) for kind in known if wanted(kind)):
                    raise click.UsageError(f"{option} {pattern}: --kinds leaves it out")
        plan = plan_registration(
            catalog,
            CaseProof(runner, catalog, samples),
            wishes=Wishes(matcher(divide), matcher(count), options["everything"]),
            release=options["karmada"] or NEWEST,
            wanted_kinds=wanted,
            wanted_operations=operations,
        )
        _explain(plan)
        _tell_unused(samples, plan)
        charged = [kind for kind in catalog.kinds if wanted(kind) and tells_pods(catalog, kind)]
        yield Scripts(runner, catalog), plan, charged


def _explain(plan: Plan) -> None:
    for kind in plan.kinds:
        click.echo(f"{'registered' if kind.operations else 'left to Karmada'}: {kind}", err=True)
    together: dict[tuple[GroupVersionKind | None, str], list[Operation]] = {}
    for refusal in plan.refusals:
        if not refusal.bundled:
            operations = together.setdefault((refusal.kind, refusal.reason), [])
            operations += [refusal.operation] if refusal.operation else []
    for (of_kind, reason), operations in together.items():
        what = " ".join(filter(None, [str(of_kind or "any kind"), ", ".join(map(str, operations))]))
        click.echo(f"left out: {what}: {reason}", err=True)


def _tell_unused(samples: Sequence[Mapping[str, Any]], plan: Plan) -> None:
    """A sample of another kind proves nothing, and whoever gave it thinks that it does."""
    planned = {one.kind for one in plan.kinds}
    unused = dict.fromkeys(
        kind for kind in (GroupVersionKind.of(dict(sample)) for sample in samples) if kind not in planned
    )
    for kind in unused:
        click.echo(f"warning: --sample: {kind} is not among the kinds to register, so it proves nothing", err=True)


async def live_release(options: Mapping[str, Any]) -> Release:
    """The release that was asked for, or else that of the live Karmada."""
    async with ApiServer(find_access(options["kubeconfig"], options["kube_context"])) as server:
        return await release_of(server, options["karmada"])


@dataclass(frozen=True, slots=True)
class Registration:
    """What is to be applied to a live Karmada, or only asked about again; by its release, in `options`."""

    scripts: Scripts
    plan: Plan
    documents: Sequence[dict[str, Any]]
    options: Mapping[str, Any]
    admission: Admission | None = None

    async def carry_out(self) -> None:
        """Raises `click.exceptions.Exit` with 1, after naming them, when bindings would change and nobody said yes."""
        async with ApiServer(find_access(self.options["kubeconfig"], self.options["kube_context"])) as server:
            if self.options["applies"]:
                await self._check_admission(server)
                standing = [await read_standing(server, path_to(document)) for document in self.documents]
                await self._judge(server, standing)
                for stands, document in zip(standing, self.documents, strict=True):
                    click.echo(await apply(server, stands, document))
            if self.options["touches"]:
                await _touch(server, self.plan)

    async def _check_admission(self, server: ApiServer) -> None:
        if self.admission is None:
            return
        if self.options["service"]:
            await check_service(server, self.options["service"])
        for line in await unguarded_quotas(server, self.admission):
            click.echo(f"warning: {line}", err=True)

    async def _judge(self, server: ApiServer, standing: Sequence[Standing]) -> None:
        replaced = [
            line for stands, new in zip(standing, self.documents, strict=True) for line in displaced(stands, new)
        ]
        for line in replaced:
            click.echo(line, err=True)
        release = self.options["karmada"]
        estate = await read_estate(server, self.documents[0]["metadata"]["name"], tuple(self.plan.tuples))
        for line in _shadowed(self.plan, estate):
            click.echo(f"warning: {line}", err=True)
        for line in _dropped(self.plan, estate):
            click.echo(f"no longer registered: {line}", err=True)
        given = given_gate(self.options["gates"])
        gate = estate.tells_components if given is None else given
        changes = list(estate.changes(self.plan.tuples, release, self.scripts.answer, gate=gate))
        name_changes(changes, f"with {MULTIPLE_POD_TEMPLATES} {'on' if gate else 'off'}")
        if given is None and not gate:
            # No binding shows that the gate is on, but it may be; that would cost most where something is divided.
            on = estate.changes(self.plan.tuples, release, self.scripts.answer, gate=True)
            perhaps = [change for change in on if change.undivided and change not in changes]
            name_changes(perhaps, f"if {MULTIPLE_POD_TEMPLATES} is on, which --feature-gates would say")
            changes += perhaps
        if (changes or replaced) and not self.options["yes"]:
            click.echo("nothing was applied; --yes applies it all the same, --kinds narrows it", err=True)
            raise click.exceptions.Exit(1)


def _shadowed(plan: Plan, estate: Estate) -> Iterator[str]:
    """Where another webhook is asked instead of ours."""
    for kind, operations in plan.tuples.items():
        first = estate.others.asked_first(kind)
        for name in dict.fromkeys(first[operation] for operation in operations if operation in first):
            answered = ", ".join(str(operation) for operation in operations if first.get(operation) == name)
            yield (
                f"{kind}: Karmada asks the webhook of {name} for {answered}, which comes first by its name; "
                "remove it there, or give --name an earlier one"
            )


def _dropped(plan: Plan, estate: Estate) -> Iterator[str]:
    """What is registered now and would not be any more: what is applied takes the place of what stands there."""
    for kind, operations in sorted(estate.registered.items()):
        gone = sorted(str(operation) for operation in operations if operation not in plan.tuples.get(kind, ()))
        if gone:
            yield f"{kind}: {', '.join(gone)}"


async def _touch(server: ApiServer, plan: Plan) -> None:
    """Raises `click.exceptions.Exit` with 1, after naming them, when objects could not be touched."""
    objects = await touchable(server, plan.tuples)
    if len(objects) > _MANY:
        click.echo(f"touching {len(objects)} objects, about ten a second", err=True)
    done = await touch(server, objects)
    click.echo(f"Karmada is asking again about {done.count} object{'' if done.count == 1 else 's'}")
    for line in done.refused[:_SHOWN]:
        click.echo(f"not touched: {line}", err=True)
    if len(done.refused) > _SHOWN:
        click.echo(f"… and {len(done.refused) - _SHOWN} more", err=True)
    if done.refused:
        raise click.exceptions.Exit(1)


def name_changes(changes: Sequence[Change], when: str) -> None:
    if changes:
        click.echo(f"{when}, the next change of its object changes:", err=True)
    for change in changes[:_SHOWN]:
        click.echo(f"  {change}", err=True)
    if len(changes) > _SHOWN:
        click.echo(f"  … and {len(changes) - _SHOWN} more", err=True)


def given_gate(text: str) -> bool | None:
    """The feature gate as it was given, None if it was not."""
    name, equals, value = text.partition("=")
    if not text:
        return None
    gate = MULTIPLE_POD_TEMPLATES
    if name.strip() != gate or not equals or value.strip().lower() not in ("true", "false"):
        raise click.UsageError(f'--feature-gates: expected {gate}=true or {gate}=false, got "{text}"')
    return value.strip().lower() == "true"
