"""From the options of `interp register` to configurations: printed, or applied to a live Karmada."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Final

import click

from certs.bundle import fitting_bundle, judge_bundle
from interp.output.objects import OBJECTS
from interp.verbs.register.admission import refuse_unresolved
from interp.verbs.register.application import Registration, live_release
from interp.verbs.register.options import Options
from interp.verbs.register.planning import opened_scripts
from interpreters.core.karmada.releases import NEWEST
from webhook.endpoints.admission.scaling import goes_whole
from webhook.registration.admission import (
    Admission,
    admission_configuration,
    check_namespace,
    namespace_of_host,
    parse_labels,
)
from webhook.registration.client import DEFAULT_PATH, check_url, client_config, default_name, host_of
from webhook.registration.configuration import configuration
from webhook.server.settings import Settings
from webhook.server.settings_sources import load_settings, stray_variables

_DEVELOPMENT: Final = Path("certs/dev")


def register(options: Options) -> None:
    """Print what to apply, or apply it; what is registered and why not more is said on standard error."""
    given = {"scripts": list(options.scripts), "bundledLanguage": options.bundled_language}
    flags = {key: value for key, value in given.items() if value}
    settings = load_settings(flags, os.environ, options.config, to_serve=False)
    if (options.url is None) == (options.service is None):
        raise click.UsageError("give either --url or --service")
    host = host_of(options.url, options.service)
    path, doubts = _path(settings, options)
    bundle = options.authorities or fitting_bundle(_DEVELOPMENT, host)
    for doubt in (*stray_variables(os.environ), *doubts, *judge_bundle(bundle)):
        click.echo(f"warning: {doubt}", err=True)
    client = client_config(bundle.read_bytes(), url=options.url, service=options.service, path=path)
    name = options.name or default_name(host)
    admission = _admission(name, host, options)
    is_live = options.applies or options.touches
    release = asyncio.run(live_release(options)) if is_live else options.karmada or NEWEST
    with opened_scripts(settings, options, release) as (scripts, plan, charged):
        documents = [configuration(plan, client, name=name, timeout=options.timeout)]
        if admission is not None:
            whole = [kind for kind in charged if goes_whole(scripts.catalog, kind)]
            documents.append(admission_configuration(client, charged, admission, whole))
            click.echo(f"admission: {admission.consequence(len(charged))}", err=True)
        if is_live:
            asyncio.run(Registration(scripts, plan, documents, options, release, admission).carry_out())
        else:
            OBJECTS.print(options.output, documents)


def _admission(name: str, host: str, options: Options) -> Admission | None:
    """How admission is to be registered; None when it is not."""
    if not options.admission:
        only_with_it = {
            "--failure-policy": options.failure_policy,
            "--namespace-label": options.labels,
            "--exempt-namespace": options.exempt,
            "--admission-port": options.admission_port,
        }
        for flag, given in only_with_it.items():
            if given:
                raise click.UsageError(f"{flag} goes with --admission")
        return None
    if options.service and not options.applies:
        refuse_unresolved(options.service)
    own = namespace_of_host(host)
    return Admission(
        name=name,
        timeout=options.timeout,
        port=options.admission_port,
        failure_policy=options.failure_policy or "Ignore",
        labels=parse_labels(options.labels),
        exempt=[*map(check_namespace, options.exempt), *([own] if own else [])],
    )


def _path(settings: Settings, options: Options) -> tuple[str, list[str]]:
    """Where the server answers by its settings or the options, and doubts about it."""
    in_url = check_url(options.url).path.rstrip("/") if options.url else ""
    if in_url and options.path:
        raise click.UsageError("--url has a path already; leave --path out")
    given, secret = in_url or options.path, settings.path_secret
    if given and secret and not given.endswith(f"/{secret}"):
        if given.rstrip("/") == DEFAULT_PATH:
            flag = "--url" if in_url else "--path"
            raise click.UsageError(
                f"{flag}: by its settings the server answers at {DEFAULT_PATH}/<pathSecret> only;"
                f" leave {DEFAULT_PATH} out and the whole path is filled in"
            )
        return given, ["the path does not end with the server's pathSecret: is there a proxy in front that adds it?"]
    return given or DEFAULT_PATH + (f"/{secret}" if secret else ""), []
