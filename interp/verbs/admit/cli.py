"""`interp admit URL FILES`: what a running server's admission would say to manifests that are not applied yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from interp.options.dataclass import read_into
from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_lines
from interp.verbs.admit.options import Options
from interp.verbs.admit.text import lines

if TYPE_CHECKING:
    from estimator.accounting.admission.dry_run import TrialReport

_FILE = click.Path(exists=True, dir_okay=False)
FORMATS: Final[Formats[TrialReport]] = Formats(text=print_lines(lines), json=print_json)


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
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """Would the admission of a running server let these manifests in? A file, a folder, or - for standard input.

    They are decided in their order, each as if those before it that passed had been admitted. Quotas among them stand
    in for those of their names. Nothing is written or charged. Of Secrets and ConfigMaps only the names are sent.

    Exits 0 when all would be admitted, 1 when one would be denied.

    \b
    interp admit https://interp.example.org/admit manifests/ --ca ca.crt
    kustomize build . | interp admit https://localhost:8443/admit - --ca certs/dev/ca.crt --clusters 2
    """
    from interp.verbs.admit.dry_run import AdmissionServer, check_key, read_manifests

    check_key(options.client_certificate, options.client_key)
    server = AdmissionServer(
        options.url, options.authorities, options.client_certificate, options.client_key, options.timeout
    )
    report = server.tried(read_manifests(options.paths), options.clusters)
    FORMATS.print(options.output, report)
    return 1 if any(manifest.decision == "denied" for manifest in report.manifests) else 0
