"""What scripts and customizations declare wrongly or not at all, and proofs that must hold at any time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from interpreters.catalog import Catalog
from interpreters.core.engine import Script
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME
from interpreters.division_proof import CaseProof
from interpreters.headers import script_header
from interpreters.interpretation import load_functions
from interpreters.sandbox.runner import SandboxRunner
from interpreters.scan import Candidate, Origin, Source, scan
from webhook.registration.plan import plan_registration

CRD: Final = GroupVersionKind("stage.example.org", "v1", "Act")
SAMPLE: Final = {"apiVersion": "stage.example.org/v1", "kind": "Act", "metadata": {"name": "hamlet"},
                 "spec": {"replicas": 2}}  # fmt: skip


@pytest.fixture(scope="module")
def runner() -> Iterator[SandboxRunner]:
    with SandboxRunner() as runner:
        yield runner


SHARE_LUA = "function ReviseReplica(o, n) o.spec.replicas = n %s return o end\n"
COUNT_LUA = "function GetReplicas(o) return o.spec.replicas end\n"
FIXED_DAY = "local t = os.time({year = 2026, month = 1, day = 1})"
# A Lua script that is not the same function every time, or only seems so (globals are new in every call), and the
# reason against it.
UNSTEADY = [
    (COUNT_LUA + SHARE_LUA % "o.spec.at = os.time()", "it asks what time it is, so what is proven now"),
    (COUNT_LUA + SHARE_LUA % "if n == 1 then o.spec.at = os.date() end", "it asks what time it is"),
    ("local clock = os\n" + COUNT_LUA + SHARE_LUA % "o.spec.at = clock.time()", "it asks what time it is"),
    ("function GetReplicas(o) return os.time() % 9 end\n" + SHARE_LUA % "", "it asks what time it is"),
    (COUNT_LUA + SHARE_LUA % FIXED_DAY, ""),
    (COUNT_LUA + SHARE_LUA % "" + "function InterpretHealth(o) return os.time() > 0 end\n", ""),
    (COUNT_LUA + SHARE_LUA % "o.spec.replicas = math.random(n, n)", ""),
    ("function GetReplicas(o) return o.spec.replicas + math.random(1, 3) end\n" + SHARE_LUA % "", "it made "),
    ("calls = 0\n" + COUNT_LUA + SHARE_LUA % "calls = calls + 1 o.spec.replicas = n + calls - 1", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), UNSTEADY)
def test_a_division_that_depends_on_the_clock_or_on_chance_is_not_proven(
    runner: SandboxRunner, text: str, reason: str
) -> None:
    header = script_header("-- Division: divides\n")
    found = [Candidate(CRD, Script("act.lua", "lua", text), Source(Origin.FOLDER, 0, "here"), header=header)]
    catalog = Catalog.build(found, load_functions(runner, found))
    plan = plan_registration(catalog, CaseProof(runner, catalog, [SAMPLE]))
    divided = BY_NAME["ReviseReplica"] in plan.tuples.get(CRD, ())
    assert divided is not bool(reason), plan.refusals
    assert all(reason in refusal.reason for refusal in plan.refusals)


ANNOTATED = [  # the annotations of a customization, the reason for what is left out
    ({"interp.dev/division": "divides"}, ""),
    ({"interp.dev/Division": " Divides "}, ""),
    ({"interp.dev/divison": "divides"}, '"interp.dev/division: whole" (or divides), not interp.dev/divison'),
    ({"interp.io/division": "divides"}, 'add the annotation "interp.dev/division: whole" (or divides)'),
    ({"interp.dev/division": "divide"}, "expected one of divides, whole, karmada, got 'divide'"),
    ({"interp.dev/division": "divides, whole"}, "expected one of divides, whole, karmada, got 'divides, whole'"),
    ({"interp.dev/division": ""}, "expected one of divides, whole, karmada, got ''"),
    ({"interp.dev/division": None}, "expected one of divides, whole, karmada, got"),
    ({"interp.dev/division": "divides", "interp.dev/Division": "whole"}, "declared as divides and as whole"),
    (["interp.dev/division: divides"], 'add the annotation "interp.dev/division: whole" (or divides)'),
    (None, 'add the annotation "interp.dev/division: whole" (or divides), instead of line 1 of the script'),
]


@pytest.mark.parametrize(("annotations", "reason"), ANNOTATED)
def test_a_customization_declares_by_one_annotation_or_not_at_all(
    runner: SandboxRunner, annotations: Any, reason: str, tmp_path: Path
) -> None:
    line = "-- Division: divides\n" if annotations is None else ""
    rules = {"replicaResource": line + COUNT_LUA, "replicaRevision": line + SHARE_LUA % ""}
    spec = {"target": {"apiVersion": CRD.api_version, "kind": CRD.kind},
            "customizations": {rule: {"luaScript": text} for rule, text in rules.items()}}  # fmt: skip
    file = tmp_path / "act.json"
    metadata = {"name": "act", "annotations": annotations}
    file.write_text(json.dumps({"kind": "ResourceInterpreterCustomization", "metadata": metadata, "spec": spec}))
    found = scan([file], bundled=None)
    catalog = Catalog.build(found, load_functions(runner, found))
    plan = plan_registration(catalog, CaseProof(runner, catalog, [SAMPLE]))
    assert bool(plan.tuples) is not bool(reason)
    assert all(reason in refusal.reason for refusal in plan.refusals)
