"""The history of quotas: sampled once for all servers, kept by the hour and the day, drawn on only where it tells."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.accounting.demand import WorkloadKey
from estimator.accounting.history.readings import quota_readings
from estimator.accounting.history.rendering import history_of, render_csv, render_text, sparkline
from estimator.accounting.history.series import DAY, Point, Reading, Series, Subject
from estimator.accounting.history.store import Retention, read_history, read_steps, record
from estimator.accounting.history.trend import is_soon, trend_of
from estimator.accounting.ledger.charges import admitted
from estimator.accounting.ledger.ledger import Ledger
from estimator.quotas.objects import read_quota
from interpreters.core.quantity import NANO
from tests.estimator.accounting.conftest import Clock
from tests.estimator.accounting.samples import book, demand, federated, limit
from tests.interp.command import interp

CPU = Subject("FederatedResourceQuota", "team-a", "compute", "", "cpu")
HOUR = 3600
SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "ledger-history-output.json"
START = 1_790_000_000 // DAY * DAY


def reading(used: int, limit: int = 100, subject: Subject = CPU) -> Reading:
    return Reading(subject, limit * NANO, used * NANO, 0)


async def points(ledger: Ledger, step: str) -> list[tuple[int, int, int, int]]:
    (series,) = await read_history(ledger, 10**9, step)  # type: ignore[arg-type]
    return [(p.at - START, p.limit // NANO, p.used // NANO, p.most // NANO) for p in series.points]


async def test_an_hour_and_a_day_keep_the_last_figures_and_the_most_that_was_used(ledger: Ledger, clock: Clock) -> None:
    for seconds, used, allowed in ((0, 5, 100), (600, 9, 100), (3500, 7, 100), (HOUR, 3, 50), (DAY, 4, 50)):
        clock.now = START + seconds
        assert await record(ledger, [reading(used, allowed)])
    assert await points(ledger, "hour") == [(0, 100, 7, 9), (HOUR, 50, 3, 3), (DAY, 50, 4, 4)]
    assert await points(ledger, "day") == [(0, 50, 3, 9), (DAY, 50, 4, 4)]


async def test_old_hours_and_days_are_forgotten(ledger: Ledger, clock: Clock) -> None:
    kept = Retention(hour=2 * HOUR, day=3 * DAY)
    for hour in range(0, 24 * 6, 6):
        clock.now = START + hour * HOUR
        await record(ledger, [reading(hour)], retention=kept)
    assert await points(ledger, "hour") == [(138 * HOUR, 100, 138, 138)]
    assert [at // DAY for at, *_ in await points(ledger, "day")] == [3, 4, 5]


async def test_of_several_servers_one_takes_the_sample(ledger_url: str, clock: Clock) -> None:
    clock.now = float(START)
    async with Ledger(ledger_url, clock=clock) as one, Ledger(ledger_url, clock=clock) as other:
        await record(one, [reading(1)], every=60)
        clock.now += 59
        assert not await record(other, [reading(2)], every=60)
        clock.now += 1
        taken = await asyncio.gather(*(record(server, [reading(3)], every=60) for server in (one, other)))
        assert sorted(taken) == [False, True]


async def test_a_reading_is_what_is_charged_and_how_much_of_it_is_provisional(ledger: Ledger) -> None:
    there, new = (WorkloadKey("batch", "Job", "team-a", name) for name in ("there", "new"))
    await book(ledger, there, demand(("main", 2, {"cpu": "1", "memory": "1Gi"}), clusters=("m1",)))
    async with ledger.page("team-a") as page:
        promised = demand(("main", 1, {"cpu": "3"}))
        await page.save(admitted(await page.charge(new), promised, None, expires_at=page.now + 600))
    scoped = {"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "scoped"}, "spec": {
        "hard": {"requests.cpu": "9"}, "scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": "DoesNotExist"}]}}}  # fmt: skip
    undecided = {"kind": "ResourceQuota", "metadata": {"namespace": "team-a", "name": "odd"}, "spec": {
        "hard": {"cpu": "9"}, "scopes": ["Terminating"]}}  # fmt: skip
    quotas = [
        limit({"cpu": "10", "limits.cpu": "1"}, staticAssignments=[{"clusterName": "m1", "hard": {"cpu": "4"}}]),
        read_quota(federated({"memory": "4Gi"}, "empty")),
        read_quota(scoped),
        read_quota(undecided),
    ]
    found = [
        (
            one.subject.name,
            one.subject.cluster,
            one.subject.key,
            one.limit // NANO,
            one.used // NANO,
            one.provisional // NANO,
        )
        for one in await quota_readings(ledger, quotas)
    ]
    assert found == [
        ("compute", "", "cpu", 10, 5, 3), ("compute", "m1", "cpu", 4, 2, 0), ("scoped", "", "requests.cpu", 9, 5, 3),
        ("compute", "", "memory", 4 * 2**30, 0, 0),
    ]  # fmt: skip


def line(*used: int, limit: int = 1000, step: int = DAY) -> list[Point]:
    return [Point(START + i * step, limit * NANO, amount * NANO, amount * NANO, 0) for i, amount in enumerate(used)]


RISING = [10 * day for day in range(20)]
TRENDS = [
    ("steady growth", line(*RISING), 10, 19 + 81, ""),
    ("one odd day", line(*[*RISING[:7], 900, *RISING[8:]]), 10, 19 + 81, ""),
    ("by the hour", line(*RISING, *[200] * 10, *range(200, 500, 10), step=HOUR), None, None, None),
    ("constant", line(*[5] * 20), 0, None, "does not change"),
    ("shrinking", line(*RISING[::-1]), -10, None, "shrinks"),
    ("full", line(*RISING, 1000), None, 20, "full now"),
    ("over", line(*RISING, 1001), None, 20, "over its limit now"),
    ("few points", line(*RISING[:5]), None, None, "cannot tell: too little history"),
    ("a short time", line(*RISING, step=HOUR), None, None, "cannot tell: too little history"),
    ("up and down", line(*[0, 50] * 10), None, None, "cannot tell: no steady trend"),
    ("very slow", line(*RISING, limit=10**6), 10, None, "not full within two years at this pace"),
    ("nothing", [], None, None, "no history"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given_points", "per_day", "day", "words"), TRENDS, ids=[case[0] for case in TRENDS])
def test_a_trend_is_told_or_why_it_cannot_be(
    name: str, given_points: list[Point], per_day: int | None, day: int | None, words: str | None
) -> None:
    trend = trend_of(given_points)
    if words is None:
        assert trend.per_day is not None
        assert trend.per_day > 0
        return
    assert (trend.per_day, trend.words) == (None if per_day is None else per_day * NANO, words)
    assert trend.full_at == (None if day is None else START + day * DAY)


@given(st.integers(1, 10**15), st.integers(0, 10**18), st.integers(6, 300), st.integers(1, 10**6))
def test_a_straight_line_is_drawn_on_exactly(slope: int, start: int, count: int, room: int) -> None:
    last = start + slope * (count - 1)
    limit = last + slope * room
    given_points = [Point(i * DAY, limit, start + slope * i, 0, 0) for i in range(count)]
    trend = trend_of(given_points)
    assert trend.per_day == slope
    if room <= 730:
        assert trend.full_at == (count - 1 + room) * DAY
    else:
        assert trend.full_at is None


def test_the_slope_is_the_median_of_all_pairs() -> None:
    rng = random.Random(14)
    for _ in range(50):
        used = sorted(rng.randint(0, 500) for _ in range(rng.randint(6, 40)))
        given_points = line(*used, limit=10**6)
        pairs = sorted(Fraction(b - a, j - i) for i, a in enumerate(used) for j, b in enumerate(used) if i < j)
        middle = (pairs[len(pairs) // 2] + pairs[(len(pairs) - 1) // 2]) / 2
        trend = trend_of(given_points)
        assert trend.per_day == (round(middle * NANO) if middle else None)


def test_soon_is_within_thirty_days() -> None:
    assert is_soon(line(*RISING, limit=200))
    assert not is_soon(line(*RISING))
    assert not is_soon(line(*[5] * 20))


HISTORY = [Series(CPU, line(*RISING)), Series(CPU._replace(namespace="\x1b[2J", key="memory"), line(*[5] * 20))]


def test_the_table_has_a_chart_growth_and_a_date_and_no_name_steers_the_terminal() -> None:
    text = render_text(HISTORY)
    full = datetime.fromtimestamp(START + 100 * DAY, UTC).strftime("%Y-%m-%d")
    assert "▁" in text
    assert f"+10  {full}" in text
    assert "does not change" in text
    assert "\x1b" not in text


def test_csv_has_a_row_for_each_point_in_one_unit() -> None:
    rows = list(csv.DictReader(io.StringIO("".join(render_csv(HISTORY)))))
    assert len(rows) == 40
    assert [rows[1][name] for name in ("key", "unit", "limit", "used", "most")] == ["cpu", "cores", "1000", "10", "10"]


def test_a_sparkline_is_full_at_the_limit() -> None:
    assert sparkline(line(0, 500, 1000)) == "▁▅█"
    assert len(sparkline(line(*range(500)))) == 30


def test_json_says_when_it_is_full_or_why_not() -> None:
    growing, steady = (history_of(series) for series in HISTORY)
    assert (growing.growth_per_day, growing.words) == ("10", "")
    assert (steady.full_on, steady.words) == (None, "does not change")


async def test_the_verb_and_the_report_show_the_history_of_a_ledger(tmp_path: Path) -> None:
    url, clock = str(tmp_path / "ledger.db"), Clock()
    today = int(datetime.now(UTC).timestamp()) // DAY * DAY
    async with Ledger(url, clock=clock) as ledger:
        for day in range(20):
            clock.now = float(today - (19 - day) * DAY)
            await record(ledger, [reading(10 * day, 200)])
        clock.now = float(today)
        assert len((await read_steps(ledger, 30 * DAY))[0].points) == 20, "days, for there are enough of them"
        assert len((await read_steps(ledger, 2 * DAY))[0].points) == 3, "hours"
    shown = await asyncio.to_thread(interp, "ledger", "history", url)
    assert (shown.code, "team-a/compute" in shown.out) == (1, True), "full tomorrow"
    asked = ("ledger", "history", url, "-o", "json")
    found = json.loads((await asyncio.to_thread(interp, *asked)).out)
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    assert [one["name"] for one in found] == ["compute"]
    assert json.loads((await asyncio.to_thread(interp, *asked, "-n", "team-b")).out) == []
    assert (await asyncio.to_thread(interp, "ledger", "history", url, "--since", "soon")).code == 2
    page = (await asyncio.to_thread(interp, "audit", "--ledger", url, "-o", "html")).out
    assert "History" in page
    assert "at this pace" in page
