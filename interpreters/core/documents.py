"""YAML and JSON text as Kubernetes reads it, and objects written so that it reads the same values back.

Several documents and `List` objects are taken apart; aliases may not blow a small text up into a huge object. What a
single scalar, key or tag means is in `yaml_values`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml

from interpreters.core.errors import DocumentError
from interpreters.core.yaml_values import FastestLoader, KubernetesDumper, KubernetesLoader

Document = dict[str, Any]

_LARGEST_EXPANSION: Final = 5_000_000  # values a document may hold once its aliases are written out
_LONGEST_EXPANSION: Final = 64 * 1024 * 1024  # characters of them beyond those of the text itself
_DEEPEST: Final = 300
_AFTER_BLANKS: Final = re.compile(r"\s*(?=\S)")
_DEEP_LINE: Final = re.compile(rf"^[ ?:-]{{{_DEEPEST // 2},}}", re.MULTILINE)


def dump_documents(documents: Iterable[Any]) -> str:
    """JSON values as YAML in the order given, `---` between documents, texts of several lines as blocks."""
    return "---\n".join(
        yaml.dump(
            document, Dumper=KubernetesDumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=110
        )
        for document in documents
    )


def load_documents(text: str | bytes, where: str = "", most: int | None = None) -> list[Document]:
    """The objects in a text, `List`s taken apart, empty documents left out. Raises `DocumentError`.

    `most` values may be in it, if somebody else wrote it: a megabyte of small ones takes hundreds of memory.
    """
    return [
        item
        for i, document in enumerate(load_values(text, where, most))
        for item in _items(document, where if i == 0 else f"{where}: document {i + 1}")
    ]


def load_values(text: str | bytes, where: str = "", most: int | None = None) -> list[Any]:
    """The documents in a text, whatever they hold; empty ones left out. Raises `DocumentError`."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DocumentError(where, f"not UTF-8 at byte {error.start}") from None
    if most is not None and _holds_more(text, most):
        raise DocumentError(where, f"holds more than {most} values")
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            if stream := _json_stream(text, where):
                return stream
        else:
            if not _has_duplicates(text, value):
                return [value]
    try:
        _refuse_depth(text, where)
        _refuse_version(text)
        documents = [document for document in yaml.load_all(text, KubernetesLoader) if document is not None]
    except yaml.MarkedYAMLError as error:
        raise _mistake(error, text, where) from None
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(where, " ".join(str(error).split())) from None
    except RecursionError:
        raise DocumentError(where, "nested too deep, or an alias that contains itself") from None
    for document in documents:
        _refuse_expansion(document, len(text), where)
    return documents


def _holds_more(text: str, most: int) -> bool:
    """Whether a text holds more values than that, found out before any is built. Each is behind a character of these;
    a text that has many for other reasons, such as scripts in it, is looked at more closely."""
    if sum(map(text.count, "[{,:-\n")) < most:
        return False
    values = 0
    try:
        for event in yaml.parse(text, FastestLoader):
            values += isinstance(event, yaml.NodeEvent | yaml.DocumentStartEvent)
            if values > most:
                return True
    except yaml.YAMLError:
        pass  # its reader says what is wrong
    return False


def _mistake(error: yaml.MarkedYAMLError, text: str, where: str) -> DocumentError:
    mark, problem = error.problem_mark, error.problem or "not YAML"
    if mark is None:
        return DocumentError(where, problem)
    line = "".join(text.split("\n")[mark.line : mark.line + 1])
    if "tab character" in problem or line.startswith("\t", mark.column):
        problem = "a tab; YAML is indented with blanks"
    elif problem == "found unexpected ':'":
        problem = (
            "a colon with a bracket or comma behind it, which Kubernetes takes for text; put quotes or a blank there"
        )
    return DocumentError(f"{where}:{mark.line + 1}:{mark.column + 1}", problem)


def _has_duplicates(text: str, value: Any) -> bool:
    """Whether a JSON text has a duplicate key: its value, which has only the last, is then written with fewer quotes.

    That costs a tenth of what looking at every key would. Which key it is and where, the YAML reader knows.
    """
    return _quotes(text) != _quotes(msgspec.json.encode(value).decode())


def _quotes(text: str) -> int:
    """How many quotes begin or end a text."""
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    return text.count('"')


def _json_stream(text: str, where: str) -> list[Any]:
    """JSON values one after another, as `jq` prints them; none if there is anything else.

    YAML's flow style starts alike, and the YAML reader's message has a line number.
    """
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            raise DocumentError(f"{where}: document {len(values) + 1}", f'duplicate key "{twice}"')
        return found

    def finite(number: str) -> float:
        if math.isinf(value := float(number)):
            raise DocumentError(f"{where}: document {len(values) + 1}", f"the number {number:.40} is out of range")
        return value

    values: list[Any] = []
    at = 0
    # int("NaN") raises: no number here
    decoder = json.JSONDecoder(parse_constant=int, parse_float=finite, object_pairs_hook=unique)
    try:
        while start := _AFTER_BLANKS.match(text, at):
            value, at = decoder.raw_decode(text, start.end())
            values.append(value)
    except (ValueError, RecursionError):
        return []
    return values


def _items(document: Any, where: str) -> list[Document]:
    if isinstance(document, list):
        return [item for element in document for item in _items(element, where)]
    if not isinstance(document, dict):
        raise DocumentError(where, f"expected an object, got {document!r:.40}")
    if not str(document.get("kind", "")).endswith("List") or not isinstance(document.get("items"), list):
        return [document]
    kind = document["kind"].removesuffix("List")
    defaults = {"apiVersion": document.get("apiVersion"), "kind": kind} if kind else {}
    return [item for element in document["items"] for item in _items(_with(defaults, element), where)]


def _with(defaults: Document, element: Any) -> Any:
    """A typed list (`DeploymentList`) leaves apiVersion and kind out of its items."""
    return defaults | element if isinstance(element, dict) else element


def _refuse_depth(text: str, where: str) -> None:
    """libyaml recurses once per level and would overrun the stack, so depth is checked on the flat stream of events.

    Most texts cannot be deep: nesting needs a bracket or leads a line with one more blank, dash or question mark.
    """
    if text.count("[") + text.count("{") < _DEEPEST and not _DEEP_LINE.search(text):
        return
    depth = 0
    for event in yaml.parse(text, FastestLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise DocumentError(where, f"nested deeper than {_DEEPEST}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_version(text: str) -> None:
    """Kubernetes reads YAML 1.1, in which `yes` is true, and refuses a document that says it is of another version."""
    events = yaml.parse(text, FastestLoader) if "%YAML" in text else ()
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent) and event.version not in (None, (1, 1)):
            version = ".".join(map(str, event.version))
            mark: Any = event.start_mark
            problem = f"YAML {version}, which Kubernetes refuses; take the %YAML line away"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _refuse_expansion(document: Any, length: int, where: str) -> None:
    sizes: dict[int, tuple[int, int]] = {}

    def size(value: Any, depth: int) -> tuple[int, int]:
        """Values and characters of them."""
        if not isinstance(value, dict | list):
            return 1, len(value) if isinstance(value, str) else 0
        if depth > _DEEPEST:
            raise DocumentError(where, f"nested deeper than {_DEEPEST}, or an alias that contains itself")
        known = sizes.get(id(value))
        if known is None:
            children = [size(child, depth + 1) for child in (value.values() if isinstance(value, dict) else value)]
            keys = sum(map(len, value)) if isinstance(value, dict) else 0
            known = sizes[id(value)] = (
                1 + sum(values for values, _ in children), keys + sum(characters for _, characters in children)
            )  # fmt: skip
        return known

    values, characters = size(document, 0)
    if values > _LARGEST_EXPANSION:
        raise DocumentError(where, f"its aliases expand to more than {_LARGEST_EXPANSION} values")
    if characters > length + _LONGEST_EXPANSION:
        raise DocumentError(where, f"its aliases expand to {_LONGEST_EXPANSION} characters more than it has")
