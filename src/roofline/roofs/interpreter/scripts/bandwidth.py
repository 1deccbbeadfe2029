"""`python -c torch_process + this DEVICE SECONDS BYTES`: how fast torch reads and writes memory.

Prints {"bytes_per_s": [...], "torch"} or {"why_not"}: for reading, then for a triad.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch_process import device, rates, say

seconds, elements = float(sys.argv[2]), int(sys.argv[3]) // 4

Work = tuple[float, Callable[[], Any]]  # bytes of one, and what starts it


def read() -> Work:
    b, total = torch.ones(elements, device=device), torch.empty((), device=device)
    return 4.0 * elements, lambda: torch.sum(b, 0, out=total)


def triad() -> Work:
    a, b, c = (torch.ones(elements, device=device) for _ in range(3))
    return 12.0 * elements, lambda: torch.add(b, c, alpha=3, out=a)


for make in (read, triad):
    try:
        amount, start = make()
        found = rates(start, amount, time.perf_counter() + seconds / 2)
        say(bytes_per_s=found, torch=torch.__version__)
    except Exception as error:
        say(why_not=str(error).split("\n")[0][:200])
