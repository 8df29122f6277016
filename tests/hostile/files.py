"""Hostile files, as the command and the server read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"


@dataclass(frozen=True, slots=True)
class HostileFile:
    """`exit_code` is that of `interp run` on it; `says` is part of what it prints, `never` is not."""

    name: str
    text: Callable[[], str]
    exit_code: int
    says: str = ""
    never: str = ""


def merges(levels: int, fan: int) -> str:
    """Each mapping merges the one before it several times."""
    lines = ["a0: &a0 {k: 1}"]
    for i in range(1, levels):
        lines.append(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * fan)}], x{i}: 1}}")
    return HEAD + "\n".join(lines)


def chain(length: int) -> str:
    return HEAD + "m0: &m0 {k0: 1}\n" + "".join(f"m{i}: &m{i}\n  <<: *m{i - 1}\n  k{i}: 1\n" for i in range(1, length))


def aliases(levels: int, fan: int) -> str:
    lines = ["a0: &a0 [1]", *(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * fan)}]" for i in range(1, levels))]
    return HEAD + "\n".join(lines)


FILES = (
    HostileFile("a bomb of merge keys", lambda: merges(12, 9), 0),
    HostileFile("a long chain of merge keys", lambda: chain(2000), 2, "merge keys (<<) that take over more than"),
    HostileFile("a merge key that merges itself", lambda: HEAD + "a: &a {<<: *a, b: 1}\n", 0),
    HostileFile("a bomb of aliases", lambda: aliases(12, 9), 2, "aliases expand to more than"),
    HostileFile("aliases of a long text", lambda: HEAD + f"a: &a '{'x' * 10**6}'\nb: [{', '.join(['*a'] * 500)}]\n", 2,
                "characters more than"),
    HostileFile("underscores in a binary number", lambda: HEAD + f"a: 0b{'_' * 500_000}z\n", 0),
    HostileFile("underscores in an exponent", lambda: HEAD + f"a: 1e{'_' * 500_000}z\n", 0),
    HostileFile("a number of a hundred thousand digits", lambda: HEAD + f"a: {'1' * 100_000}\n", 2, "4000 digits"),
    HostileFile("YAML nested 5000 deep", lambda: HEAD + f"a: {'[' * 5000}{']' * 5000}\n", 2, "nested deeper"),
    HostileFile("JSON nested 5000 deep", lambda: f'{{"a": {"[" * 5000}{"]" * 5000}}}', 2, "nested deeper"),
    HostileFile("a hundred thousand keys with a duplicate", lambda: "{" + "".join(f'"k{i}": 1,' for i in range(
        100_000)) + '"k7": 1}', 2, 'duplicate key "k7"'),
)  # fmt: skip
