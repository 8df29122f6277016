"""Kinds named on the command line by patterns: `FlinkDeployment`, `ray.io/*/*`, `kubeflow.org/TFJob`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from interpreters.core.errors import UnknownTargetError
from interpreters.core.kinds import GroupVersionKind


def split_patterns(texts: Iterable[str | None]) -> list[str]:
    """Patterns out of options that may be repeated and may hold several, separated by commas."""
    return [pattern for text in texts for word in (text or "").split(",") if (pattern := word.strip())]


def matcher(patterns: Collection[str]) -> Callable[[GroupVersionKind], bool]:
    """Whether a kind is meant: by its name alone, `group/version/Kind`, or `group/Kind`, each with * and ?."""

    def matches(kind: GroupVersionKind) -> bool:
        spellings = (kind.kind, kind.folder, f"{kind.group}/{kind.kind}")
        return any(fnmatchcase(spelling, pattern) for spelling in spellings for pattern in patterns)

    return matches


def refuse_unknown(option: str, patterns: Collection[str], known: Collection[GroupVersionKind]) -> None:
    """Raise for a pattern that means no kind at all: a typing error would leave a kind out in silence."""
    for pattern in patterns:
        if not any(map(matcher([pattern]), known)):
            near = get_close_matches(pattern, sorted({kind.kind for kind in known}), n=1)
            hint = f"did you mean {near[0]}?" if near else "`interp list` shows them all"
            raise UnknownTargetError(f'{option}: no script knows "{pattern}"; {hint}')
