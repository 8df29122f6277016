"""`interp doctor URL`: looks at a running webhook the way Karmada does, and says what to fix."""

from __future__ import annotations

from pathlib import Path

import click

from interp.options.dataclass import read_into
from interp.options.samples import sample_option
from interp.output.findings import FINDINGS, exit_code
from interp.verbs.doctor.options import Options
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
@FINDINGS.option
@read_into(Options)
def command(options: Options) -> None:
    """Name resolution, certificate chain, host name, expiry, latency; then one request for each operation that the
    scripts offer, judged by Karmada's own rules. With --kubeconfig also what Karmada has registered, against what the
    scripts answer and what may be registered without harm.

    Exits 0 when Karmada would be content, 1 when something must be fixed.
    """
    from certs.check import FindingsReport
    from interp.verbs.doctor.connection import Probe, examine

    probe = Probe(options.url, options.authorities, options.timeout)
    scripts, bundled = list(options.scripts), options.bundled_language
    findings = examine(probe, scripts, bundled, everything=options.everything)
    if options.kubeconfig:
        from interp.inputs import read_objects
        from interp.verbs.doctor.registration import check_registration

        samples = read_objects(tuple(map(str, options.samples))) if options.samples else []
        findings += check_registration(probe, options.kubeconfig, options.kube_context, scripts, bundled, samples)
    report = FindingsReport(url=options.url, findings=findings)
    FINDINGS.print(options.output, report)
    raise click.exceptions.Exit(exit_code(report))
