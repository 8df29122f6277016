"""What of the scripts is registered, and why not more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from interp.inputs import read_objects
from interp.options.kind_patterns import matcher, refuse_unknown, split_patterns
from interp.verbs.register.options import Options
from interpreters.catalog import Catalog
from interpreters.core.karmada.releases import Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import OPERATIONS, Operation, find_operation
from interpreters.core.wire import Reply
from interpreters.division_proof import CaseProof
from interpreters.interpretation import Runner, interpret, load_functions, request_for
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import empty_folders, scan
from webhook.registration.plan import Plan, plan_registration, tells_pods
from webhook.registration.rules import Wishes
from webhook.server.settings import Settings


class Scripts(NamedTuple):
    """Scripts that can be asked."""

    runner: Runner
    catalog: Catalog

    def answer(self, obj: dict[str, Any], operation: Operation) -> Reply:
        return interpret(self.runner, self.catalog, request_for(obj, operation)).reply


@contextmanager
def opened_scripts(
    settings: Settings, options: Options, release: Release
) -> Iterator[tuple[Scripts, Plan, list[GroupVersionKind]]]:
    """The scripts, what to register of them (said on standard error), and the kinds whose pods they tell."""
    names = split_patterns([options.operations])
    operations = [find_operation(name) for name in names] or list(OPERATIONS)
    patterns, divide, count = map(split_patterns, (options.kinds, options.divide, options.count))
    wanted = matcher(patterns or ["*"])
    samples = read_objects(tuple(map(str, options.samples))) if options.samples else []
    places = [Path(place) for place in settings.scripts]
    found = scan(places, bundled=None if settings.bundled_language == "none" else settings.bundled_language)
    for empty in empty_folders(places, found):
        click.echo(f"warning: --scripts: {empty}", err=True)
    with SandboxRunner() as runner:
        catalog = Catalog.build(found, load_functions(runner, found))
        for broken in catalog.own_broken:
            if broken.kind is None or wanted(broken.kind):
                raise broken.as_script_error  # the server would answer with it whatever Karmada asks
        known = {*catalog.kinds, *(broken.kind for broken in catalog.broken if broken.kind)}
        for option, given in (("--kinds", patterns), ("--divide", divide), ("--count", count)):
            refuse_unknown(option, given, known)
            for pattern in given:
                if not any(matcher([pattern])(kind) for kind in known if wanted(kind)):
                    raise click.UsageError(f"{option} {pattern}: --kinds leaves it out")
        plan = plan_registration(
            catalog,
            CaseProof(runner, catalog, samples),
            wishes=Wishes(matcher(divide), matcher(count), options.everything),
            release=release,
            wanted_kinds=wanted,
            wanted_operations=operations,
        )
        _explain(plan)
        _tell_unused(samples, plan)
        charged = [kind for kind in catalog.kinds if wanted(kind) and tells_pods(catalog, kind)]
        yield Scripts(runner, catalog), plan, charged


def _explain(plan: Plan) -> None:
    for kind in plan.kinds:
        click.echo(f"{'registered' if kind.operations else 'left to Karmada'}: {kind}", err=True)
    together: dict[tuple[GroupVersionKind | None, str], list[Operation]] = {}
    for refusal in plan.refusals:
        if not refusal.bundled:
            operations = together.setdefault((refusal.kind, refusal.reason), [])
            operations += [refusal.operation] if refusal.operation else []
    for (of_kind, reason), operations in together.items():
        what = " ".join(filter(None, [str(of_kind or "any kind"), ", ".join(map(str, operations))]))
        click.echo(f"left out: {what}: {reason}", err=True)


def _tell_unused(samples: Sequence[Mapping[str, Any]], plan: Plan) -> None:
    """A sample of another kind proves nothing, and whoever gave it thinks that it does."""
    planned = {one.kind for one in plan.kinds}
    unused = dict.fromkeys(
        kind for kind in (GroupVersionKind.of(dict(sample)) for sample in samples) if kind not in planned
    )
    for kind in unused:
        click.echo(f"warning: --sample: {kind} is not among the kinds to register, so it proves nothing", err=True)
