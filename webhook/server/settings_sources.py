"""Where settings come from: flags over `INTERP_*` variables over one YAML file, each source checked by itself."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

from interpreters.core.errors import InputError
from interpreters.files import read_documents
from webhook.server.settings import SECRET_FIELDS, UNGUESSABLE, Settings, attribute, check, refuse, schema

PREFIX = "INTERP_"
PATH_KEYS = frozenset({"scripts", "quotas", "memberClusters"})
CONFIG_VARIABLE = PREFIX + "CONFIG"
DEBUG_VARIABLE = PREFIX + "DEBUG"  # shows where a bug of ours is
_SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$")


def load_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], file: str | None = None, *, to_serve: bool = True
) -> Settings:
    """Merge all sources. `flags` holds only what was given, by YAML key. Raises `InputError` that names every mistake
    with its source and key.

    `to_serve` also demands what a server cannot do without.
    """
    file = file or environment.get(CONFIG_VARIABLE)
    in_file = _from_file(file) if file else {}
    in_variables = _from_environment(environment)
    refuse(
        [
            *_mistakes(in_file, lambda key: f"{file}: {key}"),
            *_mistakes(in_variables, variable),
            *_mistakes(flags, flag),
        ]
    )
    settings = msgspec.convert({**in_file, **in_variables, **flags}, Settings)
    check(settings, to_serve=to_serve)
    if settings.path_secret_file:
        settings = msgspec.structs.replace(
            settings, path_secret=_secret(settings.path_secret_file), path_secret_file=""
        )
    return settings


def stray_variables(environment: Mapping[str, str]) -> list[str]:
    """A remark about each variable that looks like a setting and is none, most likely for a typing error.

    Those that Kubernetes sets for Services whose name begins with `interp` are not ours to complain about.
    """
    known = [variable(key).removeprefix(PREFIX) for key in schema()["properties"]]
    ours = {CONFIG_VARIABLE, DEBUG_VARIABLE, *(PREFIX + name for name in known)}
    remarks = []
    for name, value in sorted(environment.items()):
        injected = _SERVICE_LINK.search(name) or ("://" in value and name.endswith("_PORT"))
        if name.startswith(PREFIX) and name not in ours and not injected:
            remarks.append(f"{name}: is set, but is no setting; {_suggestion(name, known, PREFIX)}")
    return remarks


def variable(key: str) -> str:
    """`maxBody` is set by INTERP_MAX_BODY."""
    return PREFIX + "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in key)


def flag(key: str) -> str:
    """`maxBody` is set by --max-body."""
    return "--" + "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in key)


def from_text(key: str, text: str) -> Any:
    """A value in one variable: lists have commas, or colons if they are paths; mappings are name=value pairs."""
    match type_of(key):
        case "integer" | "number":
            return _number(text)
        case "boolean":
            return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
        case "array":
            separator = os.pathsep if key in PATH_KEYS else ","
            return [part.strip() for part in text.split(separator) if part.strip()]
        case "object":
            pairs = (part.partition("=") for part in text.split(",") if part.strip())
            return {name.strip(): value.strip() for name, _, value in pairs}
    return text


def type_of(key: str) -> str:
    """The JSON type of a setting; of an optional one, the type it has when it is given."""
    field = schema()["properties"][key]
    kinds = [part.get("type", "string") for part in field.get("anyOf", [field])]
    return str(next(kind for kind in kinds if kind != "null"))


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _from_file(path: str) -> dict[str, Any]:
    documents = read_documents(path)
    if not documents:
        return {}
    if len(documents) > 1:
        raise InputError(f"{path}: expected one document of settings, got {len(documents)}")
    return dict(documents[0])


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        key: from_text(key, environment[variable(key)])
        for key in schema()["properties"]
        if variable(key) in environment
    }


def _mistakes(layer: Mapping[str, Any], spelled: Callable[[str], str]) -> Iterator[str]:
    """What is wrong in one source, in its spelling."""
    known = list(schema()["properties"])
    for key in layer:
        if key not in known:
            yield f"{spelled(str(key))}: is not a setting; {_suggestion(str(key), known)}"
    right = {key: value for key, value in layer.items() if key in known}
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(right)
    for error in sorted(errors, key=lambda error: (list(map(str, error.absolute_path)), error.message)):
        key, *inside = map(str, error.absolute_path)
        yield f"{'.'.join([spelled(key), *inside])}: {_words(key, error)}"


def _words(key: str, error: jsonschema.ValidationError) -> str:
    """The mistake, without the value if it is a secret."""
    if attribute(key) in SECRET_FIELDS:
        return UNGUESSABLE if error.validator == "pattern" else "expected text; put it in quotes"
    if isinstance(error.instance, str) and re.match(r"(tcp|udp|sctp)://", error.instance):
        return (
            f"{error.message}; it looks as if Kubernetes set it for a Service of that name:"
            " put `enableServiceLinks: false` into the pod's spec, or call the Service something else"
        )
    return error.message


def _suggestion(name: str, known: Sequence[str], prefix: str = "") -> str:
    """The prefix that all have in common must not make them look alike."""
    close = difflib.get_close_matches(name.removeprefix(prefix), known, 1)
    return f'did you mean "{prefix}{close[0]}"?' if close else "`interp serve --help` lists them all"


def _secret(path: str) -> str:
    try:
        secret = Path(path).read_text().strip()
    except OSError as error:
        raise InputError(f"pathSecretFile: {path}: {error.strerror}") from None
    if not secret:
        raise InputError(f"pathSecretFile: {path}: is empty")
    try:
        msgspec.convert({"pathSecret": secret}, Settings)
    except msgspec.ValidationError:
        raise InputError(f"pathSecretFile: {path}: {UNGUESSABLE}") from None
    return secret
