"""Scripts and case tables in Karmada's own formats: ResourceInterpreterCustomizations and their test data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from interpreters.cases import Case
from interpreters.catalog import Offer
from interpreters.core.division import DIVISION_KEY
from interpreters.core.errors import InputError
from interpreters.core.karmada.api import CUSTOMIZATION
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.languages import LANGUAGES
from interpreters.core.operations import Answer, Argument, Operation
from interpreters.headers import ANNOTATION_PREFIX

_OUTPUT_OF_ANSWER: Final[Mapping[Answer, Mapping[str, str]]] = {
    Answer.REPLICAS: {"replicas": "replica", "replicaRequirements": "requires"},
    Answer.COMPONENTS: {"components": "components"},
    Answer.STATUS: {"rawStatus": "status"},
    Answer.HEALTH: {"healthy": "healthy"},
    Answer.DEPENDENCIES: {"dependencies": "dependencies"},
}
_CHANGED_OBJECT: Final = {
    Argument.REPLICAS: "revised",
    Argument.OBSERVED: "retained",
    Argument.STATUS: "aggregatedStatus",
}
_OF_MEMBER: Final = (Answer.STATUS, Answer.HEALTH)  # asked about the object in the member cluster


def customization(kind: GroupVersionKind, offers: Iterable[Offer]) -> dict[str, Any]:
    """The document that makes Karmada itself run these scripts for a kind, one self-contained script a rule."""
    offers = list(offers)
    declared = {offer.candidate.header.first(DIVISION_KEY) for offer in offers}
    annotations = {f"{ANNOTATION_PREFIX}{DIVISION_KEY}": value for value in sorted(filter(None, declared))[:1]}
    rules = {offer.operation.rule: {"luaScript": _script(kind, offer)} for offer in offers if offer.operation.rule}
    return {
        "apiVersion": CUSTOMIZATION.api_version,
        "kind": CUSTOMIZATION.kind,
        "metadata": {
            "name": f"{kind.kind}.{kind.version}.{kind.group or 'core'}".lower(),
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": {"target": {"apiVersion": kind.api_version, "kind": kind.kind}, "customizations": rules},
    }


def _script(kind: GroupVersionKind, offer: Offer) -> str:
    from interpreters.lua.excerpt import excerpt

    if not LANGUAGES[offer.script.language].runs_in_karmada:
        raise InputError(
            f"{offer.script.name}: {offer.operation} of {kind} is in {offer.script.language}, Karmada runs Lua; "
            "leave the kind out or write the operation in Lua"
        )
    name = offer.operation.function
    alias = "" if offer.function == name else f"\n{name} = {offer.function}\n"
    head = f"-- {name} of {kind}, made by interp export from {offer.script.name}.\n"
    return head + excerpt(offer.script.text, offer.function).rstrip("\n") + "\n" + alias


def karmada_tests(cases: Iterable[Case]) -> dict[str, list[dict[str, Any]]]:
    """Cases by the test file they go to. Karmada compares whole answers, so partial ones and errors stay behind."""
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        if case.want is not None and not case.partial and case.operation.rule:
            files[f"{case.operation.name.lower()}-test.yaml"].append(_test(case))
    return dict(files)


def _test(case: Case) -> dict[str, Any]:
    field = "observedObj" if case.operation.answer in _OF_MEMBER else "desiredObj"
    test: dict[str, Any] = {"name": case.name, field: case.object}
    if Argument.OBSERVED in case.operation.arguments:
        test["observedObj"] = case.observed
    if Argument.STATUS in case.operation.arguments and case.status is not None:
        test["statusItems"] = case.status
    if Argument.REPLICAS in case.operation.arguments:
        test["inputReplicas"] = case.replicas
    return test | {"operation": case.operation.name, "output": _output(case.operation, case.want or {})}


def _output(operation: Operation, want: dict[str, Any]) -> dict[str, Any]:
    if operation.answer is not Answer.OBJECT:
        return {_OUTPUT_OF_ANSWER[operation.answer][field]: _kept(value) for field, value in want.items()}
    return {
        _CHANGED_OBJECT[argument]: _kept(want.get("object"), empty=argument is not Argument.STATUS)
        for argument in operation.arguments[1:]
    }


def _kept(value: Any, *, empty: bool = False) -> Any:
    """What of a value Karmada's Lua hands back: no nulls, and empty maps and lists from some operations only."""
    if isinstance(value, list):
        return [_kept(item, empty=empty) for item in value]
    if not isinstance(value, dict):
        return value
    lost: list[Any] = [None] if empty else [None, {}, []]
    return {key: _kept(item, empty=empty) for key, item in value.items() if item not in lost}
