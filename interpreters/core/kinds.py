"""What an object is: its group, version and kind, and how that is spelled in folders, objects and messages."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from interpreters.core.errors import RequestError


class GroupVersionKind(NamedTuple):
    """`apps/v1 Deployment`. The core group is the empty text, and `core` in folder names."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def folder(self) -> str:
        """`<group>/<version>/<Kind>`, where a script for this kind lives."""
        return f"{self.group or 'core'}/{self.version}/{self.kind}"

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"

    @classmethod
    def parse(cls, api_version: str, kind: str) -> GroupVersionKind:
        group, slash, version = api_version.rpartition("/")
        return cls(group if slash else "", version, kind)

    @classmethod
    def from_folder(cls, folder: str) -> GroupVersionKind:
        """Read `<group>/<version>/<Kind>`; raises ValueError when there are not three parts."""
        group, version, kind = folder.strip("/").split("/")
        return cls("" if group == "core" else group, version, kind)

    @classmethod
    def of(cls, obj: dict[str, Any]) -> GroupVersionKind:
        """Read `apiVersion` and `kind` of a Kubernetes object."""
        for field in ("apiVersion", "kind"):
            if not isinstance(obj.get(field), str) or not obj[field]:
                got = "nothing" if obj.get(field) is None else f"{obj[field]!r:.60}"
                raise RequestError(f"object.{field}: expected a text such as {_EXAMPLE[field]}, got {got}")
        return cls.parse(obj["apiVersion"], obj["kind"])


_ES: Final = re.compile(r"(s|x|z|ch|sh)$")
_IES: Final = re.compile(r"[^aeiou]y$")


def plural_of(kind: str) -> str:
    """What a kind's resource is called, unless its author chose otherwise.

    >>> plural_of("RayJob"), plural_of("Ingress"), plural_of("NetworkPolicy")
    ('rayjobs', 'ingresses', 'networkpolicies')
    """
    name = kind.lower()
    if _ES.search(name):
        return f"{name}es"
    return f"{name[:-1]}ies" if _IES.search(name) else f"{name}s"


_EXAMPLE = {"apiVersion": '"apps/v1"', "kind": '"Deployment"'}
