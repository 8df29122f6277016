"""Charts as inline SVG. Colours come from the page's style, so that they follow light, dark and paper; none of them
says anything that a word or a figure beside it does not say, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from estimator.accounting.audit.rendering.html.elements import element

_WIDTH: Final = 1000
_ROW: Final = 26
_KEY: Final = 280  # where the keys begin
_BARS: Final = 410  # where the bars begin
_FIGURES: Final = 780  # where the figures begin
_LONGEST_LABEL: Final = 35
_LONGEST_KEY: Final = 16
_HEIGHT: Final = 180  # of the chart of very many
_MOST_COLUMNS: Final = 480


@dataclass(frozen=True, slots=True)
class Bar:
    """One key of a quota. Shares are of the limit; `share` is None where nothing is allowed and something is used."""

    label: str
    key: str
    figures: str
    weight: str
    share: float | None
    provisional: float = 0.0

    @property
    def height(self) -> float:
        return 9.99 if self.share is None else self.share

    @property
    def text(self) -> str:
        return f"{self.label} {self.key}: {self.figures}"


def small_bar(bar: Bar) -> Element:
    """A bar for a table's cell."""
    scale = 100 / max(1.0, min(bar.height, 2.0))
    made = element("svg", viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
    made.append(element("rect", class_="track", x=0, y=0, width=100, height=10))
    made.extend(_bar(bar, 0, 0, scale, 100, 10))
    if bar.weight == "over":
        made.append(element("line", class_="limit", x1=_n(scale), x2=_n(scale), y1=0, y2=10))
    return made


def quota_bars(bars: Sequence[Bar]) -> Element:
    """A row for each key: its name, a bar with the limit marked, and the figures."""
    room = _FIGURES - _BARS - 24
    widest = min(2.0, max([1.15, *(bar.height for bar in bars)]))
    scale = room / widest
    height = _ROW * len(bars) + 30
    made = element("svg", viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=_described(bars))
    limit = _BARS + scale
    made.append(element("text", "limit", class_="quiet", x=limit, y=12, text_anchor="middle"))
    for place, bar in enumerate(bars):
        top = 20 + place * _ROW
        group = element("g", element("title", bar.text))
        group.append(element("text", _cut(bar.label, _LONGEST_LABEL), x=0, y=top + 15))
        group.append(element("text", _cut(bar.key, _LONGEST_KEY), class_="quiet", x=_KEY, y=top + 15))
        group.append(element("rect", class_="track", x=_BARS, y=top + 3, width=_n(scale), height=16))
        group.extend(_bar(bar, _BARS, top + 3, scale, room, 16))
        text = "text" if bar.weight == "fine" else f"text {bar.weight}"
        group.append(element("text", bar.figures, class_=text, x=_FIGURES, y=top + 15))
        made.append(group)
    made.append(element("line", class_="limit", x1=_n(limit), x2=_n(limit), y1=18, y2=height - 8))
    return made


def quota_columns(bars: Sequence[Bar]) -> Element:
    """Very many keys in one chart: a column for each, the fullest first; neighbours share one where there is no room.

    Of those that share a column the fullest is drawn, so nothing that is over its limit disappears."""
    shown = list(_merged(bars))
    room, floor = _WIDTH - 50, _HEIGHT - 4
    widest = min(2.0, max([1.15, *(bar.height for bar in bars)]))
    scale = (floor - 12) / widest
    made = element("svg", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=_described(bars))
    for share in (0.5, 1.0, 1.5, 2.0):
        if share <= widest:
            y = _n(floor - share * scale)
            made.append(element("text", f"{share:.0%}", class_="quiet", x=40, y=y + 4, text_anchor="end"))
            made.append(element("line", class_="limit" if share == 1 else "grid", x1=46, x2=_WIDTH, y1=y, y2=y))
    step = room / len(shown)
    for place, bar in enumerate(shown):
        top = _n(min(bar.height, widest) * scale)
        seen = _n(max(0.0, min(bar.height, widest) - bar.provisional) * scale)
        x, wide = _n(50 + place * step), _n(max(step - (1 if step > 4 else 0), 0.6))
        column = element("g", element("title", bar.text))
        column.append(element("rect", class_=bar.weight, x=x, y=_n(floor - seen), width=wide, height=seen))
        if top > seen:
            column.append(
                element(
                    "rect", class_=f"{bar.weight} promised", x=x, y=_n(floor - top), width=wide, height=_n(top - seen)
                )
            )
        made.append(column)
    return made


def _bar(bar: Bar, x: float, y: float, scale: float, room: float, height: float) -> Iterator[Element]:
    """What is there, then what is provisional; what has no room ends in a notch."""
    whole = min(bar.height * scale, room)
    seen = max(0.0, min((bar.height - bar.provisional) * scale, room))
    yield element("rect", class_=bar.weight, x=x, y=y, width=_n(seen), height=height)
    if whole > seen:
        yield element(
            "rect", class_=f"{bar.weight} promised", x=_n(x + seen), y=y, width=_n(whole - seen), height=height
        )
        yield element(
            "rect", class_=f"edge {bar.weight}", x=_n(x + seen), y=y + 0.5, width=_n(whole - seen), height=height - 1
        )
    if bar.height * scale > room and height > 10:
        end = x + room
        points = f"{_n(end)},{y} {_n(end + 9)},{_n(y + height / 2)} {_n(end)},{y + height}"
        yield element("polygon", class_=bar.weight, points=points)


def _merged(bars: Sequence[Bar]) -> Iterator[Bar]:
    """The fullest of each run of neighbours, so that at most so many columns are drawn."""
    run = -(-len(bars) // _MOST_COLUMNS)
    for start in range(0, len(bars), run):
        yield bars[start]


def _described(bars: Sequence[Bar]) -> str:
    over, near = (sum(bar.weight == weight for bar in bars) for weight in ("over", "near"))
    return f"Used share of each of {len(bars)} keys of quotas: {over} over the limit, {near} near it"


def _cut(name: str, longest: int) -> str:
    """Long names keep their beginning and their end, which tell them apart."""
    if len(name) <= longest:
        return name
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"


def _n(value: float) -> float:
    """Two decimals are more than a pixel."""
    return round(value, 2)
