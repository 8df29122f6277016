"""Files for `interp lint`, named or found in a folder: which of them hold customizations, which hold policies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Flag, auto
from pathlib import Path
from typing import Final

from estimator.placement.matching import is_policy
from interpreters.core.documents import load_documents
from interpreters.core.errors import DocumentError
from interpreters.core.karmada.api import CUSTOMIZATION
from interpreters.files import read_bytes
from interpreters.folders import files_below
from interpreters.scan import CUSTOMIZATIONS_FILE

_SUFFIXES: Final = (".yaml", ".yml", ".json")
# Most files below a folder are about something else; reading all of them as YAML would take far longer than this.
_MENTION: Final = re.compile(
    rb"""\bkind["']?\s*:\s*["']?(?:%b|(?:Cluster)?PropagationPolicy)(?:List)?\b""" % CUSTOMIZATION.kind.encode()
)


class Held(Flag):
    """What a file holds that lint knows about."""

    NOTHING = 0
    POLICIES = auto()
    CUSTOMIZATIONS = auto()
    MISTAKES = auto()  # customizations or policies, it seems, but no YAML or JSON


def held_by(path: Path) -> Held:
    """What there is to check in a file; nothing in one that is not YAML or JSON by its name."""
    if path.suffix not in _SUFFIXES or not path.is_file():
        return Held.NOTHING
    try:
        raw = read_bytes(path)
    except DocumentError:
        return Held.NOTHING  # whoever needs it will say why it cannot be read
    if not _MENTION.search(raw):
        return Held.NOTHING
    try:
        documents = load_documents(raw, str(path))
    except DocumentError:
        return Held.MISTAKES
    held = Held.NOTHING
    for document in documents:
        if is_policy(document):
            held |= Held.POLICIES
        elif document.get("kind") == CUSTOMIZATION.kind:
            held |= Held.CUSTOMIZATIONS
    return held


def manifests_below(folder: Path) -> Iterator[Path]:
    """The files in a folder that hold customizations or policies, or would if they were YAML.

    Test tables, values and whatever else lies there are passed over, and so is the `customizations.yaml` of a kind's
    folder, which belongs to the scripts.
    """
    for path in sorted(files_below(folder)):
        if path.name != CUSTOMIZATIONS_FILE and held_by(path):
            yield path
