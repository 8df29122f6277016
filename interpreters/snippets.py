"""A self-contained script out of a bundled one and the shared snippets that it names, in any language.

A script asks for a snippet by a comment line of its own, `-- include: snippets/pods.lua`. The snippets follow after the
script, so the lines of the script keep their numbers in error messages; what they define is global, hence visible to
the script's functions once these are called. Snippets may name further ones; each comes in once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from interpreters.core.errors import InputError
from interpreters.core.languages import any_comment


def _include() -> re.Pattern[str]:
    return re.compile(rf"^{any_comment()} include: (\S+)[ \t]*$", re.MULTILINE)


def _mark() -> re.Pattern[str]:
    return re.compile(rf"{any_comment()} snippet: (\S+)")


def is_mark(line: str) -> bool:
    """Whether a line says where a snippet belongs or begins, which only means something to us.

    >>> is_mark("-- include: snippets/pods.lua"), is_mark("-- Pods.")
    (True, False)
    """
    return bool(_include().match(line) or _mark().match(line))


def included(text: str) -> list[str]:
    """The snippets that a text names itself, in order."""
    return _include().findall(text)


def assemble(text: str, snippet: Callable[[str], str]) -> str:
    """The script followed by all snippets it needs; `snippet` gives a snippet's text by the name in the comment.

    >>> assemble("-- include: s.lua\\nfunction F() return g() end\\n", lambda name: "function g() return 1 end\\n")
    '-- include: s.lua\\nfunction F() return g() end\\n\\n-- snippet: s.lua\\nfunction g() return 1 end\\n'
    """
    parts = [text.rstrip("\n") + "\n"] if included(text) else [text]
    waiting, seen = included(text), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        try:
            body = snippet(name)
        except OSError as error:
            raise InputError(f'snippet "{name}" cannot be read: {error.strerror or error}') from error
        waiting += included(body)
        sign = "#" if name.endswith(".star") else "--"
        parts.append(f"\n{sign} snippet: {name}\n{body.rstrip(chr(10))}\n")
    return "".join(parts)


def positions(assembled: str) -> list[tuple[str | None, int]]:
    """For each line of an assembled script: the snippet it comes from (None: the script itself), and its line there."""
    found: list[tuple[str | None, int]] = []
    snippet, start = None, 0
    begins = _mark()
    for number, line in enumerate(assembled.splitlines(), 1):
        if mark := begins.match(line):
            snippet, start = mark[1], number
        found.append((snippet, number - start))
    return found


def position(assembled: str, line: int) -> tuple[str | None, int]:
    """Which snippet a line of an assembled script belongs to (None: the script itself), and its line in there."""
    every = positions(assembled)
    return every[min(line, len(every)) - 1]
