"""`interp register`: the configuration that makes Karmada call the webhook, printed or applied."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.output import format_option

if TYPE_CHECKING:
    from interpreters.core.kinds import GroupVersionKind
    from webhook.registration import Plan
    from webhook.settings import Settings

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(name="register")
@click.option("--url", help="The webhook's https URL.")
@click.option("--service", metavar="NS/NAME[:PORT]", help="The Service in front of it instead.")
@click.option("--path", help="Path behind the Service; /interpret, with the path secret if one is set.")
@click.option("--ca", "authorities", type=_FILE, default="certs/dev/ca.crt", show_default=True, help="PEM bundle.")
@click.option("--name", default="resources.interp.webhook", show_default=True, help="The webhook's dotted name.")
@click.option("--timeout", type=int, default=10, show_default=True, help="Seconds Karmada waits, 1 to 30.")
@click.option("--kinds", metavar="PATTERNS", help="Only these, such as 'FlinkDeployment,ray.io/*/*'.")
@click.option("--operations", metavar="NAMES", help="Only these, such as InterpretComponent,ReviseReplica.")
@click.option("--scripts", multiple=True, metavar="PATH", help="As for `interp serve`. [INTERP_SCRIPTS]")
@click.option(
    "--bundled-language", metavar="lua|starlark|none", help="As for `interp serve`. [INTERP_BUNDLED_LANGUAGE]"
)
@click.option("--config", help="The settings file of `interp serve`. [INTERP_CONFIG]")
@click.option("--sample", "samples", type=_FILE, multiple=True, help="Objects to prove scripts harmless with.")
@click.option("--admission", is_flag=True, help="Also the ValidatingWebhookConfiguration for /admit and policies.")
@click.option("--admission-port", type=int, help="Where these are served, if on a second listener (adminPort).")
@click.option("--apply", "applies", is_flag=True, help="Apply it to the Karmada API server.")
@click.option("--kubeconfig", type=_FILE, help="Of the Karmada API server, for --apply.")
@click.option("--context", "kube_context", default="", help="In the kubeconfig.")
@format_option("yaml", "json")
def command(**options: Any) -> None:
    """The (group, version, kind, operation) tuples that the scripts answer, less what would do harm.

    What is left out is said on standard error, with the reason.
    """
    import os

    from webhook.registration import client_config, configuration
    from webhook.sources import load_settings

    given = {"scripts": list(options["scripts"]), "bundledLanguage": options["bundled_language"]}
    flags = {key: value for key, value in given.items() if value}
    settings = load_settings(flags, os.environ, options["config"], to_serve=False)
    path = options["path"] or "/interpret" + (f"/{settings.path_secret}" if settings.path_secret else "")
    authorities = options["authorities"].read_bytes()
    client = client_config(authorities, url=options["url"], service=options["service"], path=path)
    plan, kinds = _plan(settings, options)
    for refusal in plan.refusals:
        click.echo(f"left out: {refusal}", err=True)
    documents = [configuration(plan, client, name=options["name"], timeout=options["timeout"])]
    if options["admission"]:
        from webhook.admission_registration import admission_configuration

        named = {"name": options["name"], "timeout": options["timeout"], "port": options["admission_port"]}
        documents.append(admission_configuration(client, kinds, **named))
    _deliver(documents, options)


def _plan(settings: Settings, options: Mapping[str, Any]) -> tuple[Plan, list[GroupVersionKind]]:
    """What to register, and the kinds whose pods the scripts tell."""
    from interp.inputs import read_objects
    from interpreters.catalog import Catalog
    from interpreters.core.operations import OPERATIONS, find_operation
    from interpreters.interpretation import load_functions
    from interpreters.sandbox.runner import SandboxRunner
    from interpreters.scan import scan
    from webhook.registration import plan_registration, tells_pods
    from webhook.zero_proof import zero_proof

    names = [name.strip() for name in (options["operations"] or "").split(",") if name.strip()]
    operations = [find_operation(name) for name in names] or list(OPERATIONS)
    patterns = [pattern.strip() for pattern in (options["kinds"] or "").split(",") if pattern.strip()]
    samples = read_objects(tuple(map(str, options["samples"]))) if options["samples"] else []
    places = [Path(place) for place in settings.scripts]
    found = scan(places, bundled=None if settings.bundled_language == "none" else settings.bundled_language)
    with SandboxRunner() as runner:
        catalog = Catalog.build(found, load_functions(runner, found))
        for broken in catalog.broken:
            click.echo(f"left out: {broken.error}", err=True)
        plan = plan_registration(
            catalog,
            zero_proof(runner, catalog, samples),
            wanted_kinds=lambda kind: _matches(kind, patterns),
            wanted_operations=operations,
        )
    charged = [kind for kind in catalog.kinds if _matches(kind, patterns) and tells_pods(catalog, kind)]
    return plan, charged


def _matches(kind: GroupVersionKind, patterns: list[str]) -> bool:
    """By the kind alone, `group/version/Kind`, or `group/Kind`, each with * and ?."""
    spellings = (kind.kind, kind.folder, f"{kind.group}/{kind.kind}")
    return not patterns or any(fnmatchcase(spelling, pattern) for spelling in spellings for pattern in patterns)


def _deliver(documents: list[dict[str, Any]], options: Mapping[str, Any]) -> None:
    from interp.output import print_json, print_yaml

    if options["applies"]:
        import asyncio

        asyncio.run(_apply(documents, options))
    elif options["output"] == "json":
        print_json(documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": documents})
    else:
        print_yaml(*documents)


async def _apply(documents: list[dict[str, Any]], options: Mapping[str, Any]) -> None:
    import msgspec

    from estimator.snapshot.apiserver import ApiServer
    from estimator.snapshot.kubeconfig import find_access

    async with ApiServer(find_access(options["kubeconfig"], options["kube_context"])) as server:
        for document in documents:
            plural = document["kind"].lower() + "s"
            name = document["metadata"]["name"]
            path = f"/apis/{document['apiVersion']}/{plural}/{name}"
            await server.apply(path, "interp", msgspec.json.encode(document))
            click.echo(f"{plural}/{name} applied to {server.address}")
