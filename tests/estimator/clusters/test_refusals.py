"""What an API server's refusal becomes in words."""

from __future__ import annotations

import json

import pytest

from estimator.clusters.refusals import refusal

WEAK = 'User "weak" cannot'


def status(message: str) -> bytes:
    return json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message}).encode()


SAID = [  # the code, the body, what is said after it
    (
        403,
        status(f'foos.x.io is forbidden: {WEAK} list resource "foos" in API group "x.io" at the cluster scope'),
        'user "weak" may not list foos.x.io in the whole cluster; a ClusterRole with apiGroups ["x.io"], '
        'resources ["foos"], verbs ["list"], bound to that user, would allow it',
    ),
    (
        403,
        status(f'pods "a" is forbidden: {WEAK} get resource "pods" in API group "" in the namespace "shop": RBAC: no'),
        'user "weak" may not get pods in namespace "shop"; a Role there with apiGroups [""], resources ["pods"], '
        'verbs ["get"], bound to that user, would allow it',
    ),
    (
        403,
        status(f'forbidden: {WEAK} get path "/healthz"'),
        f'forbidden: {WEAK} get path "/healthz"',  # another sentence: as it is
    ),
    (
        403,
        status(f'"x" is forbidden: {WEAK} get path "/healthz"'),
        'user "weak" may not get /healthz; a ClusterRole with nonResourceURLs [/healthz] would allow it',
    ),
    (403, status('admission webhook "a.b" denied the request: no'), 'admission webhook "a.b" denied the request: no'),
    (422, status("spec.x: Required value"), "spec.x: Required value"),
    (401, status("Unauthorized"), "Unauthorized; the credentials of the kubeconfig are not accepted"),
    (401, b"", "no reason given; the credentials of the kubeconfig are not accepted"),
    (302, b"", "it sends us elsewhere, which no API server does; is the address of the kubeconfig right?"),
    (502, b"<html>\n<body>bad gateway</body>", "<html>"),
    (500, b"x" * 5000, "x" * 300),
    (500, b"[]", "[]"),
    (500, b"\xff\xfe", "\ufffd\ufffd"),
    (503, b"{}", ""),
]


@pytest.mark.parametrize(("code", "body", "said"), SAID)
def test_a_refusal_says_what_was_asked_and_why_it_was_refused(code: int, body: bytes, said: str) -> None:
    assert refusal("GET", "/apis", code, body) == f"GET /apis: HTTP {code}" + (f": {said}" if said else "")
