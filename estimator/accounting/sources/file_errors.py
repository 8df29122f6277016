"""Saying where in files something is: which object of which file, and what a file holds when it is the wrong one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from interpreters.core.errors import DocumentError
from interpreters.files import name_of

_MOST_NAMED: Final = 5


class _Named(msgspec.Struct):
    """The names of an object, whatever types they have."""

    kind: object = ""
    metadata: object = None


def described(text: bytes) -> str:
    """An object by its kind and name, as far as it says them: `ResourceBinding team/job`."""
    try:
        about = msgspec.json.decode(text, type=_Named)
    except msgspec.DecodeError:
        return "object"
    metadata = about.metadata if isinstance(about.metadata, dict) else {}
    names = [str(name) for name in (metadata.get("namespace"), metadata.get("name")) if name not in (None, "")]
    return " ".join(filter(None, (about.kind if isinstance(about.kind, str) else "", "/".join(names)))) or "object"


def kind_of(text: bytes) -> str:
    """The object's kind; empty when it does not say one."""
    try:
        kind = msgspec.json.decode(text, type=_Named).kind
    except msgspec.DecodeError:
        return ""
    return kind if isinstance(kind, str) else ""


def numbered(where: str, texts: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Each object with its place: `bindings.yaml, object 3`."""
    return ((f"{where}, object {number}", text) for number, text in enumerate(texts, 1))


def refuse_wrong_files(
    paths: Sequence[str | Path],
    found: Mapping[str, int],
    empty_lists: Sequence[str],
    *,
    what: str,
    kinds: Sequence[str],
    resources: str,
) -> None:
    """Raise `DocumentError` for files without any object of these kinds, unless one of them is an export of none."""
    if any(kind in ("List", *(f"{kind}List" for kind in kinds)) for kind in empty_lists):  # kubectl's own are just List
        return
    most_first = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    named = [f"{count} {kind or 'without a kind'}" for kind, count in most_first[:_MOST_NAMED]]
    named += ["and other kinds"] if len(most_first) > _MOST_NAMED else []
    named += [f"an empty {kind}" for kind in empty_lists]
    raise DocumentError(
        ", ".join(map(name_of, paths)),
        f"no {what} in it; found {', '.join(named) or 'nothing'}; expected {' or '.join(kinds)} objects, as "
        f"printed by: kubectl get {resources} -A -o json",
    )
