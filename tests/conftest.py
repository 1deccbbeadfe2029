"""Tests of what took how long run in real time, beside whatever else the machine does."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

# Processes of pytest-xdist have it; what the command prints would be as wide.
os.environ.pop("COLUMNS", None)

# Another process that takes the CPU for some tenths of a second changes what such a test measures.
# What fails three times is wrong; each time is listed in pytest's summary (RERUN).
RERUNS = 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if item.get_closest_marker("real_time"):
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))


@pytest.fixture
def not_beside_neighbours(request: pytest.FixtureRequest) -> Callable[[bool], None]:
    """Called with whether a verdict blames other processes for taking the CPUs, which then is the
    right one and not what the test is about: it runs again, and is skipped the last time."""

    def look(busy: bool) -> None:
        if not busy:
            return
        why = "other processes use the CPUs"
        if getattr(request.node, "execution_count", 1) > RERUNS:
            pytest.skip(why)
        pytest.fail(why)

    return look
