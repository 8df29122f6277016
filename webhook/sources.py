"""Where settings come from: flags over `INTERP_*` variables over one YAML file, each source checked by itself."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

from interpreters.core.errors import InputError
from interpreters.files import read_documents
from webhook.settings import Settings, check, schema

PREFIX = "INTERP_"
PATH_KEYS = frozenset({"scripts", "quotas", "memberClusters"})
CONFIG_VARIABLE = PREFIX + "CONFIG"


def load_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], file: str | None = None, *, to_serve: bool = True
) -> Settings:
    """Merge all sources. `flags` holds only what was given, by YAML key. Raises `InputError` naming source and key.

    `to_serve` also demands what a server cannot do without.
    """
    file = file or environment.get(CONFIG_VARIABLE)
    layers = [_from_file(file) if file else {}, _from_environment(environment), _from_flags(flags)]
    merged = {key: value for layer in layers for key, value in layer.items()}
    settings = msgspec.convert(merged, Settings)
    if to_serve:
        check(settings)
    if settings.path_secret_file:
        settings = msgspec.structs.replace(
            settings, path_secret=_secret(settings.path_secret_file), path_secret_file=""
        )
    return settings


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
    _validate(documents[0], lambda key: f"{path}: {key}")
    return dict(documents[0])


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    layer = {
        key: from_text(key, environment[variable(key)])
        for key in schema()["properties"]
        if variable(key) in environment
    }
    _validate(layer, variable)
    return layer


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    layer = dict(flags)
    _validate(layer, flag)
    return layer


def _validate(layer: Any, spelled: Any) -> None:
    """Raise for the first problem, in the spelling of the source it came from."""
    validator = jsonschema.Draft202012Validator(schema())
    errors = sorted(
        validator.iter_errors(layer), key=lambda error: (list(map(str, error.absolute_path)), error.message)
    )
    for error in errors:
        if error.validator == "additionalProperties" and not error.absolute_path:
            known = list(schema()["properties"])
            key = next(key for key in layer if key not in known)
            close = difflib.get_close_matches(str(key), known, 1)
            advice = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(known)}"
            raise InputError(f"{spelled(str(key))}: is not a setting; {advice}")
        path = [str(part) for part in error.absolute_path]
        where = ".".join([spelled(path[0]), *path[1:]]) if path else spelled("the document")
        raise InputError(f"{where}: {error.message}")


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
        raise InputError(f"pathSecretFile: {path}: expected letters, digits, - and _ only") from None
    return secret
