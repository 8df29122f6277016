"""An audit of files: bindings as `kubectl get` prints them, added up and compared with quotas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from estimator.accounting.audit.assembly import NEAR, build_report
from estimator.accounting.audit.findings import Findings
from estimator.accounting.audit.read_bindings import read_bindings
from estimator.accounting.audit.report import AuditReport, Origin
from estimator.accounting.audit.totals import Tally
from estimator.accounting.sources.quota_files import load_quotas
from estimator.quotas.objects import in_order
from interpreters.core.karmada.releases import NEWEST, Release
from interpreters.core.version import __version__


def audit_files(
    bindings: Sequence[str | Path],
    quotas: Sequence[str | Path] = (),
    *,
    near: float = NEAR,
    release: Release = NEWEST,
    multi_template_kinds: Collection[tuple[str, str]] = frozenset(),
) -> AuditReport:
    """What the bindings use and what is wrong with it, without asking any script. Raises `InputError`.

    Quotas may be among the bindings or in files of their own. `multi_template_kinds` are the (group, kind) whose
    bindings should have components: those without are a finding.
    """
    tally = Tally(multi_template_kinds=multi_template_kinds, release=release, findings=Findings(None))
    found = load_quotas(quotas) if quotas else []
    found += in_order(read_bindings(bindings, tally).quotas)
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    origin = Origin(at, ", ".join(map(str, bindings)), str(release), ", ".join(map(str, quotas)), __version__)
    return build_report(tally, found, near=near, origin=origin)
