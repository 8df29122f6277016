"""Objects come out of files whole, whatever the file's shape and however it is cut into chunks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.accounting.sources.object_stream import files_in, stream_objects
from interpreters.core.errors import DocumentError

ITEMS: list[dict[str, Any]] = [
    {"kind": "A", "metadata": {"name": "plain", "items": [1, {"x": []}]}},
    {"kind": "B", "text": 'quotes " and \\" and \\\\ and } ] { [', "empty": {}, "none": []},
    {"kind": "C", "last-applied": json.dumps({"nested": json.dumps({"deep": '"}]'})})},
    {},
    {"kind": "D"},
    {},
]


def a_list(items: list[Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": "", "x": {"y": [{}]}}}


SHAPES = {
    "compact list": lambda items: json.dumps(a_list(items), separators=(",", ":")),
    "kubectl's list": lambda items: json.dumps(a_list(items), indent=4),
    "list with two blanks": lambda items: json.dumps(a_list(items), indent=2),
    "kind before items": lambda items: json.dumps({"kind": "List", "items": items}),
    "array": json.dumps,
    "one object a line": lambda items: "\n".join(map(json.dumps, items)) + "\n",
    "objects behind each other": lambda items: "".join(map(json.dumps, items)),
    "two lists": lambda items: json.dumps(a_list(items[:2]), indent=4) + "\n" + json.dumps(a_list(items[2:])),
}


@pytest.mark.parametrize("chunk", [7, 64, 1 << 20])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_objects(tmp_path: Path, shape: str, chunk: int) -> None:
    file = tmp_path / "dump.json"
    file.write_text(SHAPES[shape](ITEMS))
    assert [json.loads(text) for text in stream_objects(file, chunk=chunk)] == ITEMS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='ab"\\{}[],:\n ', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\{', max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(st.dictionaries(st.sampled_from(["a", "b", "items"]), VALUES), max_size=5),
    shape=st.sampled_from(["compact list", "kubectl's list", "list with two blanks", "array"]),
    chunk=st.integers(1, 200),
)
def test_no_text_and_no_cut_confuses_the_scanner(
    tmp_path_factory: pytest.TempPathFactory, items: list[Any], shape: str, chunk: int
) -> None:
    file = tmp_path_factory.mktemp("dump") / "dump.json"
    file.write_text(SHAPES[shape](items))
    assert [json.loads(text) for text in stream_objects(file, chunk=chunk)] == items


def test_gzip_yaml_and_folders_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(a_list(ITEMS[:2])).encode()))
    (tmp_path / "b.yaml").write_text("kind: C\n---\nkind: D\n")
    (tmp_path / "notes.txt").write_text("not an object")
    read = [json.loads(text)["kind"] for file in files_in([tmp_path]) for text in stream_objects(file)]
    assert read == ["A", "B", "C", "D"]


def test_items_of_a_typed_list_get_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text(json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}))
    assert [json.loads(text)["kind"] for text in stream_objects(file)] == ["Pod"]


def test_progress_adds_up_to_the_size_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "dump.json"
    file.write_text(SHAPES["kubectl's list"](ITEMS))
    read: list[int] = []
    assert len(list(stream_objects(file, progress=read.append, chunk=50))) == len(ITEMS)
    assert sum(read) == file.stat().st_size


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"items": [{"a": 1}, {"b"', "ends in the middle of an object"),
        ('{"a": 1}]', "a closing bracket without an opening one"),
        ('{"a": 1} nonsense {"b": 2}', "expected an object, got 'nonsense'"),
    ],
)
def test_a_broken_file_is_named_with_its_problem(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "dump.json"
    file.write_text(text)
    with pytest.raises(DocumentError, match=problem) as caught:
        list(stream_objects(file, chunk=5))
    assert str(file) in str(caught.value)


def test_a_missing_file_and_half_a_gzip_file_are_named(tmp_path: Path) -> None:
    half = tmp_path / "half.json.gz"
    half.write_bytes(gzip.compress(json.dumps(ITEMS).encode())[:-20])
    for path, problem in ((tmp_path / "none.json", "No such file"), (half, "not a complete gzip file")):
        with pytest.raises(DocumentError, match=problem):
            list(stream_objects(path))
