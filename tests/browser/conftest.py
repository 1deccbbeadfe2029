"""The report's pages, written by the C++ tests' own sample, in a real Chromium.

Playwright drives the Chromium of the system (scripts/install_packages.sh test), none of its own.
What is missing is an error, not a reason to skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import leftovers
import pytest
from playwright import sync_api

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))  # what starts the program
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs Chromium and Playwright")


def report_test() -> Path:
    """The newest build of the module's tests, or the one that is named."""
    named = os.environ.get("UNSTARVE_REPORT_TEST")
    if named:
        return Path(named)
    built = list(ROOT.glob("build/*/src/report/report_test"))
    if not built:
        pytest.fail("there is no build/*/src/report/report_test: run `make build`")
    return max(built, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one HTML file per sample report."""
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(
        [report_test(), "--gtest_filter=Page.IsWrittenForTheBrowserTests", "--gtest_brief=1"],
        env={**os.environ, "UNSTARVE_WRITE_PAGES": str(folder)},
        check=True,
        timeout=60,
    )
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.fail("there is no Chromium: run scripts/install_packages.sh test")
    with sync_api.sync_playwright() as driver:
        with leftovers.starting_at_will():
            chromium = driver.chromium.launch(
                executable_path=program,
                headless=True,
                args=["--no-sandbox", "--disable-dev-shm-usage"],
            )
        yield chromium
        chromium.close()
