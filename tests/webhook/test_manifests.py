"""The manifests hold together: settings that load, ports and mounts that exist, time enough to drain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from webhook.server.settings import Settings, check

FILE = Path(__file__).parents[2] / "deploy/webhook/webhook.yaml"


@pytest.fixture(scope="module")
def objects() -> dict[tuple[str, str], Any]:
    documents = yaml.safe_load_all(FILE.read_text())
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def test_the_settings_are_valid_and_their_files_are_mounted(objects: dict[tuple[str, str], Any]) -> None:
    settings = msgspec.convert(yaml.safe_load(objects["ConfigMap", "interp-webhook"]["data"]["interp.yaml"]), Settings)
    check(settings)
    (container,) = objects["Deployment", "interp-webhook"]["spec"]["template"]["spec"]["containers"]
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    files = [settings.certificate, settings.key, settings.client_ca, settings.path_secret_file, *settings.scripts]
    for file in [*files, container["args"][2]]:
        assert any(file.startswith(mount) for mount in mounts), file
    assert {port["containerPort"] for port in container["ports"]} == {settings.port, settings.admin_port}


def test_there_is_time_to_drain_and_the_service_points_at_the_ports(objects: dict[tuple[str, str], Any]) -> None:
    settings = msgspec.convert(yaml.safe_load(objects["ConfigMap", "interp-webhook"]["data"]["interp.yaml"]), Settings)
    pod = objects["Deployment", "interp-webhook"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > settings.drain_delay + settings.drain_seconds
    ports = [port["targetPort"] for port in objects["Service", "interp-webhook"]["spec"]["ports"]]
    assert ports == [settings.port, settings.admin_port]
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == volumes


def test_the_api_server_is_let_in_where_admit_is(objects: dict[tuple[str, str], Any]) -> None:
    settings = msgspec.convert(yaml.safe_load(objects["ConfigMap", "interp-webhook"]["data"]["interp.yaml"]), Settings)
    policy = yaml.safe_load(FILE.with_name("admission.yaml").read_text())["spec"]
    assert policy["podSelector"] == objects["NetworkPolicy", "interp-webhook"]["spec"]["podSelector"]
    (rule,) = policy["ingress"]
    assert rule["ports"] == [{"port": settings.admin_port}]
    callers = [next(iter(peer)) for peer in rule["from"]]
    assert callers == ["podSelector", "podSelector", "ipBlock"], "by either label, or from a node"
