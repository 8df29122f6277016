"""`interp register --remove`: taking back what was registered, unless somebody else made it or a division is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from estimator.clusters.apiserver import ApiServer
from estimator.clusters.kubeconfig import find_access
from interp.options.karmada_release import release_of
from interp.verbs.register.application import given_gate, name_changes
from interp.verbs.register.configurations import LiveConfiguration, paths, read_configuration, registered_names, remove
from interp.verbs.register.control_plane import read_control_plane
from interp.verbs.register.options import Options
from interpreters.core.operations import Operation
from interpreters.core.wire import Reply
from webhook.registration.configuration import object_name


async def take_back(options: Options) -> None:
    """`--remove`: the objects of a name go; what Karmada wrote with our answers stays until its objects change.

    Raises `click.exceptions.Exit` with 1, after naming them, when divisions would be lost and nobody said yes."""
    for flag, given in (("--apply", options.applies), ("--touch", options.touches)):
        if given:
            raise click.UsageError(f"--remove takes back what --apply registered; leave {flag} out")
    name = object_name("interp" if options.name is None else options.name)
    async with ApiServer(find_access(options.kubeconfig, options.kube_context)) as server:
        live = [await read_configuration(server, path) for path in paths(name)]
        if not options.yes:
            _refuse_foreign(live)
            await _refuse_to_undivide(server, name, options)
        for one in live:
            click.echo(await remove(server, one))
        if all(one.configuration is None for one in live):
            known = ", ".join(await registered_names(server)) or "nothing"
            click.echo(f"nothing was registered by the name {name}; by interp is {known}; --name says which", err=True)
            return
    click.echo("Karmada answers by itself again; each binding keeps what it has until its object changes", err=True)


def _refuse_foreign(live: Sequence[LiveConfiguration]) -> None:
    foreign = [one.foreign for one in live if one.foreign]
    for line in foreign:
        click.echo(line, err=True)
    if foreign:
        click.echo("nothing was removed; --yes removes it all the same", err=True)
        raise click.exceptions.Exit(1)


async def _refuse_to_undivide(server: ApiServer, name: str, options: Options) -> None:
    """A kind that Karmada alone cannot divide goes whole to each cluster once nobody counts it any more."""
    control_plane = await read_control_plane(server, name, ())
    given = given_gate(options.gates)
    gate = control_plane.tells_components if given is None else given
    release = await release_of(server, options.karmada)
    # Whatever answers afterwards, it is no script of ours.
    changes = [change for change in control_plane.changes({}, release, _nobody, gate=gate) if change.undivided]
    name_changes(changes, "without interp")
    if changes:
        click.echo("nothing was removed; --yes removes it all the same", err=True)
        raise click.exceptions.Exit(1)


def _nobody(obj: dict[str, Any], operation: Operation) -> Reply:
    raise AssertionError(f"{operation} is registered nowhere")
