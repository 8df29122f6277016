"""Policies among the files given to `interp lint`: checked by the placement library, findings with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from estimator.placement.checks import check_policy
from estimator.placement.findings import PolicyFinding
from estimator.placement.matching import is_policy
from estimator.placement.policy import Cluster, read_cluster
from interp.inputs import read_objects
from interpreters.core.findings import Finding
from interpreters.core.karmada.releases import Release
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.yaml_values import FastestLoader
from interpreters.files import read_bytes, read_documents
from interpreters.lint import Remark


@dataclass(frozen=True, slots=True)
class LintedPolicies:
    """How many policies there were, what is wrong with them, and what is merely worth knowing."""

    count: int
    remarks: list[Remark]
    notes: list[str]


def read_clusters(paths: Sequence[str]) -> list[Cluster] | None:
    """The member clusters to check groups against; None when there are none to check against."""
    return [read_cluster(document) for document in read_objects(tuple(paths))] if paths else None


def lint_policies(
    path: Path, clusters: Sequence[Cluster] | None, release: Release, several: Callable[[GroupVersionKind], bool]
) -> LintedPolicies:
    policies = [(i, document) for i, document in enumerate(read_documents(path)) if is_policy(document)]
    nodes = _nodes(path)
    remarks, notes = [], []
    for index, policy in policies:
        name = (policy.get("metadata") or {}).get("name", "")
        for found in check_policy(policy, clusters, several=several, release=release):
            line, column = _place(nodes[index] if index < len(nodes) else None, found.field)
            if found.level == "information":
                notes.append(f"{path}:{line}:{column}: {name}: {found.message}")
            else:
                remarks.append(Remark(str(path), Finding(line, column, found.rule, _worded(found))))
    return LintedPolicies(len(policies), remarks, notes)


def _worded(found: PolicyFinding) -> str:
    return f"{found.field}: {found.message}"


def _nodes(path: Path) -> list[Any]:
    """The documents with their positions. None for a file whose documents are wrapped in a List, or that only our own
    reader takes, such as JSON texts one after another."""
    import yaml

    text = read_bytes(path).decode("utf-8-sig")
    try:
        return [node for node in yaml.compose_all(text, FastestLoader) if node is not None]
    except yaml.YAMLError:
        return []


def _place(node: Any, field: str) -> tuple[int, int]:
    """Line and column of the deepest part of a field's path that is there."""
    import yaml

    line, column = (1, 1) if node is None else (node.start_mark.line + 1, node.start_mark.column + 1)
    for part in re.findall(r"[^.\[\]]+", field):
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == part), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            node = node.value[int(part)]
            mark = node.start_mark
        else:
            break
        line, column = mark.line + 1, mark.column + 1
    return line, column
