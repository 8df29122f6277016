"""Quotas and bindings that cannot be read: refused by file, object and field, and told from an export of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.command import interp

BINDINGS = Path(__file__).parents[3] / "docs/examples/quota/bindings.yaml"
SERVICES = "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Pod\n"
WRONG_QUOTAS = [  # what the file holds, what is said of it
    (SERVICES, "no quotas in it; found 2 Service, 1 Pod; expected FederatedResourceQuota or ResourceQuota objects"),
    ("kind: [", "1:"),
    ("kind: Service\n---\n{kind: ResourceQuota, metadata: {name: q, namespace: a}, spec: {hard: {cpu: ten}}}",
     ', object 2: ResourceQuota a/q: spec.hard.cpu: "ten" is not a quantity'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG_QUOTAS)
def test_quotas_that_are_none_or_cannot_be_read_are_misuse(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "quotas.yaml"
    file.write_text(text)
    ran = interp("audit", "--bindings", BINDINGS, "--quotas", file)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {file}") and said in ran.err, ran.err


@pytest.mark.parametrize("kind", ["FederatedResourceQuotaList", "ResourceQuotaList", "List"])
def test_an_export_of_no_quotas_is_no_mistake(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "none.json"
    file.write_text(f'{{"kind": "{kind}", "items": []}}')
    ran = interp("audit", "--bindings", BINDINGS, "--quotas", file)
    assert (ran.code, "no quota" in ran.out) == (0, True)


def test_what_cannot_be_read_is_named_by_file_place_and_field(tmp_path: Path) -> None:
    file = tmp_path / "b.yaml"
    file.write_text("kind: ResourceBinding\nmetadata: {name: y, namespace: team}\n")
    said = "metadata.name: expected text, got true or false; in YAML, y, yes, on and 12 are text only in quotes"
    audited = interp("audit", "--bindings", file)
    assert "unreadable: ResourceBinding team/True\n" in audited.out
    assert f"{file}, object 1: {said}" in audited.out
    reconciled = interp("ledger", "reconcile", tmp_path / "ledger.db", "--bindings", file)
    assert reconciled.code == 1
    assert reconciled.out == f"unreadable: {file}, object 1: ResourceBinding team/True: {said}\n"
