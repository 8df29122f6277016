"""Every Retain case is a case of idempotence, too: in `interp test`, and by name in `interp lint`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.interp.command import interp

KEEPS = "function Retain(desired, observed) desired.spec.replicas = observed.spec.replicas return desired end"
COUNTS = "function Retain(desired, observed) desired.spec.replicas = desired.spec.replicas + 1 return desired end"
FEEDS_BACK = "function Retain(desired, observed) desired.spec.replicas = observed.spec.replicas + 1 return desired end"
FROM_STATUS = "function Retain(desired, observed) desired.spec.replicas = observed.status.replicas return desired end"
FAILS = """function Retain(desired, observed)
  if desired.spec.replicas == 5 then error("seen already") end
  desired.spec.replicas = observed.spec.replicas
  return desired
end"""
AGAIN, APPLIED = "retained again", "retained after it was applied"


def scripted(folder: Path, script: str, replicas: int) -> Path:
    place = folder / "example.io" / "v1" / "Thing"
    place.mkdir(parents=True)
    (place / "interpreter.lua").write_text(script + "\n")
    desired = {"apiVersion": "example.io/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"replicas": 1}}
    observed = desired | {"spec": {"replicas": 5}, "status": {"replicas": 7}}
    case = {"name": "retain", "operation": "Retain", "object": desired, "observed": observed,
            "want": {"object": desired | {"spec": {"replicas": replicas}}}}  # fmt: skip
    (place / "cases.yaml").write_text(yaml.safe_dump([case]))
    return folder


@pytest.mark.parametrize(
    ("script", "first", "complaints"),
    [
        (KEEPS, 5, []),
        (FROM_STATUS, 7, []),
        (COUNTS, 2, [f"{AGAIN}: spec.replicas: want 2, got 3"]),
        (FEEDS_BACK, 6, [f"{APPLIED}: spec.replicas: want 6, got 7"]),
        (FAILS, 5, [f"{AGAIN}: want the same object, got "]),
    ],
    ids=["keeps", "from the status", "counts", "feeds back", "fails the second time"],
)
def test_a_retain_that_changes_its_mind_fails_its_case_and_is_linted(
    tmp_path: Path, script: str, first: int, complaints: list[str]
) -> None:
    folder = scripted(tmp_path, script, first)
    tested, linted = interp("test", folder), interp("lint", folder)
    assert (tested.code, linted.code) == ((1, 1) if complaints else (0, 0)), tested.out + linted.out
    for complaint in complaints:
        assert complaint in tested.out
        assert f"retain-not-idempotent: case 'retain': {complaint}" in linted.out
