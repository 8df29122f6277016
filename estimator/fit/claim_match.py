"""The answer to a node claim: which nodes it admits, and why not the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimator.fit.model import NodeReason

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """Which nodes a claim admits; for the others a reason each, as an index into `wordings`."""

    admitted: Mask
    refusal: NDArray[np.intp]
    wordings: tuple[str, ...]

    @property
    def count(self) -> int:
        return int(self.admitted.sum())

    def reasons(self) -> list[NodeReason]:
        """The refusals, counted, the commonest first."""
        counted = np.bincount(self.refusal[~self.admitted], minlength=len(self.wordings)).tolist()
        named = [NodeReason(wording, nodes) for wording, nodes in zip(self.wordings, counted, strict=True) if nodes]
        return sorted(named, key=lambda reason: (-reason.nodes, reason.reason))
