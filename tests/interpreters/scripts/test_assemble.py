"""Putting scripts together from snippets, and cutting out what one function needs."""

from __future__ import annotations

import pytest

from interpreters.core.errors import InputError
from interpreters.core.kinds import GroupVersionKind
from interpreters.core.operations import BY_FUNCTION
from interpreters.lua.excerpt import excerpt
from interpreters.snippets import assemble, is_mark, position
from tests.interpreters.scripts.bundled import operations, scripts

SNIPPETS = {
    "a.lua": "-- include: b.lua\nfunction a() return b() end\n",
    "b.lua": "-- include: a.lua\nfunction b() return 1 end\n",
}
SCRIPT = "-- include: a.lua\nfunction F() return a() end\n"


def test_snippets_follow_the_script_each_once() -> None:
    text = assemble(SCRIPT, SNIPPETS.__getitem__)
    assert text.startswith(SCRIPT)
    assert text.count("function a()") == text.count("function b()") == 1


def test_a_script_that_includes_nothing_stays_as_it_is() -> None:
    assert assemble("function F() end", SNIPPETS.__getitem__) == "function F() end"


def test_a_line_tells_which_snippet_it_is_of() -> None:
    text = assemble(SCRIPT, SNIPPETS.__getitem__)
    where = {line: position(text, number) for number, line in enumerate(text.splitlines(), 1)}
    assert where["function F() return a() end"] == (None, 2)
    assert where["function a() return b() end"] == ("a.lua", 2)
    assert where["function b() return 1 end"] == ("b.lua", 2)


def test_a_missing_snippet_is_named() -> None:
    def missing(name: str) -> str:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(InputError, match=r'snippet "a\.lua" cannot be read: No such file or directory'):
        assemble(SCRIPT, missing)


TEXT = """\
-- What the file is about.

local ONE, TWO = 1, 2
local LIST = {
  "x",
}

-- Says one.
local function one()
  return ONE
end

function unused()
  return LIST
end

function F(object)
  return one() + object.unused
end
"""


def test_an_excerpt_has_what_the_function_reaches_and_no_more() -> None:
    cut = excerpt(TEXT, "F")
    assert "-- Says one." in cut
    assert "ONE, TWO" in cut
    assert "unused()" not in cut
    assert "LIST" not in cut
    assert "What the file is about" not in cut


@pytest.mark.parametrize(
    "text",
    ["function F() return 1 end print(1)\nx = 2\n", "if true then\n  function F() end\nend\n", "function G()\nend\n"],
)
def test_a_text_that_cannot_be_followed_stays_whole(text: str) -> None:
    assert excerpt(text, "F") == text


KUBE = 'local kube = require("kube")\n\n'
MODULES = {
    "a.lua": f"-- About a.\n-- include: b.lua\n{KUBE}-- Says a.\nfunction a()\n  return kube\nend\n",
    "b.lua": f"-- About b.\n\n{KUBE}function b()\n  return a(kube)\nend\n",
}


def test_an_excerpt_requires_a_module_once_and_has_no_heads_of_files() -> None:
    text = assemble("-- About F.\n-- include: a.lua\nfunction F()\n  return b()\nend\n", MODULES.__getitem__)
    assert excerpt(text, "F") == (
        f"function F()\n  return b()\nend\n\n{KUBE}"
        "-- Says a.\nfunction a()\n  return kube\nend\n\nfunction b()\n  return a(kube)\nend\n"
    )


def test_an_excerpt_keeps_statements_that_are_alike_but_not_the_same() -> None:
    text = "local s = {}\nfunction a()\n  return s\nend\nlocal s = {}\nfunction F()\n  return a() == s\nend\n"
    assert excerpt(text, "F").count("local s = {}") == 2
    module = 'local m = require("kube")\n'
    text = f"{module}function a()\n  return m\nend\nlocal m = 1\n{module}function F()\n  return a() == m\nend\n"
    assert excerpt(text, "F").count(module) == 2


@pytest.mark.parametrize("kind", sorted(scripts()), ids=str)
def test_bundled_scripts_can_be_cut(kind: GroupVersionKind) -> None:
    text = scripts()[kind].text
    for function in operations(kind) & set(BY_FUNCTION):
        cut = excerpt(text, function)
        assert len(cut) < len(text)
        assert cut.count("require(") <= 1
        assert [line for line in cut.splitlines() if is_mark(line)] == []
