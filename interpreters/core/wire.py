"""The HTTP exchange in bytes: a ResourceInterpreterContext in, the same envelope with a response out.

The object stays raw JSON; only the envelope around it is decoded here.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import msgspec
from msgspec import Raw

from interpreters.core.decoder_errors import UNREADABLE, misfit
from interpreters.core.errors import InterpError, RequestError
from interpreters.core.json_values import MOST_VALUES, SHORT, kind_of, too_many_values
from interpreters.core.karmada.api import CONFIG_API
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_NAME, Argument, Operation
from interpreters.core.requirements import MOST_REPLICAS, Component, Dependency, ReplicaRequirements, Wire

KIND = "ResourceInterpreterContext"
LONGEST_UID = 1024
"""Characters; it is repeated in the answer, and Karmada's are 36 long."""

_NULL = b"null"


class Request(msgspec.Struct, frozen=True):
    """One question about one object."""

    operation: Operation
    kind: GroupVersionKind
    object: bytes
    uid: str = ""
    name: str = ""
    namespace: str = ""
    replicas: int = 0
    observed_object: bytes = _NULL
    aggregated_status: bytes = _NULL

    def arguments(self) -> tuple[bytes, ...]:
        """The JSON text of each argument of the operation's function."""
        texts = []
        for argument in self.operation.arguments:
            match argument:
                case Argument.OBJECT:
                    texts.append(self.object)
                case Argument.REPLICAS:
                    texts.append(b"%d" % self.replicas)
                case Argument.OBSERVED:
                    texts.append(self.observed_object)
                case Argument.STATUS:
                    texts.append(self.aggregated_status)
        return tuple(texts)


class Reply(Wire, frozen=True):
    """What a script answered, checked. Only the fields of its operation are filled.

    `changed_object` is the whole object after a changing operation; on the wire only `patch` travels. `warnings` are
    for people: the reply is valid, but probably not what its author wanted.
    """

    replicas: int | None = None
    replica_requirements: ReplicaRequirements | None = None
    components: list[Component] | None = None
    patch: list[dict[str, Any]] | None = None
    raw_status: Raw | None = None
    healthy: bool | None = None
    dependencies: list[Dependency] | None = None
    changed_object: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()


class _Kind(Wire, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Request(Wire, frozen=True):
    uid: str
    kind: _Kind
    operation: str
    object: Raw
    name: str | None = None
    namespace: str | None = None
    replicas: int | None = None
    observed_object: Raw = Raw(_NULL)  # a union with None would make msgspec decode it
    aggregated_status: Raw = Raw(_NULL)


class _Envelope(Wire, frozen=True):
    api_version: str
    kind: str
    request: _Request | None = None


_decoder = msgspec.json.Decoder(_Envelope)
_encoder = msgspec.json.Encoder()
_ENVELOPE: Final = {"apiVersion": CONFIG_API, "kind": KIND}


def decode_request(body: bytes) -> Request:
    """Read the envelope. Raises `RequestError` naming the field, what was expected and what came."""
    if len(body) > SHORT and too_many_values(body):
        raise RequestError(f"the body holds more than {MOST_VALUES} values")
    try:
        # Raw parts are passed on unread, so the bytes are checked to be text here.
        body.decode()
        envelope = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RequestError(misfit(error, whole="the body")) from None
    except UNREADABLE as error:
        raise RequestError(f"the body is {misfit(error)}") from None
    if envelope.api_version != CONFIG_API or envelope.kind != KIND:
        got = f"{envelope.api_version!r:.80} and {envelope.kind!r:.80}"
        raise RequestError(f"expected apiVersion {CONFIG_API} and kind {KIND}, got {got}")
    request = envelope.request
    if request is None:
        raise RequestError("request: expected an object, got nothing")
    if not request.uid:
        raise RequestError("request.uid: expected a text that the response repeats, got an empty one")
    if len(request.uid) > LONGEST_UID:
        raise RequestError(f"request.uid: expected at most {LONGEST_UID} characters, got {len(request.uid)}")
    operation = BY_NAME.get(request.operation)
    if operation is None:
        raise UnknownOperationError(request.uid, request.operation)
    if bytes(request.object)[:1] != b"{":
        raise RequestError(f"request.object: expected an object, got {kind_of(request.object)}")
    replicas = request.replicas or 0
    if not 0 <= replicas <= MOST_REPLICAS:
        raise RequestError(f"request.replicas: expected 0 to {MOST_REPLICAS}, got {shortened(replicas)}")
    return Request(
        operation=operation,
        kind=GroupVersionKind(request.kind.group, request.kind.version, request.kind.kind),
        object=bytes(request.object),
        uid=request.uid,
        name=request.name or "",
        namespace=request.namespace or "",
        replicas=replicas,
        observed_object=bytes(request.observed_object),
        aggregated_status=bytes(request.aggregated_status),
    )


class UnknownOperationError(RequestError):
    """The envelope is fine but asks for something Karmada does not have. Its uid lets us answer all the same."""

    code = 404

    def __init__(self, uid: str, operation: str) -> None:
        super().__init__(f"request.operation: {operation!r:.80} is unknown; known are {', '.join(BY_NAME)}")
        self.uid = uid


def shortened(number: int) -> str:
    """A number of any size; one with hundreds of digits is not worth a line of them."""
    return str(number) if abs(number) < 10**20 else "a number of more than 20 digits"


def response_fields(reply: Reply) -> dict[str, Any]:
    """The fields of a successful response, as CLI and wire print them; a patch is base64 with its type."""
    fields: dict[str, Any] = {
        "replicas": reply.replicas,
        "replicaRequirements": reply.replica_requirements,
        "components": reply.components,
        "rawStatus": reply.raw_status,
        "healthy": reply.healthy,
        "dependencies": reply.dependencies,
    }
    fields = {name: value for name, value in fields.items() if value is not None}
    if reply.patch:
        fields |= {"patch": b64encode(_encoder.encode(reply.patch)).decode(), "patchType": "JSONPatch"}
    return fields


def encode_reply(uid: str, reply: Reply) -> bytes:
    response = {"uid": uid, "successful": True, **response_fields(reply)}
    return _encoder.encode({**_ENVELOPE, "response": response})


def encode_failure(uid: str, error: InterpError) -> bytes:
    response = {"uid": uid, "successful": False, "status": {"code": error.code, "message": str(error)}}
    return _encoder.encode({**_ENVELOPE, "response": response})
