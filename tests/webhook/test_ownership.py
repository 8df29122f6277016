"""A configuration is known as interp's own by its label, by who applied it, or by how it looks."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.registration.ownership import addresses, is_made_by_interp

URL = "https://interp.example.org:8443/interpret"


def made(name: str, webhook: str, client: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "webhooks": [{"name": webhook, "clientConfig": client}]}


def service(path: str) -> dict[str, Any]:
    return {"service": {"namespace": "karmada-system", "name": "interp", "path": path}}


THEIRS = {"url": "https://other.example.org/interpreter-workload"}
KNOWN = [
    ("the label", made("x", "y.z", THEIRS, labels={"app.kubernetes.io/managed-by": "interp"}), True),
    ("applied before there was a label", made("x", "y.z", THEIRS, managedFields=[{"manager": "interp"}]), True),
    ("printed before there was a label", made("interp", "interp.example.org", {"url": URL}), True),
    ("with a path secret", made("interp", "interp.example.org", {"url": f"{URL}/s3cret"}), True),
    ("behind a Service", made("ours", "ours.karmada-system.svc", service("/interpret")), True),
    ("admission", made("interp-admission", "workloads.interp.example.org", service("/admit")), True),
    ("Karmada's example", made("examples", "workloads.example.com", THEIRS), False),
    ("another path that begins alike", made("interp", "interp.x", {"url": "https://a/interpreter"}), False),
    ("another name of the webhook", made("interp", "theirs.example.org", {"url": URL}), False),
    ("managed by another", made("x", "y.z", THEIRS, labels={"app.kubernetes.io/managed-by": "Helm"}), False),
    ("no URL", made("interp", "interp.x", {"url": "https://[::1/interpret"}), False),
    ("no webhook", {"metadata": {"name": "interp"}}, False),
    ("nothing", {}, False),
]  # fmt: skip


@pytest.mark.parametrize(("about", "configuration", "ours"), KNOWN)
def test_what_interp_made_is_recognised(about: str, configuration: dict[str, Any], ours: bool) -> None:
    assert is_made_by_interp(configuration) is ours, about


def test_the_servers_called_are_named_once() -> None:
    clients = [
        {"url": URL},
        {"url": f"{URL}/x"},
        service("/admit"),
        {},
        {"url": "https://a:b"},
        {"url": "https://[::1]"},
    ]
    configuration = {"webhooks": [{"clientConfig": client} for client in clients]}
    called = ["interp.example.org:8443", "interp.karmada-system.svc:443", "nobody", "https://a:b", "::1:443"]
    assert addresses(configuration) == called
