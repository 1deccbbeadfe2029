"""The HTML report as a reader meets it: complete, quiet, legible, at any width and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from accessibility import serious_faults

pytestmark = pytest.mark.browser

ALL_PAGES = ("verified", "written", "folded", "diagnosis", "several", "hostile", "bare")

# The smallest contrast of any text that is seen, by the formula of WCAG 2, with the text itself.
WORST_CONTRAST = """() => {
  const channel = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const rgba = (text) => {
    const parts = text.match(/[0-9.]+/g).map(Number);
    return parts.length === 3 ? [...parts, 1] : parts;
  };
  const behind = (element) => {
    if (element.classList.contains("on-share")) {
      const name = [...element.classList].find((c) => c !== "on-share");
      return rgba(getComputedStyle(element.parentNode.querySelector("rect." + name)).fill);
    }
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  let worst = [99, ""];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.textContent.trim();
    if (!text || ["SCRIPT", "title"].includes(element.nodeName)) continue;
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(rgba(ink)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, text];
  }
  return worst;
}"""


#: Of an element's text, as it is laid out.
LINES_OF = """(element) => {
  const text = document.createRange();
  text.selectNodeContents(element);
  return text.getClientRects().length;
}"""


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """The page, with everything it complains about or asks for in `page.remarks`."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.remarks = []
    page.on("console", lambda message: page.remarks.append(message.text))
    page.on("pageerror", lambda error: page.remarks.append(str(error)))
    page.on("dialog", lambda dialog: page.remarks.append(f"dialog: {dialog.message}"))
    address = path.as_uri()
    page.on(
        "request",
        lambda request: (
            page.remarks.append(f"request: {request.url}")
            if request.url != address and not request.url.startswith("data:")
            else None
        ),
    )
    page.goto(address)
    yield page
    context.close()


@pytest.mark.parametrize("name", ALL_PAGES)
def test_loads_without_remarks_or_requests(browser: Any, pages: Path, name: str) -> None:
    with opened(browser, pages / f"{name}.html") as page:
        page.wait_for_load_state("networkidle")
        assert page.remarks == []
        assert page.locator("h1").count() == 1


@pytest.mark.parametrize("name", ALL_PAGES)
@pytest.mark.parametrize("width", [320, 360, 760, 1280])
def test_does_not_scroll_sideways(browser: Any, pages: Path, name: str, width: int) -> None:
    with opened(browser, pages / f"{name}.html", viewport={"width": width, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 390, 760, 1280])
def test_a_change_stands_in_its_card_line_by_line(browser: Any, pages: Path, width: int) -> None:
    with opened(browser, pages / "written.html", viewport={"width": width, "height": 800}) as page:
        card, change = (page.locator(name).first.bounding_box() for name in (".card", ".change"))
        assert change["x"] + change["width"] <= card["x"] + card["width"]
        assert change["height"] >= 5 * 20
        label = page.locator(".answer h2", has_text="Change")
        assert label.evaluate(LINES_OF) == 1


#: Every element that is seen and whose content is wider than itself.
RUN_OUT = """() => [...document.querySelectorAll("main *")]
  .filter((e) => !e.closest("svg, [popover], .off-screen, .comparison thead"))
  .filter((e) => getComputedStyle(e).display !== "inline")
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("name", ALL_PAGES)
def test_nothing_runs_out_of_its_card(browser: Any, pages: Path, name: str) -> None:
    size = {"width": 390, "height": 844}
    with opened(browser, pages / f"{name}.html", viewport=size) as page:
        assert page.evaluate(RUN_OUT) == []


SCREENS = [(1440, 900), (390, 844)]


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("name", ["verified", "diagnosis", "written"])
def test_the_first_screen_answers_three_questions(
    browser: Any, pages: Path, name: str, size: tuple[int, int]
) -> None:
    width, height = size
    path = pages / f"{name}.html"
    with opened(browser, path, viewport={"width": width, "height": height}) as page:
        assert len(page.inner_text("h1").split()) <= 12
        parts = ["h1", ".answer.Why", ".answer.Change", ".answer.Gain .gained"]
        boxes = [page.locator(part).bounding_box() for part in parts]
        tops = [box["y"] for box in boxes]
        assert tops == sorted(tops)
        assert page.locator("main > :first-child h1").count() == 1, "nothing stands before it"
        assert 1 <= page.locator(".answer.Why .parts li").count() <= 3
        if name != "written":  # whose diff has a line of 300 characters
            assert boxes[-1]["y"] + boxes[-1]["height"] <= height


@pytest.mark.parametrize("name", ALL_PAGES)
def test_no_path_of_the_first_screen_is_long(browser: Any, pages: Path, name: str) -> None:
    with opened(browser, pages / f"{name}.html") as page:
        # Cut middles are there to be copied, without a width.
        page.locator(".cut > span").evaluate_all("(all) => all.forEach((cut) => cut.remove())")
        words = page.inner_text(".verdict").replace('"', " ").split()
        assert [word for word in words if "/" in word and len(word) > 40] == []


def test_a_change_is_copied_whole(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "written.html") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.click("text=Copy change")
        page.wait_for_selector("text=Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("--- a/job/train.py\n+++ b/job/train.py\n@@")
        assert "/home/somebody/" + "y" * 80 in copied


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["verified", "several", "bare"])
@pytest.mark.parametrize("width", [360, 1280])
def test_text_has_contrast(browser: Any, pages: Path, name: str, scheme: str, width: int) -> None:
    size = {"width": width, "height": 800}
    path = pages / f"{name}.html"
    with opened(browser, path, color_scheme=scheme, viewport=size) as page:
        ratio, text = page.evaluate(WORST_CONTRAST)
        assert ratio >= 4.5, f"{ratio:.2f} for {text!r}"


def test_dark_is_dark(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html", color_scheme="dark") as page:
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(map(int, background[4:-1].split(","))) < 40


def test_says_what_was_found_and_proved(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html") as page:
        text = page.inner_text("main")
        for part in (
            "The GPU waits for data 79 % of the time",
            "The GPU waits for input 79 % of the time",
            "predicted 5.71x [5.30..5.84]",
            "measured 5.75x [5.69..5.80]",
            "98.3 %",
            "DRAM activity",
            "emulated",
        ):
            assert part in text


def test_the_legend_adds_up(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html") as page:
        rows = page.locator(".legend:not(.terms) tbody tr")
        cells = [rows.nth(i).locator("td").all_inner_texts() for i in range(rows.count())]
        for column in zip(*cells, strict=True):
            assert sum(round(float(cell.split()[0]) * 10) for cell in column) == 1000


def test_a_narrow_legend_leaves_its_names_the_whole_width(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html", viewport={"width": 360, "height": 800}) as page:
        row = page.locator(".legend tbody tr").first
        name, number = row.locator("th").bounding_box(), row.locator("td").first.bounding_box()
        assert name["width"] == pytest.approx(row.bounding_box()["width"], abs=1)
        assert number["y"] >= name["y"] + name["height"] - 1


def test_the_curves_are_read_by_keyboard(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html") as page:
        while page.evaluate("document.activeElement.id") != "curves":
            page.keyboard.press("Tab")
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
        page.keyboard.press("PageUp")
        assert all("%" in text for text in page.locator(".readout").all_inner_texts())
        spoken = page.get_attribute("#curves", "aria-valuetext")
        assert "before" in spoken and "unstarve_loader" in spoken
        page.keyboard.press("End")
        assert page.get_attribute("#curves", "aria-valuenow") == "11.9"


def test_the_curves_are_read_by_pointer_at_one_time(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html") as page:
        box = page.locator(".curve svg").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
        texts = page.locator(".readout").all_inner_texts()
        assert len(texts) == 3
        assert len({text.split(":")[0] for text in texts}) == 1
        page.mouse.move(2, 2)
        assert page.locator(".readout").all_inner_texts() == ["", "", ""]


def test_no_script_but_its_own_runs(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html") as page:
        page.evaluate(
            """() => {
              const script = document.createElement("script");
              script.textContent = "window.injected = true";
              document.body.append(script);
              document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='injected = 1'>");
            }"""
        )
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.injected") is None


def test_reads_without_scripts(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html", java_script_enabled=False) as page:
        line = page.locator(".curve .line").first.bounding_box()
        assert line["width"] > 500
        assert line["height"] > 20


def test_prints_dark_on_light(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "verified.html", color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        ratio, text = page.evaluate(WORST_CONTRAST)
        assert ratio >= 4.5, f"{ratio:.2f} for {text!r}"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )


def views(page: Any) -> list[list[float]]:
    """What each plot shows: from where on, and how much; all are 1000 wide at first."""
    boxes = page.locator("#curves svg.timed").evaluate_all(
        "(all) => all.map((svg) => svg.getAttribute('viewBox'))"
    )
    return [[float(number) for number in box.split()[::2]] for box in boxes]


def test_a_path_that_is_cut_is_copied_whole(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "written.html") as page:
        cut = page.locator(".cut").first
        assert cut.locator("span").bounding_box()["width"] < 1
        selected = cut.evaluate(
            "(cut) => { getSelection().selectAllChildren(cut); return getSelection().toString(); }"
        )
        assert selected == cut.text_content() != ""


def test_the_start_up_is_folded_until_it_is_asked_for(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "folded.html") as page:
        assert views(page) == [[0, 1000]] * 5
        page.click("text=Show them")
        unfolded = views(page)
        assert all(start == pytest.approx(-208, abs=1) for start, _ in unfolded)
        # What follows the last step, too.
        assert all(width == pytest.approx(1240, abs=2) for _, width in unfolded)
        page.click("text=Fold them")
        assert views(page) == [[0, 1000]] * 5
        assert page.remarks == []


def test_curves_and_tracks_zoom_together(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "folded.html") as page:
        page.click("text=Zoom in")
        assert all(view == pytest.approx([250, 500]) for view in views(page))
        page.focus("#curves")
        page.keyboard.press("-")
        assert all(view == pytest.approx([0, 1000]) for view in views(page))
        page.locator("#curves").scroll_into_view_if_needed()
        box = page.locator(".curve svg").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
        page.mouse.up()
        assert all(
            start == pytest.approx(250, abs=3) and width == pytest.approx(250, abs=3)
            for start, width in views(page)
        )
        labels = page.locator(".x-axis text").all_text_contents()
        assert labels and all(2 <= float(label.split()[0]) <= 5 for label in labels)


def test_tracks_lie_below_the_curves_at_the_same_times(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "folded.html") as page:
        plots = page.locator("#curves svg.timed")
        boxes = [plots.nth(i).bounding_box() for i in range(plots.count())]
        assert len({(box["x"], box["width"]) for box in boxes}) == 1
        assert page.locator(".track").count() == 2


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_word_is_explained_by_keyboard(browser: Any, pages: Path, key: str) -> None:
    with opened(browser, pages / "verified.html", java_script_enabled=False) as page:
        word = page.locator("button.term", has_text="AU").first
        described = page.locator("#" + word.get_attribute("aria-describedby"))
        assert "MLPerf Storage" in described.inner_text()
        word.focus()
        page.keyboard.press(key)
        explained = page.locator(".explained:popover-open")
        assert "MLPerf Storage" in explained.inner_text()
        page.keyboard.press("Escape")
        assert explained.count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "dark")])
@pytest.mark.parametrize("name", ALL_PAGES)
def test_axe_finds_nothing_serious(
    browser: Any, pages: Path, name: str, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 844}
    with opened(browser, pages / f"{name}.html", color_scheme=scheme, viewport=size) as page:
        assert serious_faults(page) == []


def test_axe_finds_what_is_serious(browser: Any, pages: Path) -> None:
    with opened(browser, pages / "bare.html") as page:
        page.evaluate("document.documentElement.removeAttribute('lang')")
        assert [name for name, _ in serious_faults(page)] == ["html-has-lang"]
