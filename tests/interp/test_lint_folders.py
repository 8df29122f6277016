"""`interp lint` of folders: customizations and policies are found wherever they lie, other files are passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interp.command import interp

CUSTOMIZATION = """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: jobs}
spec:
  target: {apiVersion: example.io/v1, kind: TrainingJob}
  customizations:
    replicaResource:
      luaScript: |
        function GetReplicas(obj)
          return lenn(obj)
        end
"""
POLICY = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: jobs, namespace: default}
spec:
  resourceSelectors: [{apiVersion: example.io/v1, kind: TrainingJob}]
  placement:
    clusterAffinity: {clusterNames: [a]}
    clusterAffinities: [{affinityName: x}]
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: jobs}\n"
BAD_LUA = "jobs.yaml#jobs/replicaResource:2:10: unknown-global"
BAD_POLICY = ":6:3: placement: spec.placement: clusterAffinity and clusterAffinities exclude each other"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "deploy/karmada").mkdir(parents=True)
    return tmp_path


def write(tree: Path, name: str, *documents: str) -> Path:
    path = tree / "deploy/karmada" / name
    path.write_text("---\n".join(documents))
    return path


@pytest.mark.parametrize(
    ("name", "documents", "finding", "summary"),
    [
        ("jobs.yaml", [CUSTOMIZATION], BAD_LUA, "1 script, "),
        ("jobs.yml", [CUSTOMIZATION.replace("lenn", "len")], "jobs.yml#jobs/replicaResource", "1 script, "),
        ("p.yaml", [POLICY], f"p.yaml{BAD_POLICY}", "1 policy, "),
        ("p.yaml", [POLICY.replace(": Prop", ": ClusterProp")], f"p.yaml{BAD_POLICY}", "1 policy, "),
        ("jobs.yaml", [CUSTOMIZATION, SERVICE], BAD_LUA, "1 script, "),
        ("jobs.yaml", [CUSTOMIZATION, POLICY], BAD_LUA, "1 script, 1 policy, "),
    ],
    ids=["customization", "yml", "policy", "cluster policy", "beside other kinds", "both in one file"],
)  # fmt: skip
def test_a_folder_is_linted_as_if_its_files_were_named(
    name: str, documents: list[str], finding: str, summary: str, tree: Path
) -> None:
    file = write(tree, name, *documents)
    found, named = interp("lint", "deploy", cwd=tree), interp("lint", file.relative_to(tree), cwd=tree)
    assert (found.code, found.out, found.err) == (named.code, named.out, named.err)
    assert found.code == 1
    assert finding in found.out
    assert found.err.startswith(summary)


def test_json_lists_count_too(tree: Path) -> None:
    write(tree, "all.json", '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"policy.karmada.io/v1alpha1",'
          '"kind":"PropagationPolicy","metadata":{"name":"p"},"spec":{}}]}')  # fmt: skip
    assert "1 policy, " in interp("lint", cwd=tree).err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("values.yaml", "image: {{ .Values.image }\n"),
        ("service.yaml", SERVICE),
        ("cases.yaml", "- name: a policy inside a case\n  object:\n    kind: PropagationPolicy\n"),
        ("latin.yaml", "name: \udce9\n"),
        ("notes.txt", CUSTOMIZATION),
    ],
)
def test_other_files_in_a_folder_are_passed_over(name: str, text: str, tree: Path) -> None:
    write(tree, "p.yaml", POLICY.replace("    clusterAffinities: [{affinityName: x}]\n", ""))
    (tree / "deploy" / name).write_bytes(text.encode(errors="surrogateescape"))
    ran = interp("lint", "deploy", cwd=tree)
    assert (ran.code, ran.out, ran.err) == (0, "", "1 policy, 0 findings\n")


def test_a_policy_that_is_no_yaml_is_a_finding(tree: Path) -> None:
    write(tree, "p.yaml", POLICY + "  placement: {}\n")
    ran = interp("lint", "deploy", cwd=tree)
    assert (ran.code, ran.out.count("unreadable")) == (1, 1)
    assert "deploy/karmada/p.yaml:9:3" in ran.out
    assert 'duplicate key "placement"' in ran.out


def test_a_file_that_is_named_and_found_is_linted_once(tree: Path) -> None:
    write(tree, "jobs.yaml", CUSTOMIZATION, POLICY)
    once, twice = interp("lint", "deploy", cwd=tree), interp("lint", "deploy", "deploy/karmada/jobs.yaml", cwd=tree)
    assert (twice.out, twice.err) == (once.out, once.err)


def test_a_folder_without_anything_to_lint_is_misuse(tree: Path) -> None:
    write(tree, "service.yaml", SERVICE)
    ran = interp("lint", "deploy", cwd=tree)
    assert ran.code == 2
    assert "deploy: no script here, and no customization or policy." in ran.err


def test_a_named_file_of_another_kind_is_a_finding(tree: Path) -> None:
    file = write(tree, "service.yaml", SERVICE)
    ran = interp("lint", file)
    assert (ran.code, "got kind 'Service'" in ran.out) == (1, True)
