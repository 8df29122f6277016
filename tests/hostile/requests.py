"""Hostile requests: HTTP, packing, envelopes, and questions whose answer would be large or late."""

from __future__ import annotations

import gzip
import json

from tests.hostile.rows import MIB, Row, post, question, raw, review, scene

GZIP = {"Content-Encoding": "gzip"}
POLICY = {"group": "policy.karmada.io", "version": "v1alpha1", "kind": "PropagationPolicy"}
DEEP = b"[" * 5000 + b"]" * 5000
DEEP_FIELD = b'{"metadata":' + DEEP + b"}"
GOOD = question(scene(b'{"replicas":1}'))
HEAD = b"POST /interpret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"


def policy(placement: bytes) -> bytes:
    text = b'{"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"p"},"spec":'
    selectors = b'{"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}],"placement":'
    return review(text + selectors + placement + b"}}", POLICY)


def groups(count: int, group: bytes = b"{}") -> bytes:
    return policy(b'{"clusterAffinities":[' + b",".join([group] * count) + b"]}")


def components(count: int) -> bytes:
    one = {"name": "c", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}
    return json.dumps({"components": [one] * count}).encode()


def owner(name: str) -> dict[str, object]:
    return {"controller": True, "apiVersion": "batch/v1", "kind": "Job", "name": name}


def admission(uid: str = "u", userInfo: object = None, **metadata: object) -> bytes:
    """The review of a sound object with this metadata."""
    obj = {"apiVersion": "stage.example.org/v1", "kind": "Scene", "metadata": {"name": "x", **metadata}, "spec": {}}
    body = json.loads(
        review(json.dumps(obj).encode(), {"group": "stage.example.org", "version": "v1", "kind": "Scene"})
    )
    body["request"].update({"uid": uid, "userInfo": userInfo or {}})
    return json.dumps(body).encode()


PACKING = (
    Row("gzip of 300 000 empty members", post(lambda: gzip.compress(b"") * 300_000, headers=GZIP), 400, says="behind"),
    Row("gzip of two members", post(gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), headers=GZIP), 400, says="one"),
    Row("gzip with bytes behind it", post(gzip.compress(GOOD) + b"\0", headers=GZIP), 400, says="behind"),
    Row("gzip that ends too early", post(gzip.compress(GOOD)[:-9], headers=GZIP), 400, says="too early"),
    Row("gzip that is none", post(GOOD, headers=GZIP), 400, says="not valid gzip"),
    Row("a gzip bomb", post(lambda: gzip.compress(bytes(200 * MIB)), headers=GZIP), 413, says="larger than"),
)

HTTP = (
    Row("a body that is only announced", raw(HEAD + b"Content-Length: 8000000\r\n\r\n{"), 408, says="did not arrive"),
    Row("a length of 20 digits", raw(HEAD + b"Content-Length: 10000000000000000000\r\n\r\n{"), 413),
    Row(
        "a hundred thousand chunks of a byte",
        raw(lambda: HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 100_000 + b"0\r\n\r\n"),
        (400, 408),
    ),
    Row("a header of a megabyte", raw(HEAD + b"X: " + b"x" * MIB + b"\r\n\r\n"), 400),
    Row("a hundred thousand headers", raw(HEAD + b"".join(b"X-%d: 1\r\n" % i for i in range(100_000)) + b"\r\n"), 400),
    Row("a target of a megabyte", raw(b"GET /" + b"x" * MIB + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400),
    Row("a timeout of thousands of digits", post(GOOD, f"/interpret?timeout={'9' * 4000}s"), 200, code=200),
    Row("thousands of timeouts", post(GOOD, "/interpret?" + "timeout=1s&" * 600), 200, code=200),
    Row("no HTTP at all", raw(b"\x16\x03\x01" * 1000 + b"\r\n\r\n"), 400),
)

ENVELOPES = (
    Row("deep JSON for /interpret", post(DEEP_FIELD), 400, says="deep"),
    Row("a deep object for /interpret", post(question(scene(DEEP))), 400, says="deep"),
    Row("deep JSON for /validate-policy", post(DEEP_FIELD, "/validate-policy"), 400, says="deep"),
    Row("a deep policy", post(policy(DEEP), "/validate-policy"), 400, says="deep"),
    Row("deep JSON for /estimate", post(DEEP_FIELD, "/estimate"), 400, says="deep"),
    Row("deep JSON for /admit", post(DEEP_FIELD, "/admit"), 400, says="deep"),
    Row(
        "three million empty lists",
        post(lambda: question(scene(b'{"x":[' + b"[]," * 2_700_000 + b"[]]}"))),
        200,
        code=400,
        says="values",
    ),
    Row(
        "a uid of 6 MB",
        post(lambda: question(scene(b'{"replicas":"x"}'), uid="u" * 6_000_000)),
        400,
        says="request.uid: expected at most 1024",
    ),
    Row(
        "a name of 6 MB",
        post(lambda: question(scene(b'{"replicas":1}'), name="n" * 6_000_000)),
        200,
        code=400,
        says="253",
    ),
    Row(
        "a kind of 3 MB",
        post(lambda: question({"apiVersion": "a/v1", "kind": "k" * 3_000_000})),
        200,
        code=400,
        says="253",
    ),
    Row(
        "replicas of 1e400",
        post(question(scene(b"{}")).replace(b'"replicas": 0', b'"replicas": 1e400')),
        200,
        code=400,
        says="number",
    ),
    Row(
        "replicas of 5000 digits",
        post(question(scene(b"{}")).replace(b'"replicas": 0', b'"replicas": ' + b"9" * 5000)),
        200,
        code=400,
        says="a number too large",
    ),
    Row(
        "an apiVersion of 6 MB for /validate-policy",
        post(lambda: json.dumps({"apiVersion": "a" * 6_000_000, "kind": "x"}).encode(), "/validate-policy"),
        400,
        says="AdmissionReview",
    ),
)

QUESTIONS = (
    Row(
        "a policy whose purge mode is a list",
        post(policy(b'{},"failover":{"application":{"purgeMode":[]}}'), "/validate-policy"),
        200,
        says="expected text",
    ),
    Row(
        "a policy of 450 000 groups",
        post(lambda: gzip.compress(groups(450_000)), "/validate-policy", GZIP),
        400,
        says="more than 50000 values",
    ),
    Row("a policy of 20 000 groups", post(lambda: groups(20_000), "/validate-policy"), 200, says="more"),
    Row(
        "a policy with a group name of 5 MB",
        post(lambda: groups(1, b'{"affinityName":"' + b"x" * 5_000_000 + b'"}'), "/validate-policy"),
        200,
        says="characters",
    ),
    Row(
        "an estimate for 20 000 cluster names",
        post(lambda: json.dumps({"replicaRequirements": {}, "clusters": ["west"] * 20_000}).encode(), "/estimate"),
        200,
        says="west",
    ),
    Row("an estimate of 20 000 components", post(lambda: components(20_000), "/estimate"), 400, says="at most 256"),
    Row(
        "an estimate of 1000 resources",
        post(
            lambda: json.dumps(
                {"replicaRequirements": {"resourceRequest": {f"r{i}": "1" for i in range(1000)}}}
            ).encode(),
            "/estimate",
        ),
        400,
        says="different resources",
    ),
    Row(
        "an estimate with an unknown field of 6 MB",
        post(lambda: b'{"' + b"x" * 6_000_000 + b'": 1}', "/estimate"),
        400,
        says="not a question",
    ),
    Row(
        "an estimate of a million values",
        post(lambda: b'{"clusters":[' + b'"",' * 2_000_000 + b'""]}', "/estimate"),
        400,
        says="values",
    ),
    Row(
        "a uid of 6 MB in a wrong envelope",
        post(lambda: question(scene(b'"x"'), uid="u" * 6_000_000, operation="Unheard")),
        400,
        says="request.uid",
    ),
    Row("a review with a uid of 5 MB", post(lambda: admission(uid="u" * 5_000_000), "/admit"), 400, says="uid"),
    Row(
        "a policy's review with a uid of 5 MB",
        post(lambda: groups(1).replace(b'"uid": "u"', b'"uid": "' + b"u" * 5_000_000 + b'"'), "/validate-policy"),
        400,
        says="uid",
    ),
    Row(
        "an admission with a generated name of 5 MB",
        post(lambda: admission(generateName="n" * 5_000_000), "/admit"),
        400,
        says="253",
    ),
    Row(
        "an admission whose owner has a name of 5 MB",
        post(lambda: admission(ownerReferences=[owner("n" * 5_000_000)]), "/admit"),
        400,
        says="253",
    ),
    Row(
        "an admission by a user with a name of 5 MB",
        post(lambda: admission(userInfo={"username": "n" * 5_000_000}), "/admit"),
        200,
        says='"allowed":true',
    ),
    Row(
        "an admission of a generation beyond 64 bits",
        post(admission(generation=2**80), "/admit"),
        400,
        says="generation",
    ),
    Row(
        "an admission of a version of 5000 digits",
        post(admission(resourceVersion="9" * 5000), "/admit"),
        200,
        says='"allowed":true',
    ),
    Row(
        "an admission of a workload with a name of 5 MB",
        post(
            lambda: review(
                scene(b'{"replicas":1}').replace(b'"name":"x"', b'"name":"' + b"n" * 5_000_000 + b'"'),
                {"group": "stage.example.org", "version": "v1", "kind": "Scene"},
            ),
            "/admit",
        ),
        400,
        says="253",
    ),
)

REQUESTS = (*PACKING, *HTTP, *ENVELOPES, *QUESTIONS)
