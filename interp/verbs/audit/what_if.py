"""Reading what `audit --with` is given: workloads for their scripts, bindings and quotas, from files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interp.scripts.object_demands import ObjectDemands
from interpreters.core.decoder_errors import misfit
from interpreters.core.errors import DocumentError, InterpError

if TYPE_CHECKING:
    from estimator.accounting.audit.what_if import Changes
    from estimator.accounting.demand import Demand


def read_changes(paths: Sequence[str], demands: ObjectDemands, clusters: int | None) -> Changes:
    """What would be applied. Objects that are neither of these, such as Services, cost no quota and are left out.

    Raises `InputError`: what a workload costs that no script can tell would be missing in silence."""
    import msgspec

    from estimator.accounting.audit.what_if import Changes
    from estimator.accounting.demand import Binding, WorkloadKey, decode_binding
    from estimator.accounting.sources.file_errors import kind_of, numbered
    from estimator.accounting.sources.object_stream import files_in, stream_objects
    from estimator.accounting.sources.quota_files import decode_quota
    from estimator.placement.bindings import in_namespace
    from estimator.quotas.objects import QUOTA_KINDS
    from interpreters.core.karmada.api import BINDING_KINDS
    from interpreters.files import name_of

    told: dict[WorkloadKey, Demand] = {}
    bindings: dict[WorkloadKey, Binding] = {}
    quotas = []
    for file in files_in(paths):
        for place, text in numbered(name_of(file), stream_objects(file)):
            kind = kind_of(text)
            if kind in QUOTA_KINDS:
                quotas.append(decode_quota(place, text))
            elif kind in BINDING_KINDS:
                try:
                    binding = decode_binding(text)
                except msgspec.DecodeError as error:
                    raise DocumentError(place, misfit(error, by_hand=True)) from None
                bindings[binding.workload] = binding
            else:
                try:
                    obj = in_namespace(msgspec.json.decode(text, type=dict))
                    workload = WorkloadKey.of(obj)
                except InterpError as error:
                    raise DocumentError(place, str(error)) from None
                if demands.is_workload(workload.group, workload.kind):
                    told[workload] = _demand(place, demands, obj)
    if not (told or bindings or quotas):
        given = ", ".join(map(name_of, paths))
        raise DocumentError(given, "expected workloads that a script knows, bindings or quotas, got none of them")
    return Changes(told, bindings, quotas, clusters)


def _demand(place: str, demands: ObjectDemands, obj: dict[str, object]) -> Demand:
    try:
        found = demands.of_object(obj)
    except InterpError as error:
        raise DocumentError(place, str(error)) from error
    if found is None:
        raise DocumentError(place, "no script says what pods it stands for")
    return found
