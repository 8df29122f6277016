"""YAML and JSON text as Kubernetes reads it, and objects written so that it reads the same values back.

Several documents and `List` objects are taken apart; aliases may not blow a small text up into a huge object. What a
single scalar, key or tag means is in `yaml_values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml

from interpreters.core.errors import DocumentError
from interpreters.core.yaml_values import FastestLoader, KubernetesDumper, KubernetesLoader

Document = dict[str, Any]

_LARGEST_EXPANSION: Final = 5_000_000  # values a document may hold once its aliases are written out
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


def load_documents(text: str | bytes, where: str = "") -> list[Document]:
    """The objects in a text, `List`s taken apart, empty documents left out. Raises `DocumentError`."""
    return [
        item
        for i, document in enumerate(load_values(text, where))
        for item in _items(document, where if i == 0 else f"{where}: document {i + 1}")
    ]


def load_values(text: str | bytes, where: str = "") -> list[Any]:
    """The documents in a text, whatever they hold; empty ones left out. Raises `DocumentError`."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DocumentError(where, f"not UTF-8 at byte {error.start}") from None
    if text.lstrip()[:1] in ("{", "["):
        try:
            return [msgspec.json.decode(text)]
        except (msgspec.DecodeError, RecursionError):
            stream = _json_stream(text)
        if stream:
            return stream
    try:
        _refuse_depth(text, where)
        documents = [document for document in yaml.load_all(text, KubernetesLoader) if document is not None]
    except yaml.MarkedYAMLError as error:
        raise _mistake(error, text, where) from None
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(where, " ".join(str(error).split())) from None
    except RecursionError:
        raise DocumentError(where, "nested too deep, or an alias that contains itself") from None
    for document in documents:
        _refuse_expansion(document, where)
    return documents


def _mistake(error: yaml.MarkedYAMLError, text: str, where: str) -> DocumentError:
    mark, problem = error.problem_mark, error.problem or "not YAML"
    if mark is None:
        return DocumentError(where, problem)
    line = "".join(text.split("\n")[mark.line : mark.line + 1])
    if "tab character" in problem or line.startswith("\t", mark.column):
        problem = "a tab; YAML is indented with blanks"
    return DocumentError(f"{where}:{mark.line + 1}:{mark.column + 1}", problem)


def _json_stream(text: str) -> list[Any]:
    """JSON values one after another, as `jq` prints them; none if there is anything else.

    YAML's flow style starts alike, and the YAML reader's message has a line number.
    """
    import json

    decoder, values, at = json.JSONDecoder(parse_constant=int), [], 0  # NaN is no number here: int("NaN") raises
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


def _refuse_expansion(document: Any, where: str) -> None:
    sizes: dict[int, int] = {}

    def size(value: Any, depth: int) -> int:
        if not isinstance(value, dict | list):
            return 1
        if depth > _DEEPEST:
            raise DocumentError(where, f"nested deeper than {_DEEPEST}, or an alias that contains itself")
        known = sizes.get(id(value))
        if known is None:
            children = value.values() if isinstance(value, dict) else value
            known = sizes[id(value)] = 1 + sum(size(child, depth + 1) for child in children)
        return known

    if size(document, 0) > _LARGEST_EXPANSION:
        raise DocumentError(where, f"its aliases expand to more than {_LARGEST_EXPANSION} values")
