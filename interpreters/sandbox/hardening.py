"""What confines the workers on this system, for people and machines: which walls hold, and why others do not.

The workers report them (confinement.py); here the reports are evaluated.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

WALLS = ("seccomp", "landlock", "noNewPrivileges", "limits", "notRoot")
_REPORTED_AS = {"seccomp": "seccomp", "landlock": "landlock", "noNewPrivileges": "privileges", "limits": "limits"}
_IN_FORCE = ("on", "none can be gained")


class Hardening(Struct, frozen=True):
    """`walls` says which hold, `words` how each was reported, `gaps` a sentence for each that does not."""

    walls: dict[str, bool]
    words: dict[str, str]
    gaps: tuple[str, ...]


def hardening_report(reported: Mapping[str, str], user: int | None = None) -> Hardening:
    """Judges what a worker reported. `user` is who runs the server, by default this process's own.

    >>> hardening_report({"seccomp": "on", "landlock": "not offered by the kernel"}, user=1000).gaps[0]
    'landlock: not offered by the kernel'
    """
    words = {wall: reported.get(name, "not reported") for wall, name in _REPORTED_AS.items()}
    walls = {wall: word.startswith(_IN_FORCE) for wall, word in words.items()}
    is_root = (os.geteuid() if user is None else user) == 0
    words["notRoot"] = "the server runs as root" if is_root else "on"
    walls["notRoot"] = not is_root
    gaps = tuple(f"{wall}: {words[wall]}" for wall in WALLS if not walls[wall])
    return Hardening(walls, words, gaps)
