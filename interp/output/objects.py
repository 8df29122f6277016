"""Kubernetes objects to apply: YAML documents, or JSON as `kubectl get -o json` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interp.output.formats import Formats
from interp.output.json import print_json
from interp.output.yaml import print_yaml

Objects = Sequence[dict[str, Any]]


def _print_yaml(objects: Objects) -> None:
    print_yaml(*objects)


def _print_json(objects: Objects) -> None:
    """One object, or a List of several."""
    print_json(objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects})


OBJECTS: Final[Formats[Objects]] = Formats(yaml=_print_yaml, json=_print_json)
