"""A Starlark text that counts what it does, as the body of a function that is run anew for every call.

The binding does not show the interpreter's own count of steps, so the text is changed: every simple statement first
adds its size to a counter, comprehensions add their size for every element, and functions and loops look whether it is
too much. Lines keep their numbers but for one: the text stands below a line `def module(counter):`. What it defines is
then local to that call, so neither values nor memory outlive it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from interpreters.core.errors import ScriptSyntaxError

LINES_ABOVE: Final = 1
_SIMPLE: Final = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue)
_Comprehension = ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp

_HELPERS: Final = """
def {bind}(over):
    def tick(counter, weight):
        counter[0] += weight
        if counter[0] > counter[1]:
            over("null")
        return True

    def each(counter, weight, values):
        if type(values) in ("list", "tuple", "dict", "set", "range"):
            tick(counter, weight * len(values))
        return values

    def run(module, most, name, *arguments):
        counter = [0, most]
        reply = module(counter)[name](*arguments)
        return reply, counter[0]

    return tick, each, run

{tick}, {each}, {run} = {bind}({over})
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
        return _HELPERS.format(**{name: self[name] for name in ("bind", "over", "tick", "each", "run")})


def counting(text: str, functions: Iterable[str], names: Names, script: str) -> str:
    """The text as a function of a counter that answers the script's functions by name."""
    try:
        tree = ast.parse(text)
        survey = _Survey(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        problem = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise ScriptSyntaxError(f"cannot be counted: {problem}", script=script, line=line) from None
    lines = text.encode().split(b"\n")
    for line, column, inserted in sorted(_insertions(tree, survey, names), reverse=True):
        raw = lines[line - 1]
        lines[line - 1] = raw[:column] + inserted.encode() + raw[column:]
    body = [line if number in survey.inside_strings else b"\t" + line for number, line in enumerate(lines, 1)]
    found = ", ".join(f'"{name}": {name}' for name in sorted(functions))
    opening, closing = f"def {names['module']}({names['counter']}):", f"\treturn {{{found}}}\n"
    return "\n".join((opening, b"\n".join(body).decode(), closing))


class _Survey:
    """What one walk through a text finds: the size of each part in expressions, the comprehensions, and the lines that
    begin inside a text of several lines."""

    def __init__(self, tree: ast.Module) -> None:
        self._sizes: dict[ast.AST, int] = {}
        self.comprehensions: list[_Comprehension] = []
        self.inside_strings: set[int] = set()
        self._measure(tree)

    def size(self, node: ast.AST) -> int:
        return self._sizes[node] or 1

    def _measure(self, node: ast.AST) -> int:
        size = 1 if isinstance(node, ast.expr) else 0
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                size += self._measure(value)
            elif isinstance(value, list):
                for part in value:
                    if isinstance(part, ast.AST):
                        size += self._measure(part)
        self._sizes[node] = size
        if isinstance(node, ast.Constant) and node.end_lineno is not None:
            self.inside_strings.update(range(node.lineno + 1, node.end_lineno + 1))
        elif isinstance(node, ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp):
            self.comprehensions.append(node)
        return size


Insertion = tuple[int, int, str]
"""Line, byte of the line, what to put there."""


def _insertions(tree: ast.Module, survey: _Survey, names: Names) -> Iterator[Insertion]:
    yield from _block(tree.body, survey, names, heavier=0, repeated=False)
    for node in survey.comprehensions:
        for clause in node.generators:
            yield from _around(clause.iter, f"{names['each']}({names['counter']}, {survey.size(node)}, ", ")")


def _block(
    statements: Sequence[ast.stmt], survey: _Survey, names: Names, *, heavier: int, repeated: bool
) -> Iterator[Insertion]:
    """`heavier`: the size of the line above. `repeated`: whether the block may run again and again."""
    if len(statements) > 1 and _is_docstring(statements[0]):
        statements = statements[1:]
    counter, tick = names["counter"], names["tick"]
    for index, statement in enumerate(statements):
        weight = heavier if index == 0 else 0
        checks = repeated and index == 0
        if isinstance(statement, _SIMPLE) and not _is_docstring(statement):
            inserted = f"{counter}[0] += {weight + survey.size(statement)}; "
            if checks:
                inserted += f"{counter}[0] > {counter}[1] and {tick}({counter}, 0); "
            yield statement.lineno, statement.col_offset, inserted
        elif isinstance(statement, ast.FunctionDef):
            yield from _block(statement.body, survey, names, heavier=1, repeated=True)
        elif isinstance(statement, ast.For):
            if checks:
                yield from _around(statement.iter, f"{tick}({counter}, {weight}) and (", ")")
            yield from _block(statement.body, survey, names, heavier=survey.size(statement.iter), repeated=True)
        elif isinstance(statement, ast.If):
            if checks:
                yield from _around(statement.test, f"{tick}({counter}, {weight + 1}) and (", ")")
            for branch in (statement.body, statement.orelse):
                yield from _block(branch, survey, names, heavier=survey.size(statement.test), repeated=False)


def _around(node: ast.expr, before: str, behind: str) -> Iterator[Insertion]:
    if node.end_lineno is not None and node.end_col_offset is not None:
        yield node.lineno, node.col_offset, before
        yield node.end_lineno, node.end_col_offset, behind


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
