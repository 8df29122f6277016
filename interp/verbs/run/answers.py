"""What `interp run` was answered."""

from __future__ import annotations

from msgspec import Struct

from interpreters.catalog import Catalog
from interpreters.core.documents import Document
from interpreters.core.errors import InterpError
from interpreters.core.operations import Operation
from interpreters.interpretation import Interpretation


class Answer(Struct, frozen=True):
    """One object, one operation: an interpretation, or why there is none."""

    object: Document
    operation: Operation
    found: Interpretation | InterpError
    catalog: Catalog


class Answers(Struct, frozen=True):
    """All that was asked; `single_operation` if one operation was named."""

    each: list[Answer]
    single_operation: bool
