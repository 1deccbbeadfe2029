"""Device work whose length the scripts know: passes over one large tensor."""

from __future__ import annotations

from collections.abc import Callable

import torch
from checks import milliseconds

_tensor = torch.empty(1 << 28, device="cuda")  # 1 GiB


def work(passes: int) -> None:
    """Some 1 ms for each pass on an A100; asynchronous."""
    for _ in range(passes):
        _tensor.add_(1)


def device_ms(act: Callable[[], object]) -> float:
    """Milliseconds from before to after `act` in the current stream, by events."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    act()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


def measure_pass() -> float:
    """Milliseconds of the device for one pass."""
    work(1)
    return min(device_ms(lambda: work(10)) for _ in range(3)) / 10


def host_ms(*acts: Callable[[], object]) -> float:
    """Milliseconds that the calls take the host, on an idle device."""
    torch.cuda.synchronize()
    return milliseconds(*acts)


def in_stream(stream: torch.cuda.Stream, act: Callable[[], object]) -> None:
    """`act` in another stream, after what the current one holds, which goes on after it."""
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        act()


def join(*streams: torch.cuda.Stream) -> None:
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)
