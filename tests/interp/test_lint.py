"""`interp lint`: what it finds in a script, and its reports for machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.command import interp
from tests.interp.reports import validate

LINT = [
    ("function GetReplicas(o return 1 end", "syntax"),
    ("function GetReplicas(o) return 1 end", "1:1: division: it does not say whether the kind may be divided"),
    (
        "-- Division: halves\nfunction GetReplicas(o) return 1 end",
        "expected one of divides, whole, karmada",
    ),
    (
        "-- Division: whole\nfunction ReviseReplica(o, n) o.spec.n = n return o end",
        "2:1: division: declared whole, but asked for 0 it changed /spec/n",
    ),
    (
        "-- Division: divides\nfunction GetReplicas(o) return 2 end\nfunction ReviseReplica(o, n) return o end",
        "asked for 1 of 2 replicas, it made 2",
    ),
    (
        "-- Divison: whole\nfunction GetReplicas(o) return 1 end",
        "(or divides) to the comment that it begins with; it says divison",
    ),
    (
        "function GetReplicas(o) return 1 end\n-- snippet: pods.lua\n-- Division: whole\n",
        "(or divides) to the comment that it begins with; line 3 is too late for it",
    ),
    (
        "-- Division: whole\nfunction ReviseReplica(o, n) local t = os.date('*t') return o end",
        "2:1: division: declared whole, but it failed on case 'two workers of one CPU each': "
        "example.io/v1/Thing/interpreter.lua:2: in date: it asks what time it is",
    ),
    ("function GetReplcas(o) return 1 end", "misnamed-function: GetReplcas is never called; did you mean GetReplicas?"),
    ("function InterpretReplica(o) return 1 end", "did you mean GetReplicas?"),
    ("function GetReplicas(o) return nothere end", "1:32: unknown-global: nothere is defined nowhere"),
    ("function GetReplicas(o) return setmetatable({}, {}) end", "setmetatable is refused, here and in Karmada"),
    ("function GetReplicas(o) n = 1 return n end", "1:25: global-assignment: n becomes a global; write local n"),
    ("function GetComponents(o) end function GetComponentReplicas(o) end", "two-names"),
    ("function GetReplicas(o) return 1 end", "missing-cases: no case asks GetReplicas"),
    (
        'function GetComponents(o) return {{name="a",replicas=1,replicaRequirements={resourceRequest={memory="2048m"}}}} end',  # noqa: E501
        "in Kubernetes m is milli, Mi is mebi",
    ),
    (
        'function GetComponents(o) return {{name="a",replicas=1,replicaRequirements={resourceRequest={cpu=20000}}}} end',  # noqa: E501
        "cpu 20k is more than 10000 cores",
    ),
    (
        'function GetComponents(o) return {{name="a",replicas=1},{name="b",replicas=1}} end\n'
        "function ReviseReplica(o, n) o.spec.replicas = n return o end",
        "scaled-to-zero: case 'two workers of one CPU each': changes the object when asked for 0 replicas",
    ),
]


@pytest.mark.parametrize(("text", "finding"), LINT)
def test_lint_finds(text: str, finding: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(text)
    ran = interp("lint", cwd=tree)
    assert ran.code == 1
    assert finding in ran.out
    assert ran.out.startswith("example.io/v1/Thing/interpreter.lua:")


PORTABLE = [
    ('function GetReplicas(o) return #string.rep("a", 3) end', "1:40: not-portable: Karmada refuses string.rep"),
    ('function GetReplicas(o) return #("a"):gsub("a", "b") end', "Karmada refuses string.gsub"),
    ("function GetReplicas(o) return rawget(o, 1) end", "Karmada refuses rawget"),
]


@pytest.mark.parametrize(("text", "finding"), PORTABLE)
def test_lint_portable_finds_what_karmada_refuses(text: str, finding: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text(text)
    assert finding in interp("lint", "--portable", cwd=tree).out
    assert "not-portable" not in interp("lint", cwd=tree).out


@pytest.mark.parametrize("report", ["json", "github", "sarif"])
def test_lint_reports_for_machines(report: str, tree: Path) -> None:
    (tree / "example.io/v1/Thing/interpreter.lua").write_text("function GetReplicas(o) return nothere end")
    ran = interp("lint", "-o", report, cwd=tree)
    assert ran.code == 1
    if report == "github":
        assert "line=1,col=32,title=unknown-global::" in ran.out
    else:
        validate(ran.out, f"lint-{report}.json" if report == "json" else "lint-sarif.json")


def test_lint_takes_policies_as_json_texts_one_after_another(tmp_path: Path) -> None:
    head = '{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "p"}'
    groups = '"placement": {"clusterAffinities": [{"affinityName": "a"}, {"affinityName": "a"}]}'
    selectors = '"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]'
    policy = f'{head}, "spec": {{{selectors}, {groups}}}}}'
    (tmp_path / "policies.json").write_text(f"{policy}\n{policy}\n")
    ran = interp("lint", tmp_path / "policies.json")
    assert ran.code == 1
    assert "2 policies" in ran.err
    assert "clusterAffinities" in ran.out
