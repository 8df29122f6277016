"""The history of quotas as small charts: what was used, the limit over it, and when it is full at this pace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from xml.etree.ElementTree import Element

from estimator.accounting.audit.rendering.html.elements import element, folded
from estimator.accounting.audit.rendering.words import number, shown
from estimator.accounting.audit.report import AuditReport
from estimator.accounting.history.rendering import QuotaHistory
from estimator.quotas.amounts import nano_of

_MOST_UNFOLDED: Final = 6
_MOST: Final = 120
_WIDTH: Final = 320
_HEIGHT: Final = 90


def history(report: AuditReport) -> Iterator[Element]:
    if not report.history:
        return
    ordered = sorted(report.history, key=lambda one: (one.full_on or "9999", -_share(one), one.title, one.key))
    drawn = [one for one in ordered if len(one.points) > 1]
    yield element("h2", "History")
    if not drawn:
        yield element("p", "There is too little of it to draw.", class_="dim")
        return
    yield _grid(drawn[:_MOST_UNFOLDED])
    if rest := drawn[_MOST_UNFOLDED:_MOST]:
        yield folded((f"{number(len(rest), 'key')} more",), _grid(rest))
    if len(drawn) > _MOST:
        left = f"and {len(drawn) - _MOST:,} more; interp ledger history lists all of them"
        yield element("p", left, class_="dim")
    yield element("p", "The dashed line is the limit. Dates are those at the pace of this history.", class_="dim")


def _grid(every: Sequence[QuotaHistory]) -> Element:
    return element("div", *(_figure(one) for one in every), class_="charts")


def _figure(one: QuotaHistory) -> Element:
    last = one.points[-1]
    pace = one.words or f"full on {one.full_on} at this pace"
    if one.growth_per_day is not None and nano_of(one.growth_per_day):
        pace = f"{shown(one.key, one.growth_per_day, signed=True)} a day, {pace}"
    caption = element(
        "figcaption",
        element("b", f"{one.title} {one.key}"),
        element("br"),
        f"{shown(one.key, last.used)} of {shown(one.key, last.limit)}; {pace}",
    )
    return element("figure", _chart(one), caption)


def _chart(one: QuotaHistory) -> Element:
    times = [datetime.fromisoformat(point.at).timestamp() for point in one.points]
    used = [nano_of(point.used) for point in one.points]
    limits = [nano_of(point.limit) for point in one.points]
    span, top = times[-1] - times[0], max(*used, *limits) or 1

    def place(time: float, amount: int) -> str:
        return f"{(time - times[0]) / span * _WIDTH:.1f},{_HEIGHT - amount / top * (_HEIGHT - 8):.1f}"

    line = [place(time, amount) for time, amount in zip(times, used, strict=True)]
    bound = [place(time, amount) for time, amount in zip(times, limits, strict=True)]
    label = f"{one.title} {one.key} from {one.points[0].at[:10]} to {one.points[-1].at[:10]}"
    return element(
        "svg",
        element("title", label),
        element("polygon", class_="area", points=f"0,{_HEIGHT} {' '.join(line)} {_WIDTH},{_HEIGHT}"),
        element("polyline", class_="line", points=" ".join(line)),
        element("polyline", class_="bound", points=" ".join(bound)),
        element("text", one.points[0].at[:10], class_="quiet", x=0, y=_HEIGHT + 15),
        element("text", one.points[-1].at[:10], class_="quiet", x=_WIDTH, y=_HEIGHT + 15, text_anchor="end"),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT + 20}",
        role="img",
        aria_label=label,
    )


def _share(one: QuotaHistory) -> float:
    last = one.points[-1]
    limit = nano_of(last.limit)
    return nano_of(last.used) / limit if limit else 0.0
