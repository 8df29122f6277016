"""Requests of Karmada: refused in our words, or every part is the JSON value that another parser finds at its place."""

import json

from interpreters.core.errors import RequestError
from interpreters.core.wire import decode_request


def check(data: bytes) -> None:
    try:
        request = decode_request(data)
    except RequestError as error:
        assert str(error)
        return
    wanted = json.loads(data)["request"]
    assert request.uid == wanted["uid"]
    assert request.operation.name == wanted["operation"]
    assert request.replicas == (wanted.get("replicas") or 0)
    assert json.loads(request.object) == wanted["object"]
