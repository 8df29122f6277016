"""Applying a registration to a live Karmada, and having Karmada ask again about the objects that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from interp.options.karmada_release import release_of
from interp.verbs.register.admission import check_service, unguarded_quotas
from interp.verbs.register.configurations import (
    LiveConfiguration,
    apply,
    displaced,
    path_to,
    read_configuration,
    touch,
    touchable,
)
from interp.verbs.register.control_plane import Change, ControlPlane, read_control_plane
from interp.verbs.register.options import Options
from interp.verbs.register.planning import Scripts
from interpreters.core.karmada.api import MULTIPLE_POD_TEMPLATES
from interpreters.core.karmada.releases import Release
from webhook.registration.admission import Admission
from webhook.registration.plan import Plan

_SHOWN = 20
_MANY = 200  # objects to touch take a while


async def live_release(options: Options) -> Release:
    """The release that was asked for, or else that of the live Karmada."""
    async with ApiServer(find_access(options.kubeconfig, options.kube_context)) as server:
        return await release_of(server, options.karmada)


@dataclass(frozen=True, slots=True)
class Registration:
    """What is to be applied to a live Karmada, or only asked about again; by its release."""

    scripts: Scripts
    plan: Plan
    documents: Sequence[dict[str, Any]]
    options: Options
    release: Release
    admission: Admission | None = None

    async def carry_out(self) -> None:
        """Raises `click.exceptions.Exit` with 1, after naming them, when bindings would change and nobody said yes."""
        async with ApiServer(find_access(self.options.kubeconfig, self.options.kube_context)) as server:
            if self.options.applies:
                await self._check_admission(server)
                live = [await read_configuration(server, path_to(document)) for document in self.documents]
                await self._judge(server, live)
                for one, document in zip(live, self.documents, strict=True):
                    click.echo(await apply(server, one, document))
            if self.options.touches:
                await _touch(server, self.plan)

    async def _check_admission(self, server: ApiServer) -> None:
        if self.admission is None:
            return
        if self.options.service:
            await check_service(server, self.options.service)
        for line in await unguarded_quotas(server, self.admission):
            click.echo(f"warning: {line}", err=True)

    async def _judge(self, server: ApiServer, live: Sequence[LiveConfiguration]) -> None:
        replaced = [line for one, new in zip(live, self.documents, strict=True) for line in displaced(one, new)]
        for line in replaced:
            click.echo(line, err=True)
        release = self.release
        control_plane = await read_control_plane(server, self.documents[0]["metadata"]["name"], tuple(self.plan.tuples))
        for line in _shadowed(self.plan, control_plane):
            click.echo(f"warning: {line}", err=True)
        for line in _dropped(self.plan, control_plane):
            click.echo(f"no longer registered: {line}", err=True)
        given = given_gate(self.options.gates)
        gate = control_plane.tells_components if given is None else given
        changes = list(control_plane.changes(self.plan.tuples, release, self.scripts.answer, gate=gate))
        name_changes(changes, f"with {MULTIPLE_POD_TEMPLATES} {'on' if gate else 'off'}")
        if given is None and not gate:
            # No binding shows that the gate is on, but it may be; that would cost most where something is divided.
            on = control_plane.changes(self.plan.tuples, release, self.scripts.answer, gate=True)
            perhaps = [change for change in on if change.undivided and change not in changes]
            name_changes(perhaps, f"if {MULTIPLE_POD_TEMPLATES} is on, which --feature-gates would say")
            changes += perhaps
        if (changes or replaced) and not self.options.yes:
            click.echo("nothing was applied; --yes applies it all the same, --kinds narrows it", err=True)
            raise click.exceptions.Exit(1)


def _shadowed(plan: Plan, control_plane: ControlPlane) -> Iterator[str]:
    """Where another webhook is asked instead of ours."""
    for kind, operations in plan.tuples.items():
        first = control_plane.others.asked_first(kind)
        for name in dict.fromkeys(first[operation] for operation in operations if operation in first):
            answered = ", ".join(str(operation) for operation in operations if first.get(operation) == name)
            yield (
                f"{kind}: Karmada asks the webhook of {name} for {answered}, which comes first by its name; "
                "remove it there, or give --name an earlier one"
            )


def _dropped(plan: Plan, control_plane: ControlPlane) -> Iterator[str]:
    """What is registered now and would not be any more: what is applied takes the place of what is there."""
    for kind, operations in sorted(control_plane.registered.items()):
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
