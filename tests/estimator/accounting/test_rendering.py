"""The report in every format: the same figures, all findings where machines read, pages that names cannot break."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from estimator.accounting.audit.assembly import build_report
from estimator.accounting.audit.findings import Findings
from estimator.accounting.audit.rendering import RENDERERS
from estimator.accounting.audit.report import AuditReport, Origin
from estimator.accounting.audit.totals import Tally
from estimator.accounting.demand import binding_decoder
from estimator.quotas.objects import Quota, read_quota
from tests.estimator.accounting.samples import binding, federated, limit

ORIGIN = Origin("2026-11-16T23:36:00Z", "dump.json", "1.19")
NAME = "<script>alert(1)</script>|\x1b[31m\u202ex"
HOSTILE = binding(NAME, NAME, components=[{"name": "\x1b[31mred", "replicas": 1}], clusters=("m1",))


def job(name: str, cpu: str = "4", memory: str = "469778485380", namespace: str = "team-a") -> dict[str, Any]:
    needs = {"resourceRequest": {"cpu": cpu, "memory": memory}}
    return binding(
        name, namespace, components=[{"name": "main", "replicas": 1, "replicaRequirements": needs}], clusters=("m1",)
    )


def audit(*bindings: dict[str, Any], quotas: tuple[Quota, ...] = (), most: int | None = 200) -> AuditReport:
    tally = Tally(findings=Findings(most))
    for obj in bindings:
        tally.add(binding_decoder.decode(json.dumps(obj)))
    return build_report(tally, quotas, origin=ORIGIN)


def reported(overall: dict[str, str], used: dict[str, str]) -> Quota:
    return read_quota(federated(overall) | {"status": {"overallUsed": used}})


class Page(HTMLParser):
    """The tags of a page, what it loads from elsewhere, and the text of its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.titles: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href", "style", "onload") and value]
        self.titles += [value for name, value in attrs if name == "title" and value]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def html(report: AuditReport) -> Page:
    return Page(RENDERERS["html"](report))


FULL = audit(job("a"), HOSTILE, quotas=(reported({"cpu": "3", "memory": "1Ti", "limits.cpu": "1"}, {"cpu": "9"}),))


@pytest.mark.parametrize("name", list(RENDERERS))
def test_every_format_shows_the_same_figures(name: str) -> None:
    shown = RENDERERS[name](FULL)
    numbers = ("469778485380", "1.3333") if name == "csv" else ("437.5 GiB", "133%")
    for figure in ("over-limit", "reported-wrong", "limits.cpu", "team-a", *numbers):
        assert figure in shown, figure


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_people_never_read_a_size_in_bare_bytes_or_odd_kibibytes(name: str) -> None:
    report = audit(job("a"), job("b", memory="7812500Ki"), quotas=(limit({"memory": "100Gi", "cpu": "1"}),))
    text = html(report).text if name == "html" else RENDERERS[name](report)
    assert "445 GiB" in text
    assert not re.search(r"\d{7,}|\dKi\b", text)


def test_the_page_opens_with_date_source_totals_and_picture_then_actions_then_details() -> None:
    page = html(FULL)
    parts = ("16 November 2026, 23:36 UTC", "dump.json", "namespaces", "All quotas", "The line is the limit",
             "What needs action", "over-limit", "Details", "FederatedResourceQuota team-a/compute key")  # fmt: skip
    places = [page.text.index(part) for part in parts]
    assert places == sorted(places)
    assert page.tags.index("svg") < page.tags.index("details")
    assert "469778485380 bytes" in page.titles, "the exact amount stands behind the rounded one"


def test_the_page_needs_nothing_else_and_no_name_becomes_a_tag() -> None:
    page = html(FULL)
    assert {"html", "style", "table", "svg", "details", "summary"} <= set(page.tags)
    assert not {"script", "link", "img", "b>"} & set(page.tags)
    assert page.outside == []
    assert "\x1b" not in page.text
    assert "\u202e" not in page.text
    assert "<script>alert(1)</script>|\\x1b[31m\\u202ex" in page.text


def test_the_page_has_colours_for_light_dark_and_paper() -> None:
    shown = RENDERERS["html"](FULL)
    assert "prefers-color-scheme: dark" in shown
    assert "@media print" in shown


def test_hundreds_of_quotas_are_one_picture() -> None:
    quotas = tuple(
        read_quota(federated({"cpu": str(limit)}, f"team-{limit:04}", "compute")) for limit in range(1, 1001)
    )
    report = audit(*(job("a", namespace=f"team-{number:04}") for number in range(1, 1001)), quotas=quotas)
    page = html(report)
    assert page.tags.count("svg") == 2 + 2 * 1000, "columns, the fullest as bars, and small ones in the details"
    assert "Each of 1,000 keys of quotas" in page.text
    assert report.totals.keys_over == 3
    assert 'class="printed"><summary><b>team-' not in RENDERERS["html"](report), "a thousand namespaces fit no table"


def test_machines_get_every_finding_and_people_are_told_how_many_more_there_are() -> None:
    jobs = [binding(f"job-{i:04}", components=[{"name": "x", "replicas": 1}], clusters=("m1",)) for i in range(450)]
    every, first = audit(*jobs, most=None), audit(*jobs)
    assert len(msgspec.to_builtins(every)["findings"]) == 450
    rows = list(csv.DictReader(io.StringIO(RENDERERS["csv"](every))))
    assert sum(row["record"] == "finding" for row in rows) == 450
    for name in ("text", "markdown", "html"):
        assert "and 250 more of requests-missing" in RENDERERS[name](first).lower(), name
    assert "and 250 more of requests-missing" in html(every).text
    assert [found.object for found in every.findings] == sorted(found.object for found in every.findings)


def test_totals_compare_what_is_limited_with_the_smallest_limit() -> None:
    quotas = (limit({"cpu": "10", "memory": "1Ti"}), read_quota(federated({"cpu": "8"}, name="tighter")))
    report = audit(job("a"), job("b", namespace="free"), quotas=quotas)
    totals = {
        total.resource: (total.used, total.limited, total.limit, total.share) for total in report.totals.resources
    }
    assert totals["cpu"] == ("8", "4", "8", 0.5)
    assert totals["pods"] == ("2", "0", None, None)
    assert (report.totals.namespaces, report.totals.quotas, report.totals.bindings) == (2, 2, 2)


def test_a_share_that_is_only_rounded_is_not_called_full() -> None:
    assert "<100%" in RENDERERS["text"](audit(job("a", cpu="4999m"), quotas=(limit({"cpu": "5"}),)))
    assert ">100%" in RENDERERS["text"](audit(job("a", cpu="5001m"), quotas=(limit({"cpu": "5"}),)))


def test_csv_has_one_number_and_its_unit_in_a_row() -> None:
    rows = list(csv.DictReader(io.StringIO(RENDERERS["csv"](FULL))))
    quota = {row["key"]: row for row in rows if row["record"] == "quota"}
    assert (quota["cpu"]["unit"], quota["cpu"]["used"], quota["cpu"]["limit"], quota["cpu"]["drift"]) == (
        "cores", "4", "3", "5",
    )  # fmt: skip
    assert (quota["memory"]["unit"], quota["memory"]["limit"]) == ("bytes", str(2**40))


def test_names_cannot_steer_the_terminal_or_break_tables() -> None:
    report = audit(HOSTILE)
    assert "\x1b" not in RENDERERS["text"](report)
    assert "\\|" in RENDERERS["markdown"](report)
    assert "<script>" not in RENDERERS["markdown"](report)
    rows = list(csv.DictReader(io.StringIO(RENDERERS["csv"](report))))
    assert [row["code"] for row in rows if row["record"] == "finding"] == ["requests-missing"]
