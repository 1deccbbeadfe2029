"""What all Python tests rely on, whichever suite they are of."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Generator, Iterator
from typing import Any

import leftovers
import process_settings
import pytest
import time_limits

# Processes of pytest-xdist have it; what the command prints would be as wide.
os.environ.pop("COLUMNS", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--file-seed", type=int, help="of the order of the files, as an earlier run said it"
    )


def pytest_configure(config: pytest.Config) -> None:
    leftovers.adopt_orphans()
    # Processes of pytest-xdist have to collect in one order: what started them says the seed.
    told = getattr(config, "workerinput", {})
    if config.option.file_seed is None:
        config.option.file_seed = told.get("file_seed", random.randrange(1000))
    # Else pytest-xdist begins with the files that have the most tests.
    config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["file_seed"] = node.config.option.file_seed


def pytest_sessionstart(session: pytest.Session) -> None:
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:  # a process of pytest-xdist has none
        terminal.write_line(f"order of the files: --file-seed={session.config.option.file_seed}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that changes the process as it is imported does so for every other."""
    before = process_settings.settings(environment=False)
    report = yield
    if isinstance(collector, pytest.Module) and report.passed:
        said = process_settings.said_of("importing this file", before)
        if said:
            report.outcome, report.longrepr = "failed", said
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in an order of luck, each with its tests in its own: so none needs one before it."""
    files = list(dict.fromkeys(item.path for item in items))
    random.Random(config.option.file_seed).shuffle(files)
    items.sort(key=lambda item: files.index(item.path))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests run beside each other: threads that spin for the same CPUs are many times slower."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What the limit of a test ended, a process of pytest-xdist, has left that test's to us."""
    if session.config.pluginmanager.has_plugin("dsession"):
        leftovers.end(list(leftovers.processes(os.getpid())))


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    time_limits.start(item, settings.timeout)
    return True


@pytest.fixture(scope="session", autouse=True)
def nothing_outlives_the_run() -> Iterator[None]:
    yield from leftovers.watched("session", "the run")


@pytest.fixture(scope="module", autouse=True)
def nothing_outlives_its_file() -> Iterator[None]:
    yield from leftovers.watched("module", "this file's tests")


@pytest.fixture(scope="module", autouse=True)
def the_process_is_as_it_was() -> Iterator[None]:
    yield from process_settings.watched("this file's tests")


@pytest.fixture(autouse=True)
def nothing_outlives_its_test(nothing_outlives_its_file: None) -> Iterator[None]:
    yield from leftovers.watched("function", "this test")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Iterator[None]:
    with leftovers.made_for(fixturedef.scope):
        return (yield)
