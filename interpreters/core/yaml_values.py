"""How a YAML scalar, key or tag becomes a JSON value to Kubernetes, and which texts must be quoted to stay text.

Timestamps and `22:22` stay text, `1e3` is a number, `y` and `on` are true, keys are text, tags of other languages mean
nothing, and a duplicate key is an error.
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any, Final

import yaml

try:
    FastestLoader: Any = yaml.CSafeLoader
    FastestDumper: Any = yaml.CSafeDumper
except AttributeError:  # PyYAML built without libyaml
    FastestLoader, FastestDumper = yaml.SafeLoader, yaml.SafeDumper


class KubernetesLoader(FastestLoader):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}

    merged = 0  # pairs taken over from other mappings so far

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise yaml.MarkedYAMLError(problem="tagged !!map and no mapping", problem_mark=node.start_mark)
        _refuse_duplicates(self, node)
        self.flatten_mapping(node)
        return {self._key(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def flatten_mapping(self, node: Any) -> None:
        """Put what `<<` merges in where it stands: a mapping's own keys win, then those of the mappings named first.

        Each key is taken over once, and all of them together are counted: mappings that merge each other would
        otherwise grow with every level.
        """
        if not any(key.tag == _MERGE for key, _ in node.value):
            return
        own = [pair for pair in node.value if pair[0].tag != _MERGE]
        sources = [source for key, value in node.value if key.tag == _MERGE for source in _sources(value)]
        node.value = own  # already now, for one that merges itself
        seen = {self._key(key) for key, _ in own}
        merged = []
        for source in sources:
            self.flatten_mapping(source)
            self.merged += len(source.value)
            if self.merged > MOST_MERGED:
                problem = f"merge keys (<<) that take over more than {MOST_MERGED} values"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
            for key, value in source.value:
                name = self._key(key)
                if name not in seen:
                    seen.add(name)
                    merged.append((key, value))
        node.value = merged + own

    def _key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag == _NULL:
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=node.start_mark)
        key = self.construct_object(node)
        if isinstance(key, bool):
            return "true" if key else "false"
        return key if isinstance(key, str) else repr(key).removesuffix(".0")


_NULL: Final = "tag:yaml.org,2002:null"
_MERGE: Final = "tag:yaml.org,2002:merge"
MOST_MERGED: Final = 100_000  # values that merge keys take over, in all documents of a text


def _sources(node: Any) -> list[Any]:
    """The mappings that the value of a merge key names."""
    found = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for one in found:
        if not isinstance(one, yaml.MappingNode):
            problem = "a merge key (<<) takes a mapping or a list of mappings"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=one.start_mark)
    return found


def _refuse_duplicates(loader: KubernetesLoader, node: Any) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.tag == _MERGE:
            continue
        name = loader._key(key)
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f'duplicate key "{name}"', problem_mark=key.start_mark)
        seen.add(name)


_BASES: Final = {"0x": 16, "0b": 2, "0o": 8}
_MOST_DIGITS: Final = 4000  # Python takes few more, since reading them takes their number squared


def _whole_number(loader: Any, node: Any) -> int:
    text = loader.construct_scalar(node).replace("_", "").lower()
    if len(text) > _MOST_DIGITS:
        problem = f"a number of more than {_MOST_DIGITS} digits; put quotes around it if it is text"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.lstrip("+"))
    base = next((base for prefix, base in _BASES.items() if digits.startswith(prefix)), None)
    try:
        if base is not None:
            return sign * int(digits[2:], base)
        return sign * int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
    except ValueError:
        raise yaml.MarkedYAMLError(problem="tagged !!int and no whole number", problem_mark=node.start_mark) from None


def _fraction(loader: Any, node: Any) -> float | int | str:
    text = loader.construct_scalar(node).replace("_", "").lower()
    if "n" in text:
        raise yaml.MarkedYAMLError(problem="infinity and NaN do not exist in JSON", problem_mark=node.start_mark)
    try:
        number = float(text)
    except ValueError:
        raise yaml.MarkedYAMLError(problem="tagged !!float and no number", problem_mark=node.start_mark) from None
    if not math.isfinite(number):
        return str(node.value)  # 1e999 is no number to Kubernetes either
    # 1e3 and 08 are whole numbers to Kubernetes; 2.0 stays what it is.
    is_whole = ("." not in text or "e" in text) and number.is_integer() and abs(number) < 2**63
    return int(number) if is_whole else number


def _binary(loader: Any, node: Any) -> str:
    try:
        return base64.b64decode("".join(loader.construct_scalar(node).split()), validate=True).decode(errors="replace")
    except ValueError:
        raise yaml.MarkedYAMLError(problem="not base64", problem_mark=node.start_mark) from None


def _untagged(loader: Any, node: Any) -> Any:
    """What a value is without its tag: text, a list or a mapping."""
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


# A sign comes together with the underscores behind it: in `_*[-+]?_*` each way to split a long run would be tried.
_INT: Final = (
    r"[-+]?_*(?:0_*[bB]_*(?:[-+]_*)?[01][01_]*|0_*[xX]_*[0-9a-fA-F][0-9a-fA-F_]*|0_*[oO]_*[0-7][0-7_]*"
    r"|0[0-7_]*|[1-9][0-9_]*)"
)
_FLOAT: Final = (
    r"(?:[-+]_*\._*[0-9][0-9_]*|\.[0-9](?:_?[0-9])*|[-+]?_*[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE]_*(?:[-+]_*)?[0-9][0-9_]*)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

for _tag, _first, _pattern in (
    ("null", "~nN\0", r"~|null|Null|NULL|"),
    ("bool", "yYnNtTfFoO", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"),
    ("int", "-+0123456789", _INT),
    ("float", "-+.0123456789", _FLOAT),
    ("merge", "<", r"<<"),
):  # fmt: skip
    KubernetesLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), ["" if c == "\0" else c for c in _first]
    )
for _tag, _constructor in {
    "int": _whole_number,
    "float": _fraction,
    "bool": lambda loader, node: loader.construct_scalar(node).lower() in ("y", "yes", "true", "on"),
    "binary": _binary,
    **dict.fromkeys(("merge", "timestamp", "set", "omap", "pairs"), _untagged),
}.items():
    KubernetesLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _constructor)
KubernetesLoader.add_constructor(None, _untagged)


def reads_as_text(text: str) -> bool:
    """Whether a plain scalar means itself: `yes`, `1e3` and the empty one do not."""
    candidates = KubernetesLoader.yaml_implicit_resolvers.get(text[:1], ())
    return not any(pattern.match(text) for _, pattern in candidates)


class KubernetesDumper(FastestDumper):  # type: ignore[misc]
    yaml_implicit_resolvers = KubernetesLoader.yaml_implicit_resolvers

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> Any:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    def represent_number(self, number: float) -> Any:
        text = f"{number:.1f}" if number.is_integer() and abs(number) < 2**63 else repr(number)
        return self.represent_scalar("tag:yaml.org,2002:float", text)


KubernetesDumper.add_representer(str, KubernetesDumper.represent_text)
KubernetesDumper.add_representer(float, KubernetesDumper.represent_number)
