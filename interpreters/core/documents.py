"""YAML and JSON text as Kubernetes reads it: several documents, `List` objects, and YAML's surprises settled.

Timestamps and `22:22` stay text, `1e3` is a number, `y` and `on` are true, keys are text, a duplicate key is an error,
and aliases may not blow a small text up into a huge object.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import msgspec
import yaml

from interpreters.core.errors import DocumentError

Document = dict[str, Any]

_LARGEST_EXPANSION: Final = 5_000_000  # values a document may hold once its aliases are written out
_DEEPEST: Final = 300
_DEEP_LINE: Final = re.compile(rf"^[ ?:-]{{{_DEEPEST // 2},}}", re.MULTILINE)

try:
    _FastestLoader: Any = yaml.CSafeLoader
except AttributeError:  # PyYAML built without libyaml
    _FastestLoader = yaml.SafeLoader


class _KubernetesLoader(_FastestLoader):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        if isinstance(node, yaml.MappingNode):
            _refuse_duplicates(self, node)
            self.flatten_mapping(node)
        return {self._key(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def _key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag == _NULL:
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=node.start_mark)
        key = self.construct_object(node)
        if isinstance(key, bool):
            return "true" if key else "false"
        return key if isinstance(key, str) else str(node.value)


_NULL: Final = "tag:yaml.org,2002:null"


def _refuse_duplicates(loader: _KubernetesLoader, node: Any) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            continue
        name = loader._key(key)
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f'the key "{name}" stands twice', problem_mark=key.start_mark)
        seen.add(name)


def _whole_number(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node).replace("_", "")
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    for prefix, base in (("0x", 16), ("0b", 2), ("0o", 8)):
        if digits.startswith(prefix):
            return sign * int(digits[2:], base)
    return sign * (int(digits, 8) if digits.startswith("0") and len(digits) > 1 else int(digits))


def _fraction(loader: Any, node: Any) -> float | int:
    text = loader.construct_scalar(node).replace("_", "")
    number = math.inf if "n" in text.lower() else float(text)
    if not math.isfinite(number):
        raise yaml.MarkedYAMLError(problem="infinity and NaN do not exist in JSON", problem_mark=node.start_mark)
    # 1e3 and 08 are whole numbers to Kubernetes; 2.0 stays what it is.
    is_whole = ("." not in node.value or "e" in node.value.lower()) and number.is_integer() and abs(number) < 2**63
    return int(number) if is_whole else number


_FLOAT: Final = (
    r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)  # fmt: skip

for _tag, _first, _pattern in (
    ("null", "~nN\0", r"~|null|Null|NULL|"),
    ("bool", "yYnNtTfFoO", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"),
    ("int", "-+0123456789", r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)"),
    ("float", "-+.0123456789", _FLOAT),
    ("merge", "<", r"<<"),
):  # fmt: skip
    _KubernetesLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), ["" if c == "\0" else c for c in _first]
    )
_KubernetesLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_KubernetesLoader.add_constructor("tag:yaml.org,2002:float", _fraction)
_KubernetesLoader.add_constructor(
    "tag:yaml.org,2002:bool", lambda loader, node: loader.construct_scalar(node).lower() in ("y", "yes", "true", "on")
)
_KubernetesLoader.add_constructor("tag:yaml.org,2002:merge", lambda loader, node: loader.construct_scalar(node))


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
            pass  # YAML's flow style starts alike, and the YAML reader's message has a line number
    try:
        _refuse_depth(text, where)
        documents = [document for document in yaml.load_all(text, _KubernetesLoader) if document is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        position = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise DocumentError(f"{where}{position}", error.problem or "not YAML") from None
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(where, " ".join(str(error).split())) from None
    except RecursionError:
        raise DocumentError(where, "nested too deep, or an alias that contains itself") from None
    for document in documents:
        _refuse_expansion(document, where)
    return documents


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
    for event in yaml.parse(text, _FastestLoader):
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
