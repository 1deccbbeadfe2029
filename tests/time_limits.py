"""Ends a test that takes too long: says where it hangs, and ends what it has started.

pytest-timeout knows how long each may take. It would end pytest's process alone, and where
pytest-xdist has started that, nobody would see what it says.
"""

from __future__ import annotations

import faulthandler
import os
import threading

import leftovers
import pytest

STDERR = 2
#: Native code that keeps Python's lock stops the timer with everything else: for how long.
WITHOUT_PYTHON_S = 10.0


def start(item: pytest.Item, limit_s: float) -> None:
    before = set(leftovers.threads())
    timer = threading.Timer(limit_s, _end, (item, limit_s))
    timer.daemon = True

    def cancel() -> None:
        faulthandler.cancel_dump_traceback_later()
        timer.cancel()
        timer.join()

    item.cancel_timeout = cancel  # type: ignore[attr-defined]  # for pytest-timeout
    timer.start()
    faulthandler.dump_traceback_later(limit_s + WITHOUT_PYTHON_S, exit=True, file=STDERR)
    leftovers.limit_threads = set(leftovers.threads()) - before


def _end(item: pytest.Item, limit_s: float) -> None:
    try:
        said = ""
        if capture := item.config.pluginmanager.get_plugin("capturemanager"):
            capture.suspend_global_capture(in_=True)
            said = "".join(capture.read_global_capture())
        os.write(STDERR, f"\n{item.nodeid} took longer than {limit_s:g} s\n{said}\n".encode())
        faulthandler.dump_traceback(file=STDERR, all_threads=True)
        leftovers.kill({child.number for child in leftovers.processes(os.getpid())})
    finally:
        os._exit(1)
