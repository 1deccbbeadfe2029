"""Ends a test that takes too long, and says where it hangs.

pytest-timeout knows how long each may take; its own ways would end pytest's process with the test,
or leave behind what the test has started. Here the test fails, and its fixtures end what is left
(leftovers.py). Only where the main thread hangs in native code the process ends.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import tempfile
import threading
from types import FrameType

import leftovers
import pytest

STDERR = 2
#: What a test that failed so has for its fixtures; after as long again, the process ends even if
#: native code keeps Python's lock.
GRACE_S = 30.0


def start(item: pytest.Item, limit_s: float) -> None:
    def fail(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(f"it took longer than {limit_s:g} s\n{_stacks()}")

    before = set(leftovers.threads())
    timer = threading.Timer(limit_s + GRACE_S, _end_process, [item, limit_s])
    timer.daemon = True
    handler = signal.signal(signal.SIGALRM, fail)

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        faulthandler.cancel_dump_traceback_later()
        timer.cancel()
        timer.join()

    item.cancel_timeout = cancel  # type: ignore[attr-defined]  # for pytest-timeout
    timer.start()
    faulthandler.dump_traceback_later(limit_s + 2 * GRACE_S, exit=True, file=STDERR)
    leftovers.limit_threads = set(leftovers.threads()) - before
    signal.setitimer(signal.ITIMER_REAL, limit_s)


def _stacks() -> str:
    """Of all threads."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file=file, all_threads=True)
        file.seek(0)
        return file.read()


def _end_process(item: pytest.Item, limit_s: float) -> None:
    try:
        if capture := item.config.pluginmanager.get_plugin("capturemanager"):
            capture.suspend_global_capture(in_=True)
        os.write(STDERR, f"\n{item.nodeid} took longer than {limit_s:g} s\n".encode())
        faulthandler.dump_traceback(file=STDERR, all_threads=True)
        leftovers.kill({child.number for child in leftovers.processes(os.getpid())})
    finally:
        os._exit(1)
