"""The alert rules name metrics that there are, with labels that they have; promtool runs them where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from webhook.server.metrics import Metrics

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy/webhook/alerts.yaml"
TESTS = Path(__file__).parent / "alerts_test.yaml"
ALERTS: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
]  # fmt: skip


def known() -> dict[str, set[str]]:
    """Every metric as Prometheus names it, with its labels."""
    found: dict[str, set[str]] = {}
    for metric in vars(Metrics()).values():
        name, labels = getattr(metric, "_name", None), set(getattr(metric, "_labelnames", ()))
        if name is not None:
            for suffix in ("", "_total", "_bucket"):
                found[name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


@pytest.mark.parametrize("rule", ALERTS, ids=[rule["alert"] for rule in ALERTS])
def test_an_alert_asks_for_metrics_and_labels_that_there_are(rule: dict[str, Any]) -> None:
    names = re.findall(r"interp_\w+", rule["expr"])
    assert names
    assert set(names) <= set(known())
    asked = {label for text in re.findall(r"by \(([^)]*)\)", rule["expr"]) for label in re.split(r",\s*", text)}
    shown = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    assert (asked | shown) <= set().union(*(known()[name] for name in names))
    assert rule["annotations"]["summary"]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize("arguments", [("check", "rules", str(RULES)), ("test", "rules", str(TESTS))])
def test_promtool_accepts_the_rules_and_they_fire_when_they_should(arguments: tuple[str, ...]) -> None:
    ran = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
