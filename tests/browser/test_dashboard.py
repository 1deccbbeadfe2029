"""`unstarve serve` as somebody uses it: search, open, compare, look closer, store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from accessibility import serious_faults
from dashboards import Dashboard, serving
from recorded import recorded

pytestmark = pytest.mark.browser

RUNS = ("images", "late_files", "blurs")
PAGES = (
    "/",
    "/run?name=images",
    "/compare?run=images&run=late_files",
    "/curves?run=images&run=late_files",
)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    folder = tmp_path_factory.mktemp("served") / "runs"
    folder.mkdir()
    for name in RUNS:
        recorded(name, folder)
    with serving(folder) as server:
        yield server


@contextmanager
def opened(browser: Any, dashboard: Dashboard, path: str, **options: Any) -> Iterator[Any]:
    """The page; `page.remarks` has what the browser complains of or asks others for."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.remarks = []
    page.on("console", lambda message: page.remarks.append(message.text))
    page.on("pageerror", lambda error: page.remarks.append(str(error)))
    own = dashboard.address.rstrip("/")
    page.on(
        "request",
        lambda request: (
            page.remarks.append(f"request: {request.url}")
            if not request.url.startswith((own, "data:", "blob:"))
            else None
        ),
    )
    page.goto(own + path)
    yield page
    context.close()


def wait_for_charts(page: Any, count: int = 3) -> None:
    page.wait_for_function(
        "(count) => document.querySelectorAll('.chart canvas').length >= 2 * count", arg=count
    )


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "dark")])
def test_pages_are_quiet_and_accessible(
    browser: Any, dashboard: Dashboard, path: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 844}
    with opened(browser, dashboard, path, color_scheme=scheme, viewport=size) as page:
        if path.startswith("/curves"):
            wait_for_charts(page)
        assert page.remarks == []
        assert serious_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_search_hides_what_it_does_not_mean(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/") as page:
        rows = page.locator("#runs tbody tr:visible")
        assert rows.count() == len(RUNS)
        page.fill("#search", "LATE")
        assert rows.count() == 1
        assert page.locator("#found").inner_text() == f"1 of {len(RUNS)} runs"
        page.fill("#search", "nothing of that name")
        assert rows.count() == 0


def test_chosen_runs_are_compared_and_drawn(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/") as page:
        page.check("input[value=images]")
        page.check("input[value=late_files]")
        page.click("text=Draw them over each other")
        wait_for_charts(page)
        assert page.locator("#chosen [data-run]").all_inner_texts() == ["late_files", "images"] or (
            page.locator("#chosen [data-run]").all_inner_texts() == ["images", "late_files"]
        )
        page.click("text=What differs between them")
        assert page.locator("h1").count() == 1
        page.click("text=All runs")
        assert page.locator("#runs").count() == 1


#: What dygraphs holds of the first chart: its labels and its rows.
DRAWN = """() => {
  const graph = [...document.querySelectorAll('.plot-area')][0].graph;
  return {labels: graph.getLabels(), window: graph.xAxisRange(), rows: graph.file_};
}"""


def test_a_chart_draws_what_the_store_has(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/curves?run=images") as page:
        wait_for_charts(page)
        drawn = page.evaluate(DRAWN)
        points = len(drawn["rows"])
        told = dashboard.json(
            "/api/series", run="images", metric="gpu.utilization_ratio", points=points
        )
        (series,) = told["series"]
        assert [row[0] for row in drawn["rows"]] == pytest.approx(told["t_s"])
        means = [row[1][1] for row in drawn["rows"]]
        for mean, stored in zip(means, series["mean"], strict=True):
            assert (mean is None) == (stored is None)
            assert mean is None or mean == pytest.approx(100 * stored)


def test_all_charts_show_the_same_time(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/curves?run=images") as page:
        wait_for_charts(page)
        page.wait_for_function(
            "() => new Set([...document.querySelectorAll('.plot-area')].map("
            "(area) => area.graph.xAxisRange().join())).size === 1"
        )
        (from_s, to_s) = page.evaluate(DRAWN)["window"]
        steps = dashboard.json("/api/series", run="images", metric="training.step_s")
        cores = dashboard.json("/api/series", run="images", metric="job.cpu_cores")
        assert from_s <= cores["whole_from_s"] < steps["whole_from_s"]
        assert to_s >= max(cores["whole_to_s"], steps["whole_to_s"])


def test_looking_closer_asks_for_more(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/curves?run=images") as page:
        wait_for_charts(page)
        whole = page.evaluate(DRAWN)
        area = page.locator(".plot-area").first.bounding_box()
        y = area["y"] + area["height"] / 2
        with page.expect_response(lambda reply: "from=" in reply.url and reply.ok):
            page.mouse.move(area["x"] + 0.4 * area["width"], y)
            page.mouse.down()
            page.mouse.move(area["x"] + 0.6 * area["width"], y, steps=4)
            page.mouse.up()
        page.wait_for_function(
            "(whole) => [...document.querySelectorAll('.plot-area')].every("
            "(area) => area.graph.xAxisRange()[1] < whole)",
            arg=whole["window"][1],
        )
        assert "from=" in page.locator("a.button").first.get_attribute("href")
        page.click("text=Show all of it")
        page.wait_for_function(
            "(whole) => document.querySelector('.plot-area').graph.xAxisRange()[1] === whole",
            arg=whole["window"][1],
        )


def test_charts_are_stored(browser: Any, dashboard: Dashboard, tmp_path: Path) -> None:
    begins = {"PNG": b"\x89PNG", "CSV": b"t_s,", "SVG": b"<svg"}
    with opened(browser, dashboard, "/curves?run=images") as page:
        wait_for_charts(page)
        for kind, bytes_ in begins.items():
            with page.expect_download() as download:
                page.locator(".chart").first.get_by_text(kind, exact=True).click()
            stored = tmp_path / kind
            download.value.save_as(stored)
            assert stored.read_bytes().startswith(bytes_)


def test_metrics_are_added_and_removed(browser: Any, dashboard: Dashboard) -> None:
    with opened(browser, dashboard, "/curves?run=images") as page:
        wait_for_charts(page)
        page.select_option("#metric", "host.cpu_busy_cores")
        wait_for_charts(page, 4)
        assert page.locator(".chart h2").last.inner_text() == "host.cpu_busy_cores, cores"
        page.locator(".chart").first.get_by_text("Remove").click()
        assert page.locator(".chart").count() == 4
        assert page.remarks == []
