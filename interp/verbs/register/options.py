"""`interp register`: the configuration that makes Karmada call the webhook, printed, applied or taken back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.options.completions import complete_kind_patterns, complete_operations, one_of
from interp.options.karmada_release import karmada_option
from interp.options.samples import sample_option
from interp.output.formats import format_option
from interpreters.core.languages import LANGUAGES

if TYPE_CHECKING:
    from webhook.registration.admission import Admission
    from webhook.server.settings import Settings

_BUNDLED = (*LANGUAGES, "none")
_DEVELOPMENT = Path("certs/dev")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OF_ADMISSION = {
    "failure_policy": "--failure-policy", "labels": "--namespace-label", "exempt": "--exempt-namespace",
    "admission_port": "--admission-port",
}  # fmt: skip
_KINDS: dict[str, Any] = {"multiple": True, "metavar": "KINDS", "shell_complete": complete_kind_patterns}


@click.command(name="register")
@click.option("--url", help="The webhook's https URL.")
@click.option("--service", metavar="NS/NAME[:PORT]", help="The Service in front of it instead.")
@click.option("--path", help="Path behind the Service; /interpret, with the path secret if one is set.")
@click.option("--ca", "authorities", type=_FILE, help="PEM bundle; certs/dev/ca.crt if made for that host.")
@click.option("--name", help="The webhook's dotted name, interp.<host> by default; the first word names the object.")
@click.option("--timeout", type=int, default=10, show_default=True, help="Seconds Karmada waits, 1 to 30.")
@click.option("--kinds", **_KINDS, help="Only these, such as 'FlinkDeployment,ray.io/*/*'.")
@click.option(
    "--operations",
    metavar="NAMES",
    shell_complete=complete_operations,
    help="Only these, such as InterpretComponent,ReviseReplica.",
)
@click.option("--all", "everything", is_flag=True, help="Also what Karmada answers well itself, by bundled scripts.")
@click.option("--divide", **_KINDS, help="Let interp count and share out these instead of Karmada, or of going whole.")
@click.option("--count", **_KINDS, help="Count these with the feature gate off too, so that Divided checks they fit.")
@click.option("--scripts", multiple=True, metavar="PATH", help="As for `interp serve`. [INTERP_SCRIPTS]")
@click.option(
    "--bundled-language",
    metavar="|".join(_BUNDLED),
    shell_complete=one_of(_BUNDLED),
    help="As for `interp serve`. [INTERP_BUNDLED_LANGUAGE]",
)
@click.option("--config", help="The settings file of `interp serve`. [INTERP_CONFIG]")
@sample_option
@click.option("--admission", is_flag=True, help="Also the ValidatingWebhookConfiguration for /admit and policies.")
@click.option("--admission-port", type=int, help="Where these are served, if on a second listener (adminPort).")
@click.option(
    "--failure-policy",
    type=click.Choice(["Ignore", "Fail"]),
    help="Of admission: what passes while interp does not answer, everything or nothing.  [default: Ignore]",
)
@click.option(
    "--namespace-label",
    "labels",
    multiple=True,
    metavar="KEY[=VALUE]",
    help="Admission only in namespaces with this label.",
)
@click.option("--exempt-namespace", "exempt", multiple=True, metavar="NS", help="No admission in this namespace.")
@click.option("--apply", "applies", is_flag=True, help="Apply it to the Karmada API server.")
@click.option(
    "--yes",
    is_flag=True,
    help="With --apply or --remove: also if bindings that exist would change, or what others made.",
)
@click.option("--touch", "touches", is_flag=True, help="Have Karmada ask again about every object that is there.")
@click.option("--remove", "removes", is_flag=True, help="Take back what was applied.")
@click.option("--kubeconfig", type=_FILE, help="Of the Karmada API server, for --apply, --touch and --remove.")
@click.option("--context", "kube_context", default="", help="In the kubeconfig.")
@click.option(
    "--feature-gates",
    "gates",
    default="",
    metavar="GATE=true|false",
    help="MultiplePodTemplatesScheduling as Karmada runs with it; read off its bindings by default.",
)
@karmada_option(live=True)
@format_option("yaml", "json")
def command(**options: Any) -> None:  # fmt: skip
    """The (group, version, kind, operation) tuples that the scripts answer, less what would do harm.

    Standard error says for each kind what is registered and what follows from it, and what is left out and why.
    """
    import asyncio

    if options["yes"] and not (options["applies"] or options["removes"]):
        raise click.UsageError("--yes is an answer to what --apply or --remove would change; give one of them")
    if options["removes"]:
        from interp.verbs.register.removal import take_back

        asyncio.run(take_back(options))
    else:
        _register(options)


def _register(options: Mapping[str, Any]) -> None:
    import asyncio
    import os

    from certs.bundle import fitting_bundle, judge_bundle
    from interp.verbs.register.registration import Registration, live_release, opened_scripts
    from webhook.registration.client import client_config, default_name, host_of
    from webhook.registration.configuration import configuration
    from webhook.server.settings_sources import load_settings, stray_variables

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
    name = options["name"] or default_name(host)
    admission = _admission(name, host, options)
    if options["applies"] or options["touches"]:
        options = {**options, "karmada": asyncio.run(live_release(options))}
    with opened_scripts(settings, options) as (scripts, plan, charged):
        documents = [configuration(plan, client, name=name, timeout=options["timeout"])]
        if admission is not None:
            from webhook.endpoints.admission.scaling import goes_whole
            from webhook.registration.admission import admission_configuration

            whole = [kind for kind in charged if goes_whole(scripts.catalog, kind)]
            documents.append(admission_configuration(client, charged, admission, whole))
            click.echo(f"admission: {admission.consequence(len(charged))}", err=True)
        if options["applies"] or options["touches"]:
            asyncio.run(Registration(scripts, plan, documents, options, admission).carry_out())
        else:
            _print(documents, options)


def _admission(name: str, host: str, options: Mapping[str, Any]) -> Admission | None:
    """How admission is to be registered; None when it is not."""
    from interp.verbs.register.admission import refuse_unresolved
    from webhook.registration.admission import Admission, check_namespace, namespace_of_host, parse_labels

    if not options["admission"]:
        for option in ("failure_policy", "labels", "exempt", "admission_port"):
            if options[option]:
                raise click.UsageError(f"{_OF_ADMISSION[option]} goes with --admission")
        return None
    if options["service"] and not options["applies"]:
        refuse_unresolved(options["service"])
    own = namespace_of_host(host)
    return Admission(
        name=name,
        timeout=options["timeout"],
        port=options["admission_port"],
        failure_policy=options["failure_policy"] or "Ignore",
        labels=parse_labels(options["labels"]),
        exempt=[*map(check_namespace, options["exempt"]), *([own] if own else [])],
    )


def _path(settings: Settings, options: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Where the server answers by its settings or the options, and doubts about it."""
    from webhook.registration.client import DEFAULT_PATH, check_url

    in_url = check_url(options["url"]).path.rstrip("/") if options["url"] else ""
    if in_url and options["path"]:
        raise click.UsageError("--url has a path already; leave --path out")
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


def _print(documents: list[dict[str, Any]], options: Mapping[str, Any]) -> None:
    from interp.output.json import print_json
    from interp.output.yaml import print_yaml

    if options["output"] == "json":
        print_json(documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": documents})
    else:
        print_yaml(*documents)
