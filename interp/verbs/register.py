"""`interp register`: the configuration that makes Karmada call the webhook, printed or applied."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.completions import complete_kind_patterns, complete_operations, one_of
from interp.output import format_option

if TYPE_CHECKING:
    from interpreters.core.kinds import GroupVersionKind
    from webhook.registration import Plan
    from webhook.settings import Settings

_DEVELOPMENT = Path("certs/dev")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(name="register")
@click.option("--url", help="The webhook's https URL.")
@click.option("--service", metavar="NS/NAME[:PORT]", help="The Service in front of it instead.")
@click.option("--path", help="Path behind the Service; /interpret, with the path secret if one is set.")
@click.option("--ca", "authorities", type=_FILE, help="PEM bundle; certs/dev/ca.crt if made for that host.")
@click.option("--name", help="The webhook's dotted name, interp.<host> by default; the first word names the object.")
@click.option("--timeout", type=int, default=10, show_default=True, help="Seconds Karmada waits, 1 to 30.")
@click.option(
    "--kinds",
    metavar="PATTERNS",
    shell_complete=complete_kind_patterns,
    help="Only these, such as 'FlinkDeployment,ray.io/*/*'.",
)
@click.option(
    "--operations",
    metavar="NAMES",
    shell_complete=complete_operations,
    help="Only these, such as InterpretComponent,ReviseReplica.",
)
@click.option("--scripts", multiple=True, metavar="PATH", help="As for `interp serve`. [INTERP_SCRIPTS]")
@click.option(
    "--bundled-language",
    metavar="lua|starlark|none",
    shell_complete=one_of(("lua", "starlark", "none")),
    help="As for `interp serve`. [INTERP_BUNDLED_LANGUAGE]",
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

    from certs.bundle import fitting_bundle, judge_bundle
    from webhook.registration import client_config, configuration, default_name, host_of
    from webhook.sources import load_settings, stray_variables

    given = {"scripts": list(options["scripts"]), "bundledLanguage": options["bundled_language"]}
    flags = {key: value for key, value in given.items() if value}
    settings = load_settings(flags, os.environ, options["config"], to_serve=False)
    if (options["url"] is None) == (options["service"] is None):
        raise click.UsageError("give either --url or --service")
    host = host_of(options["url"], options["service"])
    path, doubts = _path(settings, options)
    bundle = options["authorities"] or fitting_bundle(_DEVELOPMENT, host)
    for doubt in (*stray_variables(os.environ), *doubts, *judge_bundle(bundle)):
        click.echo(f"warning: {doubt}", err=True)
    client = client_config(bundle.read_bytes(), url=options["url"], service=options["service"], path=path)
    plan, kinds = _plan(settings, options)
    for refusal in plan.refusals:
        click.echo(f"left out: {refusal}", err=True)
    name = options["name"] or default_name(host)
    documents = [configuration(plan, client, name=name, timeout=options["timeout"])]
    if options["admission"]:
        from webhook.admission_registration import admission_configuration

        named = {"name": name, "timeout": options["timeout"], "port": options["admission_port"]}
        documents.append(admission_configuration(client, kinds, **named))
    _deliver(documents, options)


def _path(settings: Settings, options: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Where the server answers by its settings or the options, and doubts about it."""
    from webhook.registration import DEFAULT_PATH, check_url

    in_url = check_url(options["url"]).path.rstrip("/") if options["url"] else ""
    if in_url and options["path"]:
        raise click.UsageError("the path stands in --url already; leave --path out")
    given, secret = in_url or options["path"], settings.path_secret
    if given and secret and not given.endswith(f"/{secret}"):
        if given.rstrip("/") == DEFAULT_PATH:
            flag = "--url" if in_url else "--path"
            raise click.UsageError(
                f"{flag}: by its settings the server answers at {DEFAULT_PATH}/<pathSecret> only;"
                f" leave {DEFAULT_PATH} out and the whole path is filled in"
            )
        return given, ["the path does not end with the server's pathSecret: is there a proxy in front that adds it?"]
    return given or DEFAULT_PATH + (f"/{secret}" if secret else ""), []


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
        for broken in catalog.own_broken:
            if broken.kind is None or _matches(broken.kind, patterns):
                raise broken.as_script_error  # the server would answer with it whatever Karmada asks
        known = {*catalog.kinds, *(broken.kind for broken in catalog.broken if broken.kind)}
        _refuse_unknown(patterns, known)
        plan = plan_registration(
            catalog,
            zero_proof(runner, catalog, samples),
            wanted_kinds=lambda kind: _matches(kind, patterns),
            wanted_operations=operations,
        )
    charged = [kind for kind in catalog.kinds if _matches(kind, patterns) and tells_pods(catalog, kind)]
    return plan, charged


def _refuse_unknown(patterns: list[str], known: Collection[GroupVersionKind]) -> None:
    """Raise for a pattern that means no kind at all: a typing error would leave a kind unregistered in silence."""
    from difflib import get_close_matches

    from interpreters.core.errors import UnknownTargetError

    for pattern in patterns:
        if not any(_matches(kind, [pattern]) for kind in known):
            near = get_close_matches(pattern, sorted({kind.kind for kind in known}), n=1)
            hint = f"did you mean {near[0]}?" if near else "`interp list` shows them all"
            raise UnknownTargetError(f'--kinds: no script knows "{pattern}"; {hint}')


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
