"""The languages that scripts are written in, a row each: everything that is not inside an engine's folder asks here.

Code is named, not imported: a worker loads just the engine that it needs, and a command what it uses. This module is
among the first that a command imports, so it imports next to nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Language(NamedTuple):
    """One row of the table. Code is written `module:name`."""

    name: str
    suffix: str
    """Of its files; a kind's script is `interpreter` with it."""

    comment: str
    """What a comment begins with, up to the end of the line."""

    engine: str
    """Runs scripts in a worker: an `Engine`."""

    covering_engine: str
    """The same, and notes which lines ran."""

    code_lines: str
    """`(text) -> frozenset[int]`: the lines that can run."""

    findings: str
    """`(text, ask, portable) -> Iterable[Finding]`: what can be said of a text. `ask` runs a function of the engine's
    own in a worker and returns its answer, for what a hostile text could harm."""

    runs_in_karmada: bool = False
    """Karmada runs it itself, so scripts can be exported to it."""

    @property
    def file_name(self) -> str:
        return f"interpreter{self.suffix}"


LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        Language(
            name="lua",
            suffix=".lua",
            comment="--",
            engine="interpreters.lua.engine:LuaEngine",
            covering_engine="interpreters.lua.coverage:CoveringLuaEngine",
            code_lines="interpreters.lua.bytecode:code_lines",
            findings="interpreters.lua.lint:findings_of",
            runs_in_karmada=True,
        ),
        Language(
            name="starlark",
            suffix=".star",
            comment="#",
            engine="interpreters.starlark.engine:StarlarkEngine",
            covering_engine="interpreters.starlark.coverage:CoveringStarlarkEngine",
            code_lines="interpreters.starlark.coverage:code_lines",
            findings="interpreters.starlark.lint:findings_of",
        ),
    )
}
"""By name."""

LUA = "lua"
"""The language of customizations and of the default script; bundled scripts in others are twins of those in it."""


def engines_of_languages() -> dict[str, str]:
    return {language.name: language.engine for language in LANGUAGES.values()}


def any_comment() -> str:
    """A regular expression for what a comment begins with, in any language."""
    return f"(?:{'|'.join(re.escape(language.comment) for language in LANGUAGES.values())})"


def language_of_suffix(suffix: str) -> Language | None:
    return next((language for language in LANGUAGES.values() if language.suffix == suffix), None)
