"""Registering, removing and touching on an API server that has more in it, changes meanwhile, refuses or hangs up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interp.verbs.register import command
from tests.webhook.api_server import ApiServer, api_server
from tests.webhook.test_apply import ACTS, CAST, CONFIGURATION, CONFIGURATIONS, DIVIDED, RULE, apply, hold, registration

ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/interp-admission"
HELD_BY_OTHERS = {
    "metadata": {"name": "interp"},
    "webhooks": [{"name": "a.b.c", "clientConfig": {"url": "https://theirs:9443/x"}, "rules": []}],
}
STRANGER = "does not look as if interp had made it: it calls theirs:9443, without a label"
ON = ("--feature-gates", "MultiplePodTemplatesScheduling=true")


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    with api_server(tmp_path) as file:
        yield file


def remove(kubeconfig: Path, *more: str) -> Any:
    return CliRunner().invoke(command, ["--remove", "--kubeconfig", str(kubeconfig), *more])


STANDING = [  # what stands there by our name, what is said of it before anything is applied
    (HELD_BY_OTHERS, f"{STRANGER} app.kubernetes.io/managed-by=interp; it would be replaced, and --name gives ours"),
    (registration(url="https://other:8443/interpret"), "calls other:8443 now and would call localhost:8443 instead"),
    (registration(url="https://localhost:8443/interpret/s3cret"), ""),
]


@pytest.mark.parametrize(("standing", "said"), STANDING)
def test_who_is_called_today_is_not_replaced_without_yes(kubeconfig: Path, standing: dict[str, Any], said: str) -> None:
    ApiServer.held[CONFIGURATION] = standing
    result = apply(kubeconfig)
    assert (result.exit_code, bool(ApiServer.received)) == ((1, False) if said else (0, True)), result.output
    assert said in result.output
    assert apply(kubeconfig, "--yes").exit_code == 0


def test_what_changed_after_it_was_looked_at_is_left_alone(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATION] = registration()
    ApiServer.answers["PATCH", CONFIGURATION] = (409, {"message": "the object has been modified"})
    result = apply(kubeconfig)
    assert "changed after it was looked at; nothing was applied to it, run the same again" in str(result.exception)
    ((_, _, body),) = ApiServer.received
    assert body["metadata"]["resourceVersion"] == "7"


def test_what_was_done_is_said_also_if_the_rest_fails(kubeconfig: Path) -> None:
    ApiServer.answers["PATCH", ADMISSION] = (0, None)
    result = apply(kubeconfig, "--admission")
    assert "resourceinterpreterwebhookconfigurations/interp applied to" in result.output
    assert "no answer: Server disconnected; it may have been done all the same" in str(result.exception)
    ApiServer.held |= {CONFIGURATION: registration(), ADMISSION: registration()}
    ApiServer.answers = {("DELETE", ADMISSION): (403, {"message": "no"})}
    result = remove(kubeconfig)
    assert "resourceinterpreterwebhookconfigurations/interp removed from" in result.output
    assert str(result.exception) == f"DELETE {ADMISSION}: HTTP 403: no"


GONE = {"message": "the server could not find the requested resource"}
LOST = [  # the request, its answer, what is said
    ("GET", CONFIGURATION, (0, None), "cannot be read: Server disconnected"),
    ("GET", CONFIGURATION, (200, []), "the answer: expected an object, got a list"),
    ("GET", CONFIGURATIONS, (200, []), "the answer: expected an object, got a list"),
    ("PATCH", CONFIGURATION, (404, GONE), "could not find the requested resource; is http://127.0.0.1:"),
    ("PATCH", CONFIGURATION, (0, None), "no answer: Server disconnected"),
]


@pytest.mark.parametrize(("method", "path", "answer", "said"), LOST)
def test_a_server_that_does_not_answer_as_karmada_does_is_said_to_be_so(
    kubeconfig: Path, method: str, path: str, answer: tuple[int, Any], said: str
) -> None:
    ApiServer.answers[method, path] = answer
    assert said in str(apply(kubeconfig).exception)


def test_what_somebody_else_made_is_removed_only_by_yes(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATION] = HELD_BY_OTHERS
    result = remove(kubeconfig)
    assert (result.exit_code, ApiServer.received) == (1, [])
    assert STRANGER in result.output
    assert "nothing was removed; --yes removes it all the same" in result.output
    assert remove(kubeconfig, "--yes").exit_code == 0
    assert [path for path, _, _ in ApiServer.received] == [CONFIGURATION]


def test_removing_what_is_not_there_names_what_is(kubeconfig: Path) -> None:
    ApiServer.held[CONFIGURATIONS] = {"items": [registration(), HELD_BY_OTHERS | {"metadata": {"name": "theirs"}}]}
    result = remove(kubeconfig, "--name", "intrep.x")
    assert (result.exit_code, ApiServer.received) == (0, [])
    assert "nothing was registered by the name intrep; by interp is interp; --name says which" in result.output


@pytest.mark.parametrize("name", [".x", "", "a/b.c", "..", "../x", "A.b", "*.x", "interp/", "x y"])
def test_what_is_no_name_removes_nothing(kubeconfig: Path, name: str) -> None:
    """An empty name would be the path of all configurations there are."""
    ApiServer.held[f"{CONFIGURATIONS}/"] = {"items": [registration()]}
    result = remove(kubeconfig, "--yes", "--name", name)
    assert "the webhook's name must be lower-case words joined by dots" in str(result.exception)
    assert ApiServer.received == []


def test_what_falls_out_of_the_registration_is_named_and_so_are_its_bindings(kubeconfig: Path) -> None:
    """The kind was registered by an earlier run, and this one leaves it out."""
    hold(DIVIDED, ["InterpretReplica", "ReviseReplica"])
    result = apply(kubeconfig, "--operations", "InterpretHealth", "--feature-gates", f"{ON[1][:-4]}false")
    assert result.exit_code == 1, result.output
    assert "no longer registered: stage.example.org/v1 Act: InterpretReplica, ReviseReplica" in result.output
    assert "Act globe/hamlet: it is divided now (east 4, west 2) and would go whole" in result.output


def test_a_division_that_is_lost_with_the_gate_on_or_off_is_named_once(kubeconfig: Path) -> None:
    hold(DIVIDED, ["InterpretReplica", "ReviseReplica"])
    result = apply(kubeconfig, "--operations", "InterpretHealth")
    assert result.output.count("Act globe/hamlet: it is divided now") == 1


ANOTHER = {**RULE, "operations": ["InterpretReplica"]}
WHO = [  # the other webhook's name, if it is one, and who answers once we do not
    ("later", "the webhook of later answers InterpretReplica for it, no longer interp"),
    ("", "it is divided now (east 4, west 2) and would go whole"),
]


@pytest.mark.parametrize(("name", "said"), WHO)
def test_who_answers_afterwards_is_named(kubeconfig: Path, name: str, said: str) -> None:
    hold(DIVIDED, ["InterpretReplica"])
    other = {"metadata": {"name": name}, "webhooks": [{"rules": [ANOTHER]}]}
    ApiServer.held[CONFIGURATIONS] = {"items": [other] if name else []}
    result = apply(kubeconfig, "--operations", "InterpretHealth", "--feature-gates", f"{ON[1][:-4]}false")
    assert f"Act globe/hamlet: {said}" in result.output


def acts(count: int) -> list[dict[str, Any]]:
    return [{"metadata": {"namespace": "globe", "name": f"a{number}"}, "spec": {}} for number in range(count)]


DENIED = (403, {"message": 'admission webhook "x" denied the request'})
TOUCHED = [  # how many there are, the answers to some, the exit code, what is said, how many patches were sent
    (3, {}, 0, "asking again about 3 objects", 6),
    (3, {1: (404, {})}, 0, "asking again about 2 objects", 5),  # deleted since they were listed
    (3, {1: DENIED}, 1, f"acts/a1: HTTP 403: {DENIED[1]['message']}", 5),
    (40, dict.fromkeys(range(40), DENIED), 1, "asking again about 0 objects", 10),
    (3, {2: (0, None)}, 1, "2 of 3 objects were touched before", 5),
    (250, {}, 0, "touching 250 objects, about ten a second", 500),
]


@pytest.mark.parametrize(("count", "answers", "code", "said", "patches"), TOUCHED)
def test_an_object_that_cannot_be_touched_stops_none_of_the_others(
    kubeconfig: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    answers: dict[int, Any],
    code: int,
    said: str,
    patches: int,
) -> None:
    monkeypatch.setattr("estimator.clusters.apiserver.Throttle.take", lambda throttle: 0.0)
    hold(CAST, ["InterpretComponent"])
    ApiServer.held[ACTS] = {"items": acts(count)}
    path = "/apis/stage.example.org/v1/namespaces/globe/acts/a{}"
    ApiServer.answers = {("PATCH", path.format(number)): answer for number, answer in answers.items()}
    result = apply(kubeconfig, "--touch")
    assert result.exit_code == code, result.output
    assert said in result.output + str(result.exception)
    assert len(ApiServer.received) == patches + 1  # the configuration
