"""Files without bindings, given to `interp audit` and `ledger reconcile`: a wrong file is told from an empty export."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.interp.command import interp

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"
BINDINGS = EXAMPLES / "quota" / "bindings.yaml"
EXPECTED = (
    "; expected ResourceBinding or ClusterResourceBinding objects, as printed by: "
    "kubectl get resourcebindings,clusterresourcebindings -A -o json\n"
)
PODS = '{"kind":"Pod","apiVersion":"v1","spec":{"clusters":7}}'
SERVICES = "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Pod\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SERVICES, "2 Service, 1 Pod"),
        (PODS + "\n" + PODS, "2 Pod"),
        ('{"apiVersion":"v1","kind":"List","items":[' + PODS + "]}", "1 Pod"),
        ('{"apiVersion":"v1","kind":"PodList","items":[]}', "an empty PodList"),
        ("apiVersion: v1\nkind: PodList\nitems: []\n", "an empty PodList"),
        ('{"cpu": 1}', "1 without a kind"),
        ("", "nothing"),
        ("---\n", "nothing"),
        ("\n---\n".join(f"kind: K{i}" for i in range(7)), "1 K0, 1 K1, 1 K2, 1 K3, 1 K4, and other kinds"),
        ((EXAMPLES / "quota/quotas.yaml").read_text(), "1 FederatedResourceQuota"),
    ],
    ids=["YAML", "NDJSON", "a list", "an empty list", "an empty list in YAML", "no kind", "empty", "no document",
         "many kinds", "quotas"],
)  # fmt: skip
def test_a_file_without_bindings_is_misuse_that_says_what_it_holds(text: str, found: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    ran = interp("audit", "--bindings", file)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: {file}: no bindings in it; found {found}{EXPECTED}"


@pytest.mark.parametrize("verb", [["ledger", "show"], ["ledger", "export", "-o", "csv"], ["audit", "--ledger"]])
def test_a_file_that_is_no_ledger_is_misuse_like_a_missing_one(verb: list[str], tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_text("no database at all\n" * 100)
    for name, words in (("junk.db", "file is not a database"), ("none.db", "there is no file")):
        ran = interp(*verb, tmp_path / name)
        assert (ran.code, ran.out, words in ran.err) == (2, "", True), ran.err
        assert "aiosqlite" not in ran.err
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("kind", ["ResourceBindingList", "ClusterResourceBindingList", "List"])
@pytest.mark.parametrize("form", ['{"kind": "%s", "items": []}', "kind: %s\nitems: []\n"], ids=["JSON", "YAML"])
def test_an_export_of_no_bindings_is_audited(kind: str, form: str, tmp_path: Path) -> None:
    file, packed = tmp_path / "none", tmp_path / "none.gz"
    file.write_text(form % kind)
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for path in (file, packed):
        ran = interp("audit", "--bindings", path)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("audited 0 bindings")
    assert interp("audit", "--bindings", "-", stdin=file.read_text()).code == 0


def test_other_objects_beside_bindings_or_an_empty_export_are_only_left_out(tmp_path: Path) -> None:
    (tmp_path / "services.yaml").write_text(SERVICES)
    (tmp_path / "bindings.json").write_text('{"kind": "List", "items": []}')
    assert interp("audit", "--bindings", tmp_path).code == 0
    assert "3 objects of other kinds left out" in interp("audit", "--bindings", BINDINGS, "--bindings", tmp_path).out


def test_bindings_that_cannot_be_read_are_bindings(tmp_path: Path) -> None:
    file = tmp_path / "b.yaml"
    file.write_text("kind: ResourceBinding\nmetadata: {name: b, namespace: team}\nspec: {replicas: three}\n")
    ran = interp("audit", "--bindings", file)
    assert (ran.code, "ResourceBinding team/b" in ran.out) == (1, True)


def test_a_wrong_file_does_not_empty_a_ledger(tmp_path: Path) -> None:
    url, wrong, none = str(tmp_path / "ledger.db"), tmp_path / "wrong.yaml", tmp_path / "none.json"
    wrong.write_text(SERVICES)
    interp("ledger", "reconcile", url, "--bindings", BINDINGS)
    ran = interp("ledger", "reconcile", url, "--bindings", wrong, "--complete")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: {wrong}: no bindings in it; found 2 Service, 1 Pod{EXPECTED}"
    assert len(interp("ledger", "export", url).out.splitlines()) == 2
    none.write_text('{"kind": "ResourceBindingList", "items": []}')
    assert interp("ledger", "reconcile", url, "--bindings", none, "--complete").out.count("removed ") == 2
