"""Scheduling workloads from files, as the options of `interp schedule` say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from estimator.placement.matching import best_policy
from estimator.placement.priority import priority_of, read_classes
from interp.inputs import read_objects
from interp.options.feature_gates import read_gates
from interp.scripts.pods import interpreted
from interp.scripts.sources import open_scripts
from interp.verbs.schedule.decisions import read_members, read_policies
from interp.verbs.schedule.estimators import read_addresses
from interp.verbs.schedule.formats import OF_FILES
from interp.verbs.schedule.options import Options
from interp.verbs.schedule.queue import Circumstances, Job, run
from interpreters.core.documents import Document
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import binding_name
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.kinds import GroupVersionKind


def schedule(options: Options) -> int:
    """The exit code: 1 when a workload goes nowhere."""
    release = options.karmada or NEWEST
    files = options.cluster_files
    if not options.policy_files or not files:
        raise click.UsageError("a WORKLOAD needs its --policy and the --clusters to choose from")
    bindings = read_objects(options.bindings) if options.bindings else []
    jobs = _jobs(options, release, bindings)
    members = read_members(read_objects(files), ", ".join(files), options.nodes)
    names = [member.cluster.name for member in members]
    addresses = read_addresses(options.estimators)
    _check_names("--unavailable", options.unavailable, names)
    _check_names("--estimator", addresses, names)
    circumstances = Circumstances(
        members, addresses, release, read_gates(options.gates, "WorkloadAffinity"), options.rounding,
        options.observed_affinity, options.reschedule, options.unavailable, options.cluster_scoped,
        [one for one in bindings if not any(one is job.binding for job in jobs)],
    )  # fmt: skip
    done = list(run(jobs, circumstances))
    OF_FILES.print(options.output, done)
    return 0 if all(report.decision.scheduled for report, _ in done) else 1


def _jobs(options: Options, release: Release, bindings: list[Document]) -> list[Job]:
    objects = read_objects(options.workloads)
    policies = read_policies(read_objects(options.policy_files), ", ".join(options.policy_files))
    classes = read_classes(read_objects(options.priority_classes) if options.priority_classes else ())
    jobs = []
    with open_scripts(options.sources, {GroupVersionKind.of(obj) for obj in objects}) as (runner, catalog):
        for obj in objects:
            policy = _policy_for(obj, policies)
            said = interpreted(runner, catalog, obj)
            binding = _binding_for(obj, bindings, is_only=len(objects) == 1)
            jobs.append(Job(obj, said, policy, priority_of(policy, classes, release), binding))
    return jobs


def _policy_for(obj: Document, policies: Sequence[Document]) -> Document:
    if len(policies) == 1:
        return policies[0]
    found = best_policy(policies, obj)
    if found is None:
        name = (obj.get("metadata") or {}).get("name")
        raise InputError(f"{obj.get('kind')} {name}: none of the {len(policies)} policies selects it")
    return dict(found)


def _binding_for(obj: Document, bindings: Sequence[Document], *, is_only: bool) -> Document | None:
    """The binding of the workload; the only binding of an only workload may have any name."""
    if is_only and len(bindings) == 1:
        return bindings[0]
    metadata = obj.get("metadata") or {}
    wanted = (metadata.get("namespace") or "default", binding_name(str(obj.get("kind")), str(metadata.get("name"))))
    named = {((one.get("metadata") or {}).get("namespace") or "default", (one.get("metadata") or {}).get("name")): one
             for one in bindings}  # fmt: skip
    return named.get(wanted)


def _check_names(option: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            some = ", ".join(known[:10]) + ("…" if len(known) > 10 else "")
            raise click.UsageError(f"{option} {name}: there is no such cluster; there are {some}")
