"""`interp doctor URL`: looks at a running webhook the way Karmada does, and says what to fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from interp.options.samples import sample_option
from interp.output.formats import format_option
from interpreters.core.languages import LANGUAGES, LUA


@click.command(name="doctor")
@click.argument("url")
@click.option("--ca", "authorities", type=click.Path(exists=True, dir_okay=False), help="The bundle Karmada is given.")
@click.option("--timeout", type=click.IntRange(1, 30), default=10, show_default=True, help="As it is registered.")
@click.option("--scripts", multiple=True, metavar="PATH", help="As for `interp serve`: whose operations to ask.")
@click.option("--bundled-language", type=click.Choice([*LANGUAGES, "none"]), default=LUA, show_default=True)
@click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Of the Karmada API server: compare what is registered there.",
)
@sample_option
@click.option("--context", "kube_context", default="", help="In the kubeconfig.")
@click.option("--all", "everything", is_flag=True, help="Ask about every case object, not one per operation.")
@format_option("text", "json")
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:
    """Name resolution, certificate chain, host name, expiry, latency; then one request for each operation that the
    scripts offer, judged by Karmada's own rules. With --kubeconfig also what Karmada has registered, against what the
    scripts answer and what may be registered without harm.

    Exits 0 when Karmada would be content, 1 when something must be fixed.
    """
    from interp.verbs.doctor.connection import Probe, examine

    probe = Probe(options["url"], options["authorities"], options["timeout"])
    findings = examine(probe, list(options["scripts"]), options["bundled_language"], everything=options["everything"])
    if options["kubeconfig"]:
        from interp.inputs import read_objects
        from interp.verbs.doctor.registration import check_registration

        where = (probe, options["kubeconfig"], options["kube_context"])
        samples = read_objects(tuple(map(str, options["samples"]))) if options["samples"] else []
        findings += check_registration(*where, list(options["scripts"]), options["bundled_language"], samples)
    if options["output"] == "json":
        from certs.check import FindingsReport
        from interp.output.json import print_json

        print_json(FindingsReport(url=options["url"], findings=findings))
    else:
        colours = {"ok": "green", "warning": "yellow", "error": "red"}
        for finding in findings:
            click.echo(
                f"{click.style(f'{finding.level:8}', fg=colours[finding.level])}{finding.subject}: {finding.message}"
            )
            if finding.fix:
                click.echo(f"        → {finding.fix}")
    context.exit(1 if any(finding.level == "error" for finding in findings) else 0)
