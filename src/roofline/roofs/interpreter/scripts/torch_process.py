"""What scripts begin with that time torch in a process of its own, for `unstarve roofline`.

The first argument is torch's name of the device. Where torch cannot be had, one line says
{"error"}.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def say(**known: Any) -> None:
    """A JSON object a line."""
    print(json.dumps(known), flush=True)


try:
    import torch
except Exception as error:
    say(error=f"{sys.executable} has no torch that can be imported ({error})")
    sys.exit(0)

device = sys.argv[1]
on_gpu = device != "cpu"
if on_gpu and not torch.cuda.is_available():
    say(error=f"torch {torch.__version__} of {sys.executable} sees no GPU")
    sys.exit(0)
if on_gpu:
    torch.cuda.set_device(device)  # events are of the current GPU


def one_time(start: Callable[[], Any], count: int) -> float:
    """Seconds of `count` in a row; on a GPU by its events."""
    if not on_gpu:
        began = time.perf_counter()
        for _ in range(count):
            start()
        return time.perf_counter() - began
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        start()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


def rates(start: Callable[[], Any], amount: float, until: float) -> list[float]:
    """What a second has of it, in repeats of some 5 ms."""
    one_time(start, 1)
    once = max(one_time(start, 1), 1e-7)
    count = max(1, int(0.005 / once))
    found: list[float] = []
    while len(found) < 3 or (time.perf_counter() < until and len(found) < 50):
        found.append(amount * count / max(one_time(start, count), 1e-9))
    return found
