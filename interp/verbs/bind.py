"""`interp bind`: the binding that Karmada would write for a workload, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from interp.inputs import read_objects, read_one_object
from interp.options.dataclass import read_into
from interp.options.feature_gates import gates_option, read_gates
from interp.options.karmada_release import karmada_option
from interp.output.messages import print_warning
from interp.output.objects import OBJECTS
from interp.scripts.sources import Sources, open_scripts, script_options

REPLICAS, COMPONENTS, NOTHING = "replicas", "components", "nothing"

if TYPE_CHECKING:
    from interpreters.catalog import Catalog
    from interpreters.core.documents import Document
    from interpreters.core.karmada.releases import Release
    from interpreters.core.kinds import GroupVersionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `interp bind` was told."""

    workloads: tuple[str, ...]
    policy: str | None
    clusters: str
    gates: str
    priority_classes: tuple[str, ...]
    like: Literal["proposal", "karmada"]
    karmada: Release
    cluster_scoped: bool
    sources: Sources
    output: str


@click.command("bind", short_help="the ResourceBinding that Karmada would write")
@click.argument("workloads", nargs=-1, required=True, metavar="WORKLOAD...")
@click.option("--policy", metavar="F", help="The PropagationPolicy or ClusterPropagationPolicy that matches.")
@click.option(
    "--clusters", default="", metavar="a,b | a=3,b=2", help="Where it was scheduled to, and how many replicas."
)
@gates_option("MultiplePodTemplatesScheduling and WorkloadAffinity are off unless said otherwise.")
@click.option("--priority-classes", multiple=True, metavar="F", help="PriorityClasses that the policy may name.")
@click.option("--like", type=click.Choice(["proposal", "karmada"]), default="proposal", show_default=True,
              help="Fill the fields as the proposal says, or as Karmada itself does.")  # fmt: skip
@karmada_option()
@click.option("--cluster-scoped", is_flag=True, help="The workload lives outside namespaces: a ClusterResourceBinding.")
@script_options
@OBJECTS.option
@read_into(Options)
def command(options: Options) -> int:
    """The ResourceBinding of each WORKLOAD, or its ClusterResourceBinding when it lives outside namespaces.

    \b
    interp bind flink.yaml --clusters member1 --feature-gates MultiplePodTemplatesScheduling=true
    interp bind flink.yaml --policy policy.yaml --clusters member1 --like karmada --karmada 1.18
    interp bind web.yaml --clusters member1=3,member2=2
    """
    from estimator.placement.bindings import build_binding, parse_targets
    from estimator.placement.matching import unselected
    from estimator.placement.priority import NO_PRIORITY, priority_of, read_classes
    from interp.scripts.pods import interpreted
    from interpreters.core.interpreted import Interpreted
    from interpreters.core.karmada.api import MULTIPLE_POD_TEMPLATES, WORKLOAD_AFFINITY
    from interpreters.core.kinds import GroupVersionKind

    objects = read_objects(options.workloads)
    matching = _policy(options.policy) if options.policy else None
    classes = read_classes(read_objects(options.priority_classes) if options.priority_classes else ())
    priority = priority_of(matching, classes, options.karmada) if matching else NO_PRIORITY
    if priority.problem:
        print_warning(priority.problem)
    targets, on = parse_targets(options.clusters), read_gates(options.gates, MULTIPLE_POD_TEMPLATES)
    gate = MULTIPLE_POD_TEMPLATES in on
    bindings = []
    with open_scripts(options.sources, {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
        for obj in objects:
            kind = GroupVersionKind.of(obj)
            asked = _asked(catalog, kind, gate, options.karmada) if options.like == "karmada" else None
            said = interpreted(runner, catalog, obj, components=gate and asked != REPLICAS)
            if asked == NOTHING:
                said = Interpreted()
            elif not said.as_components:
                click.echo(f"note: no script says what pods {kind} stands for", err=True)
            for warning in unselected(matching, obj) if matching else ():
                print_warning(warning)
            bindings.append(
                build_binding(
                    obj, said, policy=matching, targets=targets, gate=gate, like=options.like, release=options.karmada,
                    priority=priority.value if priority.is_set else None,
                    affinity_groups=_affinity_groups(matching, obj) if WORKLOAD_AFFINITY in on else None,
                    cluster_scoped=True if options.cluster_scoped else None,
                )
            )  # fmt: skip
    OBJECTS.print(options.output, bindings)
    return 0


def _policy(path: str) -> Document:
    from estimator.placement.matching import is_policy
    from interpreters.core.errors import DocumentError
    from interpreters.core.kinds import GroupVersionKind

    policy = read_one_object(path)
    if not is_policy(policy):
        kind = GroupVersionKind.of(policy)
        raise DocumentError(path, f"expected a PropagationPolicy or ClusterPropagationPolicy, got {kind}")
    return policy


def _asked(catalog: Catalog, kind: GroupVersionKind, gate: bool, release: Release) -> str:
    """What Karmada asks of a kind that `interp register` registered: Kubernetes' own and those that divide
    have replicas, those that go whole components, or nothing while the gate is off."""
    from interp.scripts.pods import division_of
    from interpreters.core.division import Division
    from interpreters.core.karmada.answers import answered_by_karmada, is_native
    from webhook.registration.rules import REPLICAS as COUNTED

    if is_native(kind) or (division := division_of(catalog, kind)) in (Division.DIVIDES, Division.KARMADA):
        return REPLICAS
    if division is Division.WHOLE and not gate and COUNTED not in answered_by_karmada(kind, release):
        return NOTHING
    return COMPONENTS


def _affinity_groups(policy: Document | None, obj: Document) -> dict[str, str]:
    from estimator.placement.policy import read_placement
    from estimator.placement.workload_affinity import affinity_groups

    placement = read_placement(((policy or {}).get("spec") or {}).get("placement") or {})
    return affinity_groups(placement.workload_affinity, (obj.get("metadata") or {}).get("labels") or {})
