"""Hostile scripts, each loaded as the script of a kind of its own, and what a request for that kind must come to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.hostile.rows import Row, post, question

GROUP = "hostile.example.org"
SUFFIX = {"lua": "lua", "starlark": "star"}


@dataclass(frozen=True, slots=True)
class Script:
    """`operation` asks it about an empty object of its kind. The other fields are those of a `Row`."""

    name: str
    language: str
    text: str
    operation: str = "InterpretReplica"
    code: int | tuple[int, ...] = 422
    says: str = ""
    longest: int = 64 * 1024


SCRIPTS = (
    Script("a patch that would repeat a long path 20 000 times", "lua", """
        function ReviseReplica(obj, replicas)
          obj.spec.list = {}
          local long = {}
          obj.spec[string.rep("k", 50000)] = long
          for i = 1, 20000 do long[i] = i end
          return obj
        end""", "ReviseReplica", 200, longest=2_000_000),
    Script("a patch of a million changed numbers", "lua", """
        function ReviseReplica(obj, replicas)
          for i = 1, 20000 do obj["field" .. i] = i end
          return obj
        end""", "ReviseReplica", 422, "patch"),
    Script("an integer beyond what any reader takes", "starlark", """
def ReflectStatus(obj):
    n = 1
    for i in range(20000):
        n = n * 2
    return {"n": n}
""", "InterpretStatus", 422, "number"),
    Script("a number of replicas beyond 64 bits", "starlark", """
def GetReplicas(obj):
    return 1 << 100, None
""", says="more than 20 digits"),
    Script("a claim to be out of memory", "lua", """
        function GetReplicas(obj) error("not enough memory", 0) end""", says="not enough memory"),
    Script("a string that doubles for ever", "lua", """
        function GetReplicas(obj) local s = "a" while true do s = s .. s end end""", says="memory"),
    Script("a limit's own error, edited", "lua", """
        function GetReplicas(obj)
          local t = {}
          for _ = 1, 300 do t = {t} end
          local _, e = pcall(require("kube").accuratePodRequirements, t)
          e.limit = "memory"
          error(e)
        end""", says="a string value"),
    Script("more results than any operation has", "lua", """
        function GetReplicas(obj) return unpack({}, 1, 7900) end""", says="returned 7900 values"),
    Script("a loop without end", "lua", """
        function GetReplicas(obj) while true do end end"""),
    Script("a loop of a billion billions", "starlark", """
def GetReplicas(obj):
    for i in range(1 << 60):
        if i < 0:
            pass
"""),
    Script("a module that holds sixty megabytes", "starlark", """
HELD = ["x" * 1000000 + str(i) for i in range(60)]
def GetReplicas(obj):
    fail("held " + str(len(HELD)))
""", says="held 60"),
)  # fmt: skip


def write_scripts(folder: Path) -> None:
    for number, script in enumerate(SCRIPTS):
        place = folder / GROUP / "v1" / f"Hostile{number}"
        place.mkdir(parents=True)
        (place / f"interpreter.{SUFFIX[script.language]}").write_text(script.text)


def script_rows() -> list[Row]:
    rows = []
    for number, script in enumerate(SCRIPTS):
        spec = {"spec": {"list": list(range(20000)), "k" * 50000: []}} if "patch that" in script.name else {}
        obj = {"apiVersion": f"{GROUP}/v1", "kind": f"Hostile{number}", "metadata": {"name": "x"}, **spec}
        attack = post(question(obj, script.operation))
        rows.append(Row(script.name, attack, 200, script.code, script.says, longest=script.longest))
    return rows
