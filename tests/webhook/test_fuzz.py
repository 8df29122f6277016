"""Whatever is sent, the answer keeps the OpenAPI document: a documented status, a body of its schema, never a 500."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from interp.verbs.doctor.acceptance import problems_of
from interpreters.core.errors import RequestError
from interpreters.core.operations import BY_NAME
from interpreters.core.wire import decode_request
from tests.webhook.server import ENVELOPE, Client, Server, eventually, request
from tests.webhook.test_admit import QUOTA, review
from tests.webhook.test_admit import flags as admit_flags
from tests.webhook.test_estimate import SET, WORKLOAD, node
from tests.webhook.test_validate_policy import GROUPS
from tests.webhook.test_validate_policy import review as policy_review

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
BINDING = {
    "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"name": "x"},
    "spec": {"resource": {"apiVersion": "stage.example.org/v1", "kind": "Act", "name": "x"}, "components": SET,
             "clusters": [{"name": "m1", "replicas": 1}]},
}  # fmt: skip
SEEDS: dict[str, list[dict[str, Any]]] = {
    "/interpret": [
        {**ENVELOPE, "request": request("starlark", name, components=[], replicas=1, needs="x", kept=1, more={
            "observedObject": {"spec": {"kept": 1}}, "aggregatedStatus": [{"clusterName": "m"}]})}
        for name in BY_NAME
    ],
    "/estimate": [
        {"components": SET}, {"workload": WORKLOAD}, {"replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
    ],
    "/admit": [review("x", "1"), review("x", "1", "DELETE"), review("x", "1", "UPDATE", oldObject=WORKLOAD)],
    "/admit?dryRun": [
        {"apiVersion": "v1", "kind": "List", "items": [
            review("x", "1")["request"]["object"], QUOTA, WORKLOAD, {"apiVersion": "v1", "kind": "Secret"}, BINDING]},
    ],
    "/validate-policy": [policy_review({"clusterAffinities": GROUPS, "spreadConstraints": [{"minGroups": 1}]})],
}  # fmt: skip


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in inner for place in paths_in(child, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any, remove: bool) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    if remove:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return value


@st.composite
def mutated(draw: st.DrawFn, path: str) -> Any:
    """A sound body with one to three places replaced or removed."""
    value: Any = draw(st.sampled_from(SEEDS[path]))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(paths_in(value)))
        value = changed(value, place, draw(junk), draw(st.booleans()))
    return value


@cache
def validator_for(document: str) -> Callable[[dict[str, Any], Any], None]:
    registry: Registry[Any] = Registry().with_resource(
        "urn:api", Resource.from_contents(json.loads(document), DRAFT202012)
    )

    def validate(schema: dict[str, Any], value: Any) -> None:
        absolute = json.loads(json.dumps(schema).replace("#/components", "urn:api#/components"))
        jsonschema.Draft202012Validator(absolute, registry=registry).validate(value)

    return validate


SHARED = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def server(certs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With everything configured, so that no endpoint has an easy way out."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "cluster").mkdir()
    (folder / "cluster" / "nodes.yaml").write_text(yaml.safe_dump(node("node-1", "8")))
    with Server(certs, *admit_flags(folder, "--clusters", f"member={folder / 'cluster'}")) as server:
        prober = Client(server.port, certs / "ca.crt")
        eventually(lambda: prober.get("/readyz")[0] == 200)
        prober.close()
        yield server


@pytest.fixture(scope="module")
def client(server: Server, certs: Path) -> Iterator[Client]:
    client = Client(server.port, certs / "ca.crt")
    yield client
    client.close()


@pytest.fixture(scope="module")
def document(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json")[1]
    return found


@pytest.mark.parametrize("path", SEEDS)
def test_every_answer_is_one_that_the_document_describes(client: Client, document: dict[str, Any], path: str) -> None:
    validate = validator_for(json.dumps(document))
    described = document["paths"][path.partition("?")[0]]["post"]["responses"]

    @SHARED
    @given(mutated(path))
    def check(body: Any) -> None:
        status, answer = client.post(
            json.dumps(body).encode("utf-8", "surrogatepass"), f"{path}{'&' if '?' in path else '?'}timeout=2s"
        )
        assert str(status) in described
        assert status != 500, answer
        validate(described[str(status)]["content"]["application/json"]["schema"], answer)
        if path == "/interpret" and status == 200 and answer["response"]["successful"]:
            assert problems_of(body["request"], status, json.dumps(answer).encode()) == []

    check()


@SHARED
@given(st.binary(max_size=200) | junk.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")))
def test_an_envelope_is_read_or_refused_and_nothing_else(body: bytes) -> None:
    try:
        assert decode_request(body).uid
    except RequestError as error:
        assert str(error)


@SHARED
@given(body=st.binary(max_size=300), encoding=st.sampled_from(["", "gzip", "identity"]))
def test_any_bytes_get_an_answer_that_explains(client: Client, body: bytes, encoding: str) -> None:
    status, problem = client.post(body, headers={"Content-Encoding": encoding} if encoding else {})
    assert status in (400, 413, 415)
    assert problem["message"]


# Whether an object makes sense is said inside of the envelope, with status 200; or it is, and the schema cannot tell.
NOT_THE_STATUS_TO_JUDGE_BY = "negative_data_rejection,positive_data_acceptance"


def test_schemathesis_finds_no_answer_that_breaks_the_document(server: Server, certs: Path, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"https://localhost:{server.port}/openapi.json",
        "--tls-verify", str(certs / "ca.crt"), "--max-examples", "50", "--seed", "1",
        "--exclude-checks", NOT_THE_STATUS_TO_JUDGE_BY,
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "Tested: 9" in ran.stdout


def test_the_document_is_sound(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(document)
    for reference in set(text.split('"$ref": "')[1:]):
        name = reference.partition('"')[0].removeprefix("#/components/schemas/")
        assert name in document["components"]["schemas"], name
