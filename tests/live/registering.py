"""Registering with a real Karmada that has work already: what would change is named first, and can be taken back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interp.command import Ran, interp
from tests.live.api import collection, eventually, named
from tests.live.peers import MEMBERS, ControlPlane, control_plane, permissive, scheduler
from tests.webhook.server import Client, Server

CART = {
    **named("apps.kruise.io/v1alpha1", "CloneSet", "cart", "shop"),
    "spec": {"replicas": 6, "template": {"spec": {"containers": [{"name": "main", "image": "cart"}]}}},
}
ACT = {**named("stage.example.org/v1", "Act", "hamlet", "shop"), "spec": {"actors": 2}}
GATE = ("--feature-gates", "MultiplePodTemplatesScheduling=true")
# It declares what is not so: that a CloneSet cannot be divided.
CARELESS = """\
-- Division: whole
function GetComponents(object)
  return { { name = "main", replicas = object.spec.replicas } }
end

function ReviseReplica(object, replicas)
  return object
end
"""
ACTORS = """\
-- Division: whole
function GetComponents(object)
  local needs = { resourceRequest = { cpu = "1" } }
  return { { name = "actor", replicas = object.spec.actors * FACTOR, replicaRequirements = needs } }
end
"""
# The members have no nodes, so nobody has room for these.
OTHELLO, MACBETH = (
    {**named("stage.example.org/v1", "Act", name, "hall"), "spec": {"actors": 20}} for name in ("othello", "macbeth")
)


def weighted() -> dict[str, Any]:
    """As many of each CloneSet in both members."""
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": 1} for name in MEMBERS]
    division = {"replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": weights}}
    placement = {
        "clusterAffinity": {"clusterNames": list(MEMBERS)},
        "replicaScheduling": {"replicaSchedulingType": "Divided", **division},
    }
    selectors = [{"apiVersion": one["apiVersion"], "kind": one["kind"]} for one in (CART, ACT)]
    policy = named("policy.karmada.io/v1alpha1", "PropagationPolicy", "shop", "shop")
    return {**policy, "spec": {"resourceSelectors": selectors, "placement": placement}}


def alone() -> dict[str, Any]:
    """Each act in one member."""
    placement = {
        "clusterAffinity": {"clusterNames": list(MEMBERS)},
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
    }
    policy = named("policy.karmada.io/v1alpha1", "PropagationPolicy", "hall", "hall")
    selectors = [{"apiVersion": ACT["apiVersion"], "kind": ACT["kind"]}]
    return {**policy, "spec": {"resourceSelectors": selectors, "placement": placement}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("registering")
    kinds = [("apps.kruise.io", "v1alpha1", "CloneSet"), ("stage.example.org", "v1", "Act")]
    with control_plane(folder, [permissive(*kind) for kind in kinds]) as plane, scheduler(folder, plane):
        plane.karmada.create(named("v1", "Namespace", "shop"), weighted(), CART)
        plane.karmada.create(named("v1", "Namespace", "hall"), alone(), OTHELLO)
        eventually(lambda: pods(plane) == [3, 3], "the CloneSet is divided")
        eventually(lambda: len(bound_to(plane, OTHELLO)) == 1, "Karmada alone sends an act without a look at the room")
        yield plane


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scripts")
    for kind, text in (("apps.kruise.io/v1alpha1/CloneSet", CARELESS), ("stage.example.org/v1/Act", actors(1))):
        (folder / kind).mkdir(parents=True)
        (folder / kind / "interpreter.lua").write_text(text)
    return folder


@pytest.fixture(scope="module")
def server(plane: ControlPlane, scripts: Path) -> Iterator[Server]:
    with Server(plane.pki, "--scripts", str(scripts), "--bundled-language", "none") as server:
        yield server


def actors(factor: int) -> str:
    return ACTORS.replace("FACTOR", str(factor))


def pods(plane: ControlPlane) -> list[int]:
    """How many the members were asked for."""
    copies = [member.find(CART) for member in plane.members]
    return [copy["spec"]["replicas"] for copy in copies if copy]


def relabel(plane: ControlPlane, value: str) -> None:
    plane.karmada.change(CART, {"metadata": {"labels": {"season": value}}})


def arrived(plane: ControlPlane, value: str) -> bool:
    copies = [member.find(CART) for member in plane.members]
    return all(copy and copy["metadata"].get("labels", {}).get("season") == value for copy in copies)


def register(plane: ControlPlane, server: Server, scripts: Path, kind: str, *flags: str | Path) -> Ran:
    return interp(
        "register", "--url", f"https://127.0.0.1:{server.port}/interpret", "--ca", plane.pki / "ca.crt",
        "--kubeconfig", plane.karmada.kubeconfig, "--scripts", scripts, "--bundled-language", "none",
        "--kinds", kind, *GATE, *flags,
    )  # fmt: skip


def sample(folder: Path) -> Path:
    """An object to prove on that the script revises nothing."""
    file = folder / "cart.json"
    file.write_text(json.dumps(CART))
    return file


def asked(plane: ControlPlane, server: Server) -> float:
    """How often Karmada asked for components, after yet another change: it tells nobody when it sees a registration."""
    plane.karmada.change(CART, {"metadata": {"annotations": {"asked": str(server.process.pid)}}})
    plane.karmada.change(CART, {"metadata": {"annotations": {"asked": None}}})
    client = Client(server.port, plane.pki / "ca.crt")
    try:
        return client.metric("interp_requests_total", operation="InterpretComponent")
    finally:
        client.close()


def registrations(plane: ControlPlane) -> list[str]:
    path = collection({**named("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "")})
    return [one["metadata"]["name"] for one in plane.karmada.ask("GET", path).body["items"]]


def binding_of(plane: ControlPlane, act: dict[str, Any]) -> dict[str, Any]:
    name, namespace = act["metadata"]["name"], act["metadata"]["namespace"]
    return plane.karmada.find(named("work.karmada.io/v1alpha2", "ResourceBinding", f"{name}-act", namespace))


def components(plane: ControlPlane, act: dict[str, Any] = ACT) -> list[int]:
    return [one["replicas"] for one in binding_of(plane, act).get("spec", {}).get("components", [])]


def bound_to(plane: ControlPlane, act: dict[str, Any]) -> list[str]:
    return [one["name"] for one in binding_of(plane, act).get("spec", {}).get("clusters", [])]


def refused(plane: ControlPlane, act: dict[str, Any]) -> bool:
    """Whether the scheduler has said that nobody has room for it."""
    conditions = binding_of(plane, act).get("status", {}).get("conditions", [])
    return any(
        (one["type"], one["status"]) == ("Scheduled", "False") and "no enough resource" in one["message"]
        for one in conditions
    )


def test_what_would_change_a_binding_is_refused_and_names_it(
    plane: ControlPlane, server: Server, scripts: Path, tmp_path: Path
) -> None:
    ran = register(plane, server, scripts, "CloneSet", "--sample", sample(tmp_path), "--apply")
    assert ran.code == 1, ran.err
    divided = "it is divided now (member1 3, member2 3) and would go whole to each of these clusters"
    assert f"CloneSet shop/cart: {divided}" in ran.err
    assert "nothing was applied" in ran.err
    assert registrations(plane) == []


def test_whoever_says_yes_gets_what_was_foretold(
    plane: ControlPlane, server: Server, scripts: Path, tmp_path: Path
) -> None:
    ran = register(plane, server, scripts, "CloneSet", "--sample", sample(tmp_path), "--apply", "--yes")
    assert (ran.code, registrations(plane)) == (0, ["interp"]), ran.err
    eventually(lambda: asked(plane, server), "Karmada asks interp")
    eventually(lambda: pods(plane) == [6, 6], "all pods in both clusters")


def test_removing_takes_it_back(plane: ControlPlane, server: Server) -> None:
    ran = interp("register", "--remove", "--kubeconfig", plane.karmada.kubeconfig)
    assert (ran.code, registrations(plane)) == (0, []), ran.err

    def divided_again() -> bool:
        relabel(plane, "winter")
        return arrived(plane, "winter") and pods(plane) == [3, 3]

    eventually(divided_again, "the CloneSet is divided again")


def test_what_somebody_else_made_is_neither_replaced_nor_removed(
    plane: ControlPlane, server: Server, scripts: Path
) -> None:
    theirs = named("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", "theirs")
    rule = {"apiGroups": ["other.example.org"], "apiVersions": ["v1"], "kinds": ["Play"], "operations": ["Retain"]}
    client = {"url": "https://127.0.0.1:1/theirs", "caBundle": base64.b64encode(b"x").decode()}
    webhook = {"name": "plays.example.org", "clientConfig": client, "rules": [rule],
               "interpreterContextVersions": ["v1alpha1"]}  # fmt: skip
    plane.karmada.create({**theirs, "webhooks": [webhook]})
    before = plane.karmada.find(theirs)
    replaced = register(plane, server, scripts, "Act", "--apply", "--name", "theirs.example.org")
    removed = interp("register", "--remove", "--kubeconfig", plane.karmada.kubeconfig, "--name", "theirs")
    for ran in (replaced, removed):
        assert ran.code == 1, ran.err
        assert "theirs does not look as if interp had made it: it calls 127.0.0.1:1" in ran.err
    assert plane.karmada.find(theirs) == before
    ran = interp("register", "--remove", "--yes", "--kubeconfig", plane.karmada.kubeconfig, "--name", "theirs")
    assert (ran.code, registrations(plane)) == (0, []), ran.err


def test_touching_makes_karmada_ask_again_after_a_script_changed(
    plane: ControlPlane, server: Server, scripts: Path
) -> None:
    ran = register(plane, server, scripts, "Act", "--apply", "--yes")
    assert ran.code == 0, ran.err
    assert "Act hall/othello: it stays whole and where it is" in ran.err, "the act that runs already"

    def bound() -> bool:
        if not plane.karmada.find(ACT):
            plane.karmada.create(ACT)
        if components(plane) != [2]:  # seen before the registration was
            plane.karmada.change(ACT, {"metadata": {"annotations": {"again": str(ran.code)}}})
            plane.karmada.change(ACT, {"metadata": {"annotations": {"again": None}}})
        return components(plane) == [2]

    eventually(bound, "the act is bound")
    before = plane.karmada.find(ACT)["metadata"].get("annotations")
    (scripts / "stage.example.org/v1/Act/interpreter.lua").write_text(actors(2))
    server.wait_for("reloaded", what="scripts")
    assert components(plane) == [2], "Karmada does not know that the answer is another"
    ran = register(plane, server, scripts, "Act", "--touch")
    assert (ran.code, ran.out) == (0, "Karmada is asking again about 2 objects\n"), ran.err
    eventually(lambda: components(plane) == [4], "the new answer is in the binding")
    assert plane.karmada.find(ACT)["metadata"].get("annotations") == before, "touching leaves no trace"


def test_an_act_that_fits_nowhere_waits_and_one_that_runs_stays(plane: ControlPlane, server: Server) -> None:
    """With the gate on and a spread of 1..1 the scheduler looks at the room, once somebody tells it the components."""
    before = bound_to(plane, OTHELLO)
    plane.karmada.create(MACBETH)
    plane.karmada.change(OTHELLO, {"metadata": {"labels": {"season": "winter"}}})
    eventually(lambda: refused(plane, MACBETH), "the scheduler finds no room for the new act")
    assert (components(plane, MACBETH), bound_to(plane, MACBETH)) == ([40], [])
    eventually(lambda: components(plane, OTHELLO) == [40], "the components of the old act are told too")
    (member,) = (one for one in plane.members if one.name in before)
    eventually(lambda: "season" in member.find(OTHELLO)["metadata"].get("labels", {}), "and its change arrives")
    assert bound_to(plane, OTHELLO) == before
