"""Writes down where the time of unstarve's own loader goes: its counters, a few times a second."""

from __future__ import annotations

import os
from typing import Any

from .recorder import RECORDER, STAGE, now_ns
from .ring import ABSENT

#: Between two looks at the counters.
_PERIOD_NS = 250_000_000

#: Number of the stage (docs/formats/run.md), its time among the counters, and its amount.
_STAGES = (
    (0, "read_ns", "bytes_read"),
    (1, "decode_ns", "images"),
    (2, "resize_ns", "images"),
    (3, "load_ns", "images"),
    (4, "load_cpu_ns", None),
    (5, "threads_wait_ns", None),
    (6, "consumer_wait_ns", "batches"),
)


def counters(native: Any) -> dict[str, int] | None:
    """Those of a compiled loader, or None where there is none."""
    if native is None:
        return None
    try:
        stats: dict[str, int] = native.stats()
        return stats
    except Exception as error:
        RECORDER.note_error(error)
        return None


class Stages:
    """The stages of one compiled loader, from `before`, its counters at `start_ns`, on."""

    __slots__ = ("_before", "_loader_id", "_native", "_process", "_since_ns")

    def __init__(
        self, native: Any, loader_id: int, start_ns: int, before: dict[str, int] | None
    ) -> None:
        self._native = native
        self._loader_id = loader_id
        self._since_ns = start_ns
        self._before = before or {}
        self._process = os.getpid()

    def ready_batches(self) -> int:
        """Batches that lie ready; absent in a forked child, where the loader's locks may be held
        by threads that are not there."""
        if os.getpid() != self._process:
            return ABSENT
        try:
            ready: int = self._native.ready_batches
            return ready
        except Exception as error:
            RECORDER.note_error(error)
            return ABSENT

    def note(self, at_end: bool = False) -> None:
        """Called after each wait for a batch; records when it is time to."""
        start, end = self._since_ns, now_ns()
        if (end - start < _PERIOD_NS and not at_end) or os.getpid() != self._process:
            return
        now = counters(self._native)
        if now is None:
            self._since_ns = end + 3600 * 10**9  # Not to be asked again and again.
            return
        before, self._before, self._since_ns = self._before, now, end

        def since(name: str) -> int:
            return now[name] - before.get(name, 0) if name in now else ABSENT

        threads = now.get("threads", ABSENT)
        for stage, time, amount in _STAGES:
            if time in now:
                passed = since(amount) if amount is not None else ABSENT
                numbers = (self._loader_id, stage, since(time), passed, threads)
                RECORDER.record(STAGE, start, end, *numbers)
