"""What a reader says about a value that does not fit: one table for every door."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from interpreters.core.decoder_errors import UNREADABLE, misfit


class Part(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    replicas: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Whole(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    parts: list[Part] = []
    labels: dict[str, str] = {}
    short: Annotated[str, msgspec.Meta(max_length=3)] = ""
    amount: str | int | float = ""
    mode: Literal["on", "off"] = "off"


SAID = [
    # text, what is said of it
    ('{"parts": [{"name": 1}]}', "parts[0].name: expected text, got a whole number"),
    ('{"parts": [{"name": "a", "replicas": "two"}]}', "parts[0].replicas: expected a whole number, got text"),
    ('{"parts": [{"name": "a", "replicas": -1}]}', "parts[0].replicas: expected a whole number >= 0"),
    (
        '{"parts": [{"name": "a", "replicas": 1.5}]}',
        "parts[0].replicas: expected a whole number, got a number with a point",
    ),
    ('{"parts": [{}]}', "parts[0].name: expected a value, got nothing"),
    ('{"parts": [{"name": "a", "size": 1}]}', "parts[0].size: there is no such field"),
    ('{"part": []}', "part: there is no such field"),
    ('{"labels": {"a": true}}', "labels[...]: expected text, got true or false"),
    ('{"labels": null}', "labels: expected an object, got nothing"),
    ('{"short": "long text"}', "short: expected text of length <= 3"),
    ('{"amount": []}', "amount: expected a whole number or a number or text, got a list"),
    ('{"amount": 1e999}', "amount: a number too large for any reader of JSON"),
    ('{"mode": "up"}', "mode: invalid enum value 'up'"),
    ("[]", "expected an object, got a list"),
    ("{", "not JSON: Input data was truncated"),
    ("{} x", "not JSON: JSON is malformed: trailing characters (byte 4)"),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_a_misfit_is_named_by_field_expected_and_got(text: str, said: str) -> None:
    assert misfit(failing(text)) == said


ROOTS = [
    # text, arguments, what is said
    ('{"parts": [{"name": 1}]}', {"root": "podSpec"}, "podSpec.parts[0].name: expected text, got a whole number"),
    ('{"part": []}', {"root": "podSpec"}, "podSpec.part: there is no such field"),
    ("[]", {"root": "podSpec"}, "podSpec: expected an object, got a list"),
    ("[]", {"whole": "the body"}, "the body: expected an object, got a list"),
    ('{"parts": [{"name": 12}]}', {"by_hand": True},
     "parts[0].name: expected text, got a whole number; in YAML, y, yes, on and 12 are text only in quotes"),
    ('{"parts": 12}', {"by_hand": True}, "parts: expected a list, got a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arguments", "said"), ROOTS)
def test_the_root_and_whoever_wrote_it_are_told(text: str, arguments: dict[str, Any], said: str) -> None:
    assert misfit(failing(text), **arguments) == said


def test_a_key_that_is_no_text_is_named() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"labels": {1: "a"}}, Whole)
    assert misfit(caught.value) == "a key of labels: expected text, got a whole number"


def failing(text: str) -> Exception:
    with pytest.raises(UNREADABLE) as caught:
        msgspec.json.decode(text, type=Whole)
    return caught.value
