"""The report's pages, written by the C++ tests' own sample, in a real Chromium.

Not a part of `make test`: Chromium is large. What is missing is said by the reason of the skip.
Debian and Ubuntu: apt-get install chromium; then pip install playwright into the environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs Chromium and Playwright")


def report_test() -> Path | None:
    """The newest build of the module's tests, or the one that is named."""
    named = os.environ.get("UNSTARVE_REPORT_TEST")
    if named:
        return Path(named)
    built = ROOT.glob("build/*/src/report/report_test")
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one HTML file per sample report."""
    program = report_test()
    if program is None:
        pytest.skip("no build/*/src/report/report_test: run `make build`")
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(
        [program, "--gtest_filter=Page.IsWrittenForTheBrowserTests", "--gtest_brief=1"],
        env={**os.environ, "UNSTARVE_WRITE_PAGES": str(folder)},
        check=True,
        timeout=60,
    )
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=program,
            headless=True,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        yield chromium
        chromium.close()
