"""What a file of tests changes of its process, on which those of later files hang: how many threads
torch adds with, the environment, the folder.

Files come in an order of luck: one that hangs on an earlier one's change fails now and then.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

#: pytest changes them itself.
_OF_PYTEST = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION")
_ENVIRONMENT = "environment's "


def settings(*, environment: bool) -> dict[str, object]:
    """By name, in words; of the environment only where it is asked for: libraries change it when
    they are imported."""
    found: dict[str, object] = {}
    if environment:
        for name, value in os.environ.items():
            if name not in _OF_PYTEST:
                found[f"{_ENVIRONMENT}{name}"] = value
    found["working directory"] = str(Path.cwd())
    found["umask"] = _umask()
    found["most open files"] = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        found[f"handler of {number.name}"] = signal.getsignal(number)
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch's threads"] = torch.get_num_threads()
        found["torch's default type"] = torch.get_default_dtype()
        found["torch's gradients"] = torch.is_grad_enabled()
        found["torch's determinism"] = torch.are_deterministic_algorithms_enabled()
    return found


def changed(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """A line for each that differs; of torch's only those that both have."""
    lines = []
    for name in sorted({*before, *after}):
        if name.startswith("torch") and not (name in before and name in after):
            continue  # it was imported in between
        was, now = before.get(name, "none"), after.get(name, "none")
        if was != now:
            lines.append(f"{name}: {was} -> {now}")
    return lines


def watched(who: str) -> Iterator[None]:
    """Of a fixture: fails where a setting is another at its end than at its beginning, and puts
    back what it can."""
    before = settings(environment=True)
    yield
    if said := said_of(who, before):
        pytest.fail(said, pytrace=False)


def said_of(who: str, before: dict[str, object]) -> str:
    """What has changed since, of which the environment, the folder and torch's threads are put
    back; empty where nothing has."""
    has_environment = any(name.startswith(_ENVIRONMENT) for name in before)
    lines = changed(before, settings(environment=has_environment))
    if not lines:
        return ""
    _restore(before, has_environment)
    return f"{who} changed the process:" + "".join(f"\n  {line}" for line in lines)


def _restore(before: dict[str, object], has_environment: bool) -> None:
    if has_environment:
        environment = {
            name.removeprefix(_ENVIRONMENT): str(value)
            for name, value in before.items()
            if name.startswith(_ENVIRONMENT)
        }
        for name in {*os.environ} - {*environment, *_OF_PYTEST}:
            del os.environ[name]
        os.environ.update(environment)
    os.chdir(str(before["working directory"]))
    if "torch's threads" in before:
        sys.modules["torch"].set_num_threads(before["torch's threads"])


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
