"""`interp register`: the configuration that makes Karmada call the webhook, printed, applied or taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from interp.options.completions import complete_kind_patterns, complete_operations, one_of
from interp.options.dataclass import read_into
from interp.options.karmada_release import karmada_option
from interp.options.samples import sample_option
from interp.output.objects import OBJECTS
from interp.verbs.register.options import Options
from interpreters.core.languages import LANGUAGES

if TYPE_CHECKING:
    pass

_BUNDLED = (*LANGUAGES, "none")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
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
@OBJECTS.option
@read_into(Options)
def command(options: Options) -> None:
    """The (group, version, kind, operation) tuples that the scripts answer, less what would do harm.

    Standard error says for each kind what is registered and what follows from it, and what is left out and why.
    """
    if options.yes and not (options.applies or options.removes):
        raise click.UsageError("--yes is an answer to what --apply or --remove would change; give one of them")
    if options.removes:
        import asyncio

        from interp.verbs.register.removal import take_back

        asyncio.run(take_back(options))
    else:
        from interp.verbs.register.run import register

        register(options)
