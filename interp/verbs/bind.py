"""`interp bind`: the binding that Karmada would write for a workload, field by field."""

from __future__ import annotations

from typing import Any

import click

from interp.inputs import read_objects, read_one_object
from interp.output import format_option, print_json, print_yaml
from interp.scripts import Sources, open_scripts, script_options


@click.command("bind", short_help="the ResourceBinding that Karmada would write")
@click.argument("workloads", nargs=-1, required=True, metavar="WORKLOAD...")
@click.option("--policy", metavar="F", help="The PropagationPolicy or ClusterPropagationPolicy that matches.")
@click.option(
    "--clusters", default="", metavar="a,b | a=3,b=2", help="Where it was scheduled to, and how many replicas."
)
@click.option(
    "--feature-gates", "gates", default="", metavar="GATE=true|false",
    help="MultiplePodTemplatesScheduling is off unless said otherwise.",
)  # fmt: skip
@click.option("--like", type=click.Choice(["proposal", "karmada"]), default="proposal", show_default=True,
              help="Fill the fields as the proposal says, or as Karmada itself does.")  # fmt: skip
@click.option("--cluster-scoped", is_flag=True, help="The workload lives outside namespaces: a ClusterResourceBinding.")
@script_options
@format_option("yaml", "json")
def command(
    workloads: tuple[str, ...],
    policy: str | None,
    clusters: str,
    gates: str,
    like: Any,
    cluster_scoped: bool,
    output: str,
    **options: Any,
) -> int:
    """The ResourceBinding of each WORKLOAD, or its ClusterResourceBinding when it lives outside namespaces.

    \b
    interp bind flink.yaml --clusters member1 --feature-gates MultiplePodTemplatesScheduling=true
    interp bind web.yaml --clusters member1=3,member2=2
    """
    from estimator.placement.bindings import build_binding, parse_targets
    from estimator.placement.checks import is_policy, unselected
    from interp.interpreted import interpreted
    from interpreters.core.errors import DocumentError
    from interpreters.core.kinds import GroupVersionKind

    objects = read_objects(workloads)
    matching = read_one_object(policy) if policy else None
    if matching is not None and not is_policy(matching):
        kind = GroupVersionKind.of(matching)
        raise DocumentError(policy or "", f"expected a PropagationPolicy or ClusterPropagationPolicy, got {kind}")
    targets, gate = parse_targets(clusters), read_gate(gates)
    bindings = []
    with open_scripts(Sources(**options), {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
        for obj in objects:
            said = interpreted(runner, catalog, obj, components=gate)
            if not said.as_components:
                click.echo(f"note: no script says what pods {GroupVersionKind.of(obj)} stands for", err=True)
            for warning in unselected(matching, obj) if matching else ():
                click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {warning}", err=True)
            bindings.append(
                build_binding(
                    obj, said, policy=matching, targets=targets, gate=gate, like=like,
                    cluster_scoped=True if cluster_scoped else None,
                )
            )  # fmt: skip
    if output == "json":
        print_json(bindings[0] if len(bindings) == 1 else {"apiVersion": "v1", "kind": "List", "items": bindings})
    else:
        print_yaml(*bindings)
    return 0


def read_gate(text: str) -> bool:
    """Whether `MultiplePodTemplatesScheduling` is on in a text such as `A=true,B=false`; other gates are not ours."""
    from estimator.placement.bindings import GATE

    is_on = False
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equals, value = word.partition("=")
        if not equals or value.lower() not in ("true", "false"):
            raise click.UsageError(f'--feature-gates: expected {GATE}=true or {GATE}=false, got "{word}"')
        if name == GATE:
            is_on = value.lower() == "true"
    return is_on
