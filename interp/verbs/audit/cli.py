"""`interp audit`: what workloads really cost their quotas, from bindings in files, a live Karmada or a ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from interp.options.dataclass import read_into
from interp.options.karmada_release import karmada_option
from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.text import print_text
from interp.scripts.sources import script_options
from interp.verbs.audit.options import Options

if TYPE_CHECKING:
    from estimator.accounting.audit.report import AuditReport

_SEVERITIES: Final = {"never": (), "over": ("error",), "drift": ("error", "drift"),
                      "warning": ("error", "drift", "warning")}  # fmt: skip


def _rendered(name: str) -> Callable[[AuditReport], None]:
    """A format of the accounting library, which is imported when it is asked for."""

    def render(report: AuditReport) -> str:
        from estimator.accounting.audit.rendering import RENDERERS

        return RENDERERS[name](report)

    return print_text(render)


FORMATS: Final[Formats[AuditReport]] = Formats(
    text=_rendered("text"),
    json=print_json,
    csv=_rendered("csv"),
    markdown=_rendered("markdown"),
    html=_rendered("html"),
)


@click.command("audit", short_help="what workloads really cost their quotas")
@click.option(
    "--bindings", multiple=True, metavar="F", help="Bindings: a file (JSON, NDJSON, YAML, gzip), a folder, or -."
)
@click.option("--quotas", multiple=True, metavar="F", help="FederatedResourceQuotas and ResourceQuotas.")
@click.option(
    "--workloads", multiple=True, metavar="F", help="The workloads themselves, to compare with their bindings."
)
@click.option("--kubeconfig", metavar="F", help="Read bindings and quotas from this Karmada instead of files.")
@click.option("--context", default="", metavar="NAME", help="The context in the kubeconfig.")
@click.option("--ledger", metavar="URL", help="Audit what a ledger charges: an SQLite file or postgresql://…")
@click.option("--with", "extra", multiple=True, metavar="F",
              help="What if these workloads, bindings and quotas were applied? A file or a folder.")  # fmt: skip
@click.option(
    "--clusters", type=click.IntRange(1, 10_000), metavar="N",
    help="With --with: in how many clusters new workloads would run; those that are bound stay where they are.",
)  # fmt: skip
@click.option(
    "--near", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="From which share on a limit is near."
)
@click.option(
    "--top", type=click.IntRange(0, 100), default=5, show_default=True, help="How many of the heaviest to show."
)
@click.option("--fail-on", type=click.Choice(list(_SEVERITIES)), default="over", show_default=True,
              help="The lightest finding that makes the exit code 1.")  # fmt: skip
@karmada_option(live=True)
@script_options
@FORMATS.option
@read_into(Options)
def command(options: Options) -> int:
    """Add bindings up, compare with the quotas, and say what is wrong. Exit code 1 when there is something to find.

    \b
    kubectl get resourcebindings -A -o json | interp audit --bindings - --quotas quotas.yaml
    interp audit --kubeconfig ~/.kube/karmada.config -o html > audit.html
    interp audit --bindings dump.json.gz --quotas quotas/ --with manifests/ --clusters 2
    """
    if sum(bool(source) for source in (options.bindings, options.kubeconfig, options.ledger)) != 1:
        raise click.UsageError("say where the bindings are: one of --bindings, --kubeconfig and --ledger")
    if options.clusters is not None and not options.extra:
        raise click.UsageError("--clusters goes with --with: in how many clusters its workloads would run")
    from interp.verbs.audit.run import audit

    report = audit(options)
    FORMATS.print(options.output, report)
    return 1 if report.has(*_SEVERITIES[options.fail_on]) else 0
