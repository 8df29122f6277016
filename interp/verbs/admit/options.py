"""`interp admit URL FILES`: what a running server's admission would say to manifests that are not applied yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from interp.output.formats import format_option
from interp.output.json import print_json
from interp.output.text import counted

if TYPE_CHECKING:
    from estimator.accounting.admission.dry_run import TrialReport, TriedManifest

_FILE = click.Path(exists=True, dir_okay=False)
_COLOURS = {"allowed": "green", "denied": "red", "quota": "cyan"}


@click.command("admit", short_help="whether a running server would admit manifests")
@click.argument("url")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@click.option("--ca", "authorities", type=_FILE, help="The bundle that the server's certificate is from.")
@click.option("--client-certificate", type=_FILE, help="For a server with clientCa.")
@click.option("--client-key", type=_FILE, help="Its key, unless the same file holds it.")
@click.option(
    "--clusters", type=click.IntRange(1, 100), metavar="N",
    help="In how many clusters new workloads would be bound, which is decided as well; without, each is one set.",
)  # fmt: skip
@click.option("--timeout", type=click.IntRange(1, 300), default=30, show_default=True, help="Seconds for the answer.")
@format_option("text", "json")
def command(
    url: str,
    paths: tuple[str, ...],
    authorities: str | None,
    client_certificate: str | None,
    client_key: str | None,
    clusters: int | None,
    timeout: int,
    output: str,
) -> int:
    """Would the admission of a running server let these manifests in? A file, a folder, or - for standard input.

    They are decided in their order, each as if those before it that passed had been admitted. Quotas among them stand
    in for those of their names. Nothing is written or charged. Of Secrets and ConfigMaps only the names are sent.

    Exits 0 when all would be admitted, 1 when one would be denied.

    \b
    interp admit https://interp.example.org/admit manifests/ --ca ca.crt
    kustomize build . | interp admit https://localhost:8443/admit - --ca certs/dev/ca.crt --clusters 2
    """
    from interp.verbs.admit.dry_run import AdmissionServer, check_key, read_manifests

    check_key(client_certificate, client_key)
    server = AdmissionServer(url, authorities, client_certificate, client_key, timeout)
    report = server.tried(read_manifests(paths), clusters)
    if output == "json":
        print_json(report)
    else:
        for line in _lines(report):
            click.echo(line)
    return 1 if any(manifest.decision == "denied" for manifest in report.manifests) else 0


def _lines(report: TrialReport) -> Iterator[str]:
    from estimator.accounting.audit.rendering.words import effect_line

    width = max(len(manifest.decision) for manifest in report.manifests)
    for manifest in report.manifests:
        yield from _manifest_lines(manifest, width)
    denied = sum(manifest.decision == "denied" for manifest in report.manifests)
    tried = sum(manifest.decision in ("allowed", "denied") for manifest in report.manifests)
    yield ""
    yield f"{counted(tried, 'manifest')} of {len(report.manifests)} would be counted, {denied} denied"
    yield from map(effect_line, report.effects)


def _manifest_lines(manifest: TriedManifest, width: int) -> Iterator[str]:
    from estimator.accounting.audit.rendering.words import amounts_line

    adds = f": it adds {amounts_line(manifest.adds)}" if manifest.decision == "allowed" else ""
    decision = click.style(f"{manifest.decision:{width}}", fg=_COLOURS.get(manifest.decision))
    yield f"{decision}  {manifest.object}{adds}"
    for text in (manifest.message, *manifest.warnings):
        if text:
            yield f"{'':{width}}  {text}"
