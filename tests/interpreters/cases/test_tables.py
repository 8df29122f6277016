"""Case tables written as differences: what a case then asks and wants, and mistakes in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interpreters.cases import Case, read_cases
from interpreters.core.errors import DocumentError

BASE = """
- name: two roles
  operation: GetComponents
  object: {apiVersion: example.io/v1, kind: Job, metadata: {name: a}, spec: {paused: no, roles: [{size: 1}, {size: 2}]}}
  want: {components: [{name: head, replicas: 1}, {name: worker, replicas: 2}]}
"""


def table(tmp_path: Path, text: str) -> list[Case]:
    (tmp_path / "cases.yaml").write_text(BASE + text)
    return read_cases(tmp_path / "cases.yaml")[1:]


def obj(**spec: Any) -> dict[str, Any]:
    plain = {"roles": [{"size": 1}, {"size": 2}], "paused": False}
    return {"apiVersion": "example.io/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": plain | spec}


def components(**replicas: int) -> dict[str, Any]:
    return {"components": [{"name": name, "replicas": number} for name, number in replicas.items()]}


PAUSED = (
    "{apiVersion: example.io/v1, kind: Job, metadata: {name: a}, spec: {roles: [{size: 1}, {size: 2}], paused: true}}"
)
MEANT: list[tuple[str, str, dict[str, Any]]] = [  # operation, what is written, what is asked and wanted
    (
        "GetComponents",
        "base: two roles, set: {spec: {paused: true}}, wantChanged: {}",
        {"object": obj(paused=True), "want": components(head=1, worker=2)},
    ),
    (
        "GetComponents",
        "base: two roles, set: {spec: {roles: {1: {size: 5}}}}, wantChanged: {components: {1: {replicas: 5}}}",
        {"object": obj(roles=[{"size": 1}, {"size": 5}]), "want": components(head=1, worker=5)},
    ),
    (
        "GetComponents",
        "base: two roles, set: {spec: {roles: {0: null}}}, wantChanged: {components: {0: null}}",
        {"object": obj(roles=[{"size": 2}]), "want": components(worker=2)},
    ),
    ("InterpretHealth", "base: two roles, want: {healthy: true}", {"object": obj(), "want": {"healthy": True}}),
    (
        "ReviseReplica",
        "base: two roles, replicas: 3, wantChanged: {object: {spec: {roles: {0: {size: 3}}}}}",
        {"object": obj(), "replicas": 3, "want": {"object": obj(roles=[{"size": 3}, {"size": 2}])}},
    ),
    (
        "Retain",
        "base: two roles, observedSet: {spec: {paused: true}}, wantChanged: {object: {spec: {paused: true}}}",
        {"observed": obj(paused=True), "want": {"object": obj(paused=True)}},
    ),
    ("InterpretHealth", "object: sample.yaml, want: {healthy: true}", {"object": obj(paused=True)}),
    (
        "InterpretHealth",
        "object: several.yaml#b, set: {spec: {paused: null}}, want: {healthy: true}",
        {"object": {"kind": "Job", "metadata": {"name": "b"}, "spec": {}}},
    ),
    (
        "Retain",
        "base: two roles, observed: sample.yaml, wantChanged: {}",
        {"observed": obj(paused=True), "want": {"object": obj()}},
    ),
]


@pytest.mark.parametrize(("operation", "written", "meant"), MEANT, ids=range(len(MEANT)))
def test_a_case_is_a_difference(operation: str, written: str, meant: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "sample.yaml").write_text(PAUSED)
    documents = [f"{{kind: Job, metadata: {{name: {name}}}, spec: {{paused: true}}}}\n" for name in "ab"]
    (tmp_path / "several.yaml").write_text("---\n".join(documents))
    (case,) = table(tmp_path, f"- {{name: second, operation: {operation}, {written}}}\n")
    assert {field: getattr(case, field) for field in meant} == meant


MISTAKES = [  # what is written, what is said of it
    ("want: {}", "case 2: expected an object: `object`, or `base` with the name of an earlier case"),
    ("base: nobody, want: {}", "case 2: base: no case before this one is called 'nobody'; known are two roles"),
    ("base: two roles, object: {}, want: {}", "case 2: object and base say the same thing twice; keep one"),
    ("base: two roles, want: {}, wantChanged: {}", "case 2: want and wantChanged say the same thing twice"),
    ("object: {}, set: {}, want: {}", "case 2: set: changes the object of a base or file; here the object is in full"),
    ("base: two roles, set: {spec: {roles: {7: {}}}}", "case 2: set: position 7 is beyond the list, which has 2"),
    ("object: {kind: Job}, wantChanged: {}", "needs a base that asks InterpretComponent and has `want` in full"),
    ("object: nothing.yaml, want: {}", "nothing.yaml: No such file"),
    ("object: /etc/hostname, want: {}", "case 2: object: expected an object, or a file beside the table or below"),
    ("object: ../secret.yaml, want: {}", "case 2: object: expected an object, or a file beside the table or below"),
    ("object: link.yaml, want: {}", "link.yaml: a link that leads out of"),
    ("object: several.yaml, want: {}", "case 2: object: several.yaml has 2 objects; expected one of its 2: a, b"),
    ("object: several.yaml#c, want: {}", "case 2: object: several.yaml has 0 objects called 'c'"),
    ("base: two roles, wantChanged: {componens: {}}", "'componens' was unexpected"),
]


@pytest.mark.parametrize(("written", "said"), MISTAKES)
def test_a_mistake_is_named_with_its_case(written: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "several.yaml").write_text("kind: A\nmetadata: {name: a}\n---\nkind: A\nmetadata: {name: b}\n")
    (tmp_path / "link.yaml").symlink_to("/etc/hostname")
    with pytest.raises(DocumentError) as raised:
        table(tmp_path, f"- {{name: second, operation: GetComponents, {written}}}\n")
    assert said in str(raised.value)


def test_a_base_holds_its_object_in_full(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="case 3: base: 'second' is based on 'two roles' itself; name that one"):
        table(
            tmp_path,
            "- {name: second, operation: GetComponents, base: two roles, wantChanged: {}}\n"
            "- {name: third, operation: GetComponents, base: second, wantChanged: {}}\n",
        )


def test_a_base_for_another_operation_lends_its_object_only(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="case 2: wantChanged: needs a base that asks InterpretHealth"):
        table(tmp_path, "- {name: second, operation: InterpretHealth, base: two roles, wantChanged: {}}\n")
