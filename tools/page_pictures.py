#!/usr/bin/env python3
"""Takes pictures of the first screens of reports' pages: wide, middling and narrow, light and dark.

    tools/page_pictures.py docs/images tests/data/runs/late_files page.html

A run's page is made first, of a copy. Needs Chromium, the packages of `make test` and a build.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
UNSTARVE = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release")) / "src/cli/unstarve"

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Width and height of a window, as tests/browser has them.
SCREENS = ((1440, 900), (800, 900), (390, 844))


#: Of a picture: a page has few, and pictures in a repository stay with it.
COLOURS = 96


def page_of(run: Path, folder: Path) -> Path:
    copy = Path(shutil.copytree(run, folder / run.name))
    page = folder / f"{run.name}.html"
    subprocess.run([UNSTARVE, "report", copy, "--html", page], check=True, capture_output=True)
    return page


def take(browser: Browser, page: Path, folder: Path) -> list[Path]:
    """The pictures' files."""
    taken = []
    for width, height in SCREENS:
        for scheme in ("light", "dark"):
            size = {"width": width, "height": height}
            tab = browser.new_page(viewport=size, color_scheme=scheme)
            tab.goto(page.resolve().as_uri())
            picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
            taken.append(folder / f"{page.stem}-{width}-{scheme}.png")
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(taken[-1], optimize=True)
            tab.close()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("shown", type=Path, nargs="+", help="pages, or folders of runs")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("page_pictures: there is no Chromium", file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as name:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for shown in options.shown:
            page = page_of(shown, Path(name)) if shown.is_dir() else shown
            for picture in take(browser, page, options.folder):
                print(picture)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
