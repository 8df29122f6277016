"""Elements of a page, built as a tree so that whatever a name holds is escaped when the tree is written."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from interpreters.core.texts import printable

Child = Element | str | None


def element(tag: str, *children: Child, **attributes: object) -> Element:
    """`element("td", "12", class_="number")`. A last underscore is dropped from a name, others become hyphens."""
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), printable(str(value)))
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    if isinstance(child, Element):
        parent.append(child)
    elif child and len(parent):
        parent[-1].tail = (parent[-1].tail or "") + printable(child)
    elif child:
        parent.text = (parent.text or "") + printable(child)


def table(
    header: Iterable[Child], rows: Iterable[Element], numbers: Iterable[int] = (), **attributes: object
) -> Element:
    """A table with its header; `numbers` are the columns that stand at the right."""
    right = set(numbers)
    cells = [element("th", name, scope="col", class_="number" if column in right else None)
             for column, name in enumerate(header)]  # fmt: skip
    made = element("table", element("thead", element("tr", *cells)), element("tbody", *rows), **attributes)
    return element("div", made, class_="scroll")


def row(*cells: Child, numbers: Iterable[int] = (), exact: dict[int, str] | None = None, class_: str = "") -> Element:
    """A row; the first cell is its header. `exact` are titles of cells that show a rounded amount."""
    right, titles = set(numbers), exact or {}
    made = [
        element(
            "td" if column else "th",
            cell,
            scope=None if column else "row",
            class_="number" if column in right else "name" if not column else None,
            title=titles.get(column),
        )
        for column, cell in enumerate(cells)
    ]
    return element("tr", *made, class_=class_ or None)


def folded(summary: Iterable[Child], *content: Child, is_open: bool = False, is_printed: bool = True) -> Element:
    """What `is_printed` stands unfolded on paper, where nobody can unfold it."""
    made = element("details", element("summary", *summary), *content, class_="printed" if is_printed else None)
    if is_open:
        made.set("open", "open")
    return made


def written(page: Element) -> str:
    return "<!doctype html>\n" + tostring(page, encoding="unicode", method="html") + "\n"
