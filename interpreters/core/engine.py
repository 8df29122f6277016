"""What a script language must offer: the contract between the sandbox worker and the Lua and Starlark engines.

Everything crosses as JSON text. Engines turn arguments into their own values and returned values back into JSON, and
keep untouched values exact (big integers, `{}` versus `[]`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

MIB = 1024 * 1024
BUNDLED = "bundled"
"""The author of the scripts that come with interp."""


class Script(Struct, frozen=True):
    """A script's text, the name that its errors carry, and who answers for it: authors do not share a worker."""

    name: str
    language: str  # "lua" or "starlark"
    text: str
    author: str = ""

    @property
    def content(self) -> tuple[str, str, str]:
        """What remains when the name is left away: scripts that agree in it do the same. The author stays, since what
        his workers say of a text is not believed of the same text of somebody else."""
        return (self.author, self.language, self.text)

    @property
    def digest(self) -> str:
        """Identity by content: what compiled code is cached under and what quarantine forbids."""
        from hashlib import sha256  # only the parent needs it, and it would slow the start of every worker

        return sha256(f"{self.language}\0{self.text}".encode(errors="surrogatepass")).hexdigest()


MOST_WAITING: Final = 256
"""Calls that may wait for a worker, unless told otherwise."""


class Limits(Struct, frozen=True):
    """How much one call may use. `cost` is counted and means the same on every machine; the others are the outer fence.
    Engines word what they can; the worker's kill is the guarantee."""

    cost: int = 50_000_000
    seconds: float = 1.0
    memory: int = 64 * MIB
    input: int = 8 * MIB
    output: int = 4 * MIB
    depth: int = 200
    printed: int = 64 * 1024


MOST_VALUES: Final = 16
LONGEST_CALL: Final = 3600.0
"""Seconds that a worker may claim; a number beyond is no measurement."""

_Amount = Annotated[int, Meta(ge=0, lt=2**53)]


class Outcome(Struct, frozen=True, array_like=True):
    """What a function returned: the JSON text of each value (missing ones are `null`), what it printed, what it cost,
    how long it took (measured by the worker) and how many bytes it needed at most, as far as the engine or the worker
    can tell. The bounds hold for what is decoded: a worker may send anything."""

    values: Annotated[tuple[bytes, ...], Meta(max_length=MOST_VALUES)]
    printed: str = ""
    seconds: Annotated[float, Meta(ge=0, le=LONGEST_CALL)] = 0.0
    memory: _Amount = 0
    cost: _Amount = 0


class Engine(Protocol):
    """Lives in a worker process, one at a time, single-threaded. Raises `ScriptError` and its subclasses only."""

    def functions(self, script: Script, limits: Limits) -> frozenset[str]:
        """Compile and load the script; the names of the global functions it defines."""
        ...

    def call(
        self, script: Script, function: str, arguments: Sequence[bytes], limits: Limits, *, reads_only: bool = False
    ) -> Outcome:
        """Call one function with fresh globals. `reads_only`: the result is not the object itself, so parts that the
        script never looks at need not be decoded."""
        ...
