"""A Starlark text that counts what it does, as the body of a function that is run anew for every call.

The binding does not show the interpreter's own count of steps, so the text is changed: where a run of statements begins
that is always run to its end, the size of all of them is added to a counter; comprehensions add theirs for every
element, lambdas theirs for every call; functions and loops look whether it is too much. What the text defines is local
to one call, so neither values nor memory outlive it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from interpreters.core.errors import ScriptSyntaxError

_SIMPLE: Final = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue)
_COMPREHENSIONS: Final = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_NO_PARTS: Final = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "kind", "is_async", "type_comment"})
_FIELDS: Final = {
    kind: tuple(field for field in kind._fields if field not in _NO_PARTS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

_HELPERS: Final = """
def {bind}(over):
    sized = {{"list": None, "dict": None, "range": None, "tuple": None, "set": None}}

    def tick(counter, weight):
        counter[0] += weight
        if counter[0] > counter[1]:
            over("null")
        return True

    def each(counter, weight, values):
        if type(values) not in sized:
            if not type(values).startswith("string.") and not type(values).startswith("bytes."):
                return values
            values = list(values)
        counter[0] += weight * len(values)
        if counter[0] > counter[1]:
            over("null")
        return values

    def run(module, most, place, *arguments):
        counter = [0, most]
        reply = module(counter)[place](*arguments)
        return reply, counter[0]

    def kinds(module, most):
        return [type(value) for value in module([0, most])]

    return tick, each, run, kinds

{tick}, {each}, {run}, {kinds} = {bind}({over})
"""


class Names(Struct, frozen=True):
    """What the counting text uses beside the script's own names. None of them stands in the script."""

    prefix: str

    @classmethod
    def unlike(cls, text: str) -> Names:
        prefix = "__count_"
        while prefix in text:
            prefix += "_"
        return cls(prefix)

    def __getitem__(self, name: str) -> str:
        return self.prefix + name

    @property
    def helpers(self) -> str:
        """What must be executed before the counting text. `over` must be defined: it refuses to go on."""
        return _HELPERS.format(**{name: self[name] for name in ("bind", "over", "tick", "each", "run", "kinds")})


class Counted(Struct, frozen=True):
    """The text as a function of a counter that answers what the script defines; the names of that, in the same order;
    and where each of its lines comes from."""

    text: str
    defined: tuple[str, ...]
    origins: tuple[int, ...]

    def author_line(self, line: int) -> int:
        return self.origins[min(line, len(self.origins)) - 1]


def counting(text: str, names: Names, script: str) -> Counted:
    """The text must be one that the language accepts."""
    try:
        tree = ast.parse(text)
        counter = _Counter(names)
        counter.block(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        problem = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise ScriptSyntaxError(f"cannot be counted: {problem}", script=script, line=line) from None
    for statement in tree.body:
        if _loads(statement):
            raise ScriptSyntaxError("load is not offered: a script is one text", script=script, line=statement.lineno)
    lines = text.encode().split(b"\n")
    for line, column, inserted in sorted(counter.insertions, reverse=True):
        raw = lines[line - 1]
        again = raw[:column] if inserted.endswith("\n") else b""  # the indentation
        lines[line - 1] = raw[:column] + inserted.encode() + again + raw[column:]
    written, origins = [f"def {names['module']}({names['counter']}):".encode()], [1]
    for number, line_text in enumerate(lines, 1):
        parts = [line_text] if number in counter.inside_strings else [b"\t" + part for part in line_text.split(b"\n")]
        written += parts
        origins += [number] * len(parts)
    defined = tuple(sorted(_defined(tree)))
    written.append(f"\treturn [{', '.join(defined)}]\n".encode())
    origins.append(len(lines))
    return Counted(b"\n".join(written).decode(), defined, tuple(origins))


class _Ways(Struct, frozen=True):
    """How a block may be left before its end."""

    returns: bool = False
    breaks: bool = False


class _Counter:
    """Goes through a text once and collects what is to be inserted where: line, byte of the line, text."""

    def __init__(self, names: Names) -> None:
        self.insertions: list[tuple[int, int, str]] = []
        self.inside_strings: set[int] = set()
        self._counter, self._tick, self._each = names["counter"], names["tick"], names["each"]

    def block(self, statements: Sequence[ast.stmt], *, repeated: bool = False) -> _Ways:
        """`repeated`: the block may run again and again, so it looks whether it has run too often."""
        returns = breaks = False
        first: ast.stmt | None = None
        weight = 0
        for statement in statements:
            size, ways = self._statement(statement)
            if first is None and not _is_docstring(statement):
                first = statement
            weight += size
            returns, breaks = returns or ways.returns, breaks or ways.breaks
            if first is not None and (ways.returns or ways.breaks):
                self._add(first, weight, checks=repeated)
                first, weight, repeated = None, 0, False
        if first is not None:
            self._add(first, weight, checks=repeated)
        return _Ways(returns, breaks)

    def _statement(self, statement: ast.stmt) -> tuple[int, _Ways]:
        """What it costs whenever it is reached, and how it may leave the block."""
        if isinstance(statement, _SIMPLE):
            size = self._size(statement) or 1
            leaves = isinstance(statement, ast.Break | ast.Continue)
            return size, _Ways(isinstance(statement, ast.Return), leaves)
        if isinstance(statement, ast.If):
            size = self._size(statement.test)
            body, orelse = self.block(statement.body), _Ways()
            if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):  # elif: no room before it
                more, orelse = self._statement(statement.orelse[0])
                size += more
            else:
                orelse = self.block(statement.orelse)
            return size, _Ways(body.returns or orelse.returns, body.breaks or orelse.breaks)
        if isinstance(statement, ast.For):
            size = self._size(statement.target) + self._size(statement.iter)
            return size, _Ways(self.block(statement.body, repeated=True).returns)
        if isinstance(statement, ast.FunctionDef):
            self.block(statement.body, repeated=True)
            return 1 + self._size(statement.args), _Ways()
        return 1, _Ways()

    def _add(self, statement: ast.stmt, weight: int, *, checks: bool) -> None:
        added = f"{self._counter}[0] += {weight}"
        if checks:
            added += f"; {self._counter}[0] > {self._counter}[1] and {self._tick}({self._counter}, 0)"
        behind = "; " if isinstance(statement, _SIMPLE) else "\n"  # others do not stand behind a semicolon
        self.insertions.append((statement.lineno, statement.col_offset, added + behind))

    def _size(self, *roots: ast.AST | None) -> int:
        """The number of expressions in it."""
        size = 0
        waiting = list(roots)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Name):
                size += 1
            elif isinstance(node, ast.Constant):
                size += 1
                if node.end_lineno is not None and node.end_lineno > node.lineno:
                    self.inside_strings.update(range(node.lineno + 1, node.end_lineno + 1))
            elif isinstance(node, _COMPREHENSIONS):
                inside = 1 + self._size(*_parts(node))
                for clause in node.generators:
                    self._around(clause.iter, f"{self._each}({self._counter}, {inside}, ", ")")
                size += inside
            elif isinstance(node, ast.Lambda):
                self._around(node.body, f"{self._tick}({self._counter}, {1 + self._size(*_parts(node))}) and (", ")")
                size += 1
            elif node is not None:
                waiting += _parts(node)
                size += isinstance(node, ast.expr)
        return size

    def _around(self, node: ast.expr, before: str, behind: str) -> None:
        if node.end_lineno is not None and node.end_col_offset is not None:
            self.insertions.append((node.lineno, node.col_offset, before))
            self.insertions.append((node.end_lineno, node.end_col_offset, behind))


def _parts(node: ast.AST) -> list[ast.AST | None]:
    """What it is made of, expressions or not."""
    parts: list[ast.AST | None] = []
    for field in _FIELDS[type(node)]:
        value = getattr(node, field)
        if isinstance(value, list):
            parts += value
        else:
            parts.append(value)
    return parts


def _defined(tree: ast.Module) -> set[str]:
    """The names that the module code gives values to. Starlark lets it do so only once, and not in a condition."""
    found = {statement.name for statement in tree.body if isinstance(statement, ast.FunctionDef)}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            bound = (node for target in statement.targets for node in ast.walk(target))
            found.update(node.id for node in bound if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return found


def _loads(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call(ast.Name("load"))):
            return True
    return False


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
