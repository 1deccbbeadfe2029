"""Copies to the emulated GPU: each is over when its model of the bus says so."""

from __future__ import annotations

import time
from typing import Any

from unstarve.device.lane import map_tensors


class _EmulatedCopy:
    def __init__(self, data: Any, ready_ns: int) -> None:
        self._data = data
        self._ready_ns = ready_ns

    def is_over(self) -> bool:
        return time.monotonic_ns() >= self._ready_ns

    def wait(self) -> None:
        while not self.is_over():
            time.sleep(max(0, self._ready_ns - time.monotonic_ns()) / 1e9)

    def hand_over(self) -> Any:
        return self._data  # the emulated model waits for `ready_ns` on the device


class EmulatedLane:
    """The emulated model normalises by itself: it takes the time of it."""

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def start(self, batch: Any) -> _EmulatedCopy:
        ready_ns = 0

        def upload(tensor: Any) -> Any:
            nonlocal ready_ns
            uploaded = self._gpu.upload(tensor, non_blocking=True, overlap=True)
            ready_ns = max(ready_ns, uploaded.ready_ns)
            return uploaded

        return _EmulatedCopy(map_tensors(batch, upload), ready_ns)

    def pinned_memory(self) -> Any:
        from unstarve import _native

        return _native.pinned_by_emulated_gpu()
