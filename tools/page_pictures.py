#!/usr/bin/env python3
"""Takes pictures of the first screen of a report's page: wide, middling and narrow, light and dark.

usage: tools/page_pictures.py PAGE FOLDER   (needs Chromium and the packages of `make test`)
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Width and height of a window, as tests/browser has them.
SCREENS = ((1440, 900), (800, 900), (390, 844))


def take(page: Path, folder: Path, program: str) -> list[Path]:
    """The pictures' files."""
    taken = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width, height in SCREENS:
            for scheme in ("light", "dark"):
                tab = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                tab.goto(page.resolve().as_uri())
                taken.append(folder / f"{page.stem}-{width}-{scheme}.png")
                tab.screenshot(path=taken[-1])
                tab.close()
        browser.close()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("page_pictures: there is no Chromium", file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    for picture in take(options.page, options.folder, program):
        print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
