"""What an operator may set: one struct whose fields are the YAML keys, the flags and the `INTERP_*` variables.

The JSON schema, the command line and the documentation of the settings all derive from the annotations here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from estimator.accounting.defaults import DAILY_DAYS, HOURLY_DAYS, PROVISIONAL_SECONDS, RETENTION_SECONDS
from interpreters.core.engine import MIB, MOST_WAITING, Limits
from interpreters.core.errors import InputError

Mode = Literal["enforce", "warn", "record"]
LIMITS: Final = Limits()

OnInterpret = Literal["off", "record", "warn"]


class Settings(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Everything `interp serve` can be told."""

    host: Annotated[str, Meta(description="Address to listen on; 0.0.0.0 for all, :: for IPv6 too.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8443
    certificate: Annotated[str, Meta(description="PEM file with the server's certificate and its chain.")] = ""
    key: Annotated[str, Meta(description="PEM file with the server's private key.")] = ""

    scripts: Annotated[
        list[str], Meta(description="Folders of scripts, or files with ResourceInterpreterCustomizations; first wins.")
    ] = []
    bundled_language: Annotated[
        Literal["lua", "starlark", "none"],
        Meta(description="Answer with the bundled scripts where no other does; which language to prefer."),
    ] = "lua"

    processes: Annotated[int, Meta(ge=1, le=64, description="Server processes that share the port.")] = 1
    workers: Annotated[
        int, Meta(ge=1, le=64, description="Sandbox workers of each process, for each author (see isolation).")
    ] = 2
    waiting: Annotated[int, Meta(ge=0, le=100000, description="Calls that may wait for a worker; more get 429.")] = (
        MOST_WAITING
    )
    max_connections: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Connections each process keeps, from the moment they are accepted; further ones are closed.",
        ),
    ] = 4096
    max_connections_of_address: Annotated[
        int,
        Meta(ge=1, le=1_000_000, description="The same for one address (of IPv6, one /64), all callers behind it."),
    ] = 1024
    max_bytes: Annotated[
        int, Meta(ge=1024, description="Bytes of bodies and of answers not yet read, held at once in each process.")
    ] = 256 * MIB
    timeout_seconds: Annotated[
        float, Meta(gt=0, le=300, description="Budget of a request that names no timeout of its own.")
    ] = 10.0
    timeout_seconds_most: Annotated[
        float, Meta(gt=0, le=300, description="No request gets more than this, whatever it asks for.")
    ] = 30.0
    margin_seconds: Annotated[
        float, Meta(ge=0, le=10, description="Taken off the caller's timeout so that it gets our words, not its own.")
    ] = 0.25
    max_body: Annotated[int, Meta(ge=1024, description="Largest body in bytes, after decompression.")] = LIMITS.input

    script_cost: Annotated[
        int,
        Meta(
            ge=1000, description="What one call of a script may cost, counted: the same call costs the same anywhere."
        ),
    ] = LIMITS.cost
    script_seconds: Annotated[
        float,
        Meta(
            gt=0,
            le=30,
            description="Time one call of a script may take. A worker's first call of a script loads it too and has as "
            "long again for that.",
        ),
    ] = LIMITS.seconds
    script_memory: Annotated[int, Meta(ge=MIB, description="Memory in bytes one call of a script may take.")] = (
        LIMITS.memory
    )

    isolation: Annotated[
        Literal["author", "none"],
        Meta(
            description="author: each entry of scripts, and the bundled ones, have own workers; none: all share them."
        ),
    ] = "author"
    require_hardening: Annotated[
        bool, Meta(description="Refuse to start where workers cannot be fully confined, or as root.")
    ] = False

    path_secret: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9_-]{16,})?$",
            description="Serve /interpret/<secret> instead of /interpret; 16 letters, digits, - or _ at least.",
        ),
    ] = ""
    path_secret_file: Annotated[str, Meta(description="File that holds the path secret.")] = ""
    allow_from: Annotated[list[str], Meta(description="Networks that may call /interpret; none given: all.")] = []
    admin_host: Annotated[str, Meta(description="Address of the second listener.")] = "127.0.0.1"
    admin_port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)] | None,
        Meta(description="Port of a second listener that takes all but /interpret; 0 takes a free one."),
    ] = None
    client_ca: Annotated[str, Meta(description="PEM bundle: the second listener demands a certificate from it.")] = ""

    drain_seconds: Annotated[float, Meta(ge=0, le=600, description="How long a stop waits for requests.")] = 20.0
    drain_delay: Annotated[
        float, Meta(ge=0, le=600, description="How long a stop keeps accepting after /readyz says no.")
    ] = 0.0
    watch: Annotated[
        Literal["auto", "poll", "off"], Meta(description="How changed files are noticed; SIGHUP always works.")
    ] = "auto"
    watch_seconds: Annotated[float, Meta(gt=0, le=3600, description="How often to look when polling.")] = 2.0

    log_level: Annotated[Literal["debug", "info", "warning", "error"], Meta(description="Least level logged.")] = "info"
    log_objects: Annotated[bool, Meta(description="Log the objects of failed requests (never Secrets).")] = False
    tracing: Annotated[Literal["auto", "off"], Meta(description="OpenTelemetry spans if it is installed.")] = "auto"

    clusters: Annotated[
        list[str], Meta(description="Clusters for /estimate and /admit: NAME=FOLDER or NAME=KUBECONFIG[#CONTEXT].")
    ] = []
    member_clusters: Annotated[
        list[str], Meta(description="Files with Karmada's Cluster objects, for /validate-policy.")
    ] = []
    quotas: Annotated[list[str], Meta(description="Files or folders with the quotas that /admit keeps.")] = []
    kubeconfig: Annotated[str, Meta(description="Of the Karmada API server, to read quotas and clusters.")] = ""
    ledger: Annotated[str, Meta(description="URL of the ledger: sqlite:///file or postgresql://user@host/name.")] = ""
    provisional_seconds: Annotated[
        float, Meta(gt=0, description="How long a charge made at admission counts unless the object is seen.")
    ] = PROVISIONAL_SECONDS
    reconcile_seconds: Annotated[
        float, Meta(gt=0, description="With kubeconfig: how often the ledger is compared with the bindings there are.")
    ] = 600.0
    retention_seconds: Annotated[float, Meta(gt=0, description="How long decisions are kept.")] = RETENTION_SECONDS
    history_seconds: Annotated[
        float, Meta(ge=1, description="How often quotas are sampled, for their history and for metrics.")
    ] = 60.0
    history_hour_days: Annotated[float, Meta(gt=0, description="How many days the history is kept by the hour.")] = (
        HOURLY_DAYS
    )
    history_day_days: Annotated[float, Meta(gt=0, description="How many days it is kept by the day.")] = DAILY_DAYS
    on_interpret: Annotated[
        OnInterpret, Meta(description="What the ledger notes of what Karmada asks: off, record or warn.")
    ] = "record"
    admission_mode: Annotated[Mode, Meta(description="What a breach leads to: enforce, warn or record.")] = "enforce"
    admission_modes: Annotated[dict[str, Mode], Meta(description="The same for single namespaces.")] = {}


SECRET_FIELDS = frozenset({"path_secret", "ledger"})
UNGUESSABLE = (
    "expected at least 16 letters, digits, - and _, so that nobody guesses it;"
    " `head -c 24 /dev/urandom | base64 | tr '+/' '-_'` makes one"
)


def attribute(key: str) -> str:
    """The Python name of a YAML key."""
    return _attributes()[key]


@cache
def _attributes() -> dict[str, str]:
    return dict(zip(Settings.__struct_encode_fields__, Settings.__struct_fields__, strict=True))


@cache
def schema() -> dict[str, Any]:
    """The JSON schema of the settings file."""
    document = msgspec.json.schema(Settings)
    body: dict[str, Any] = document["$defs"]["Settings"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "interp serve", **body}


def check(settings: Settings, *, to_serve: bool = True) -> None:
    """Rules that a schema cannot say. Raises `InputError` that names every key at fault.

    `to_serve` also demands what a server cannot do without.
    """
    wrong = list(_required(settings)) if to_serve else []
    if settings.path_secret and settings.path_secret_file:
        wrong.append("pathSecret and pathSecretFile: give one of the two")
    if settings.client_ca and settings.admin_port is None:
        wrong.append("clientCa: needs adminPort, since Karmada presents no certificate to the first listener")
    if settings.kubeconfig and settings.quotas:
        wrong.append("quotas and kubeconfig: give one of the two")
    if settings.quotas and not settings.ledger:
        wrong.append("quotas: needs ledger, since quotas are kept by what it charges")
    for network in settings.allow_from:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            wrong.append(f"allowFrom: expected a network such as 10.0.0.0/8: {error}")
    if settings.ledger:
        from estimator.accounting.ledger.database import (
            database_url,  # brings SQLAlchemy, which most commands do without
        )

        try:
            database_url(settings.ledger)
        except InputError as error:
            wrong.append(str(error))
    refuse(wrong)


def refuse(mistakes: Sequence[str]) -> None:
    """Raise `InputError` with all mistakes, if there are any."""
    if len(mistakes) > 1:
        raise InputError(f"{len(mistakes)} settings are wrong:" + "".join(f"\n  {mistake}" for mistake in mistakes))
    if mistakes:
        raise InputError(mistakes[0])


def _required(settings: Settings) -> Iterator[str]:
    for key, value in (("certificate", settings.certificate), ("key", settings.key)):
        if not value:
            yield f"{key}: is required; `interp certs make` creates a pair, `make serve` does all of it"


def shown(settings: Settings) -> dict[str, Any]:
    """The settings by YAML key, with secrets masked: what `--print-config` prints."""
    plain: dict[str, Any] = msgspec.to_builtins(settings)
    for key, name in _attributes().items():
        if name in SECRET_FIELDS and plain[key]:
            plain[key] = _masked_url(plain[key]) if "://" in plain[key] else "***"
    return plain


def _masked_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    credentials, at, place = rest.rpartition("@")
    if not at:
        return url
    return f"{scheme}://{credentials.partition(':')[0]}:***@{place}"
