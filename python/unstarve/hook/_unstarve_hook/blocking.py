"""Records calls of the job that block the host until the device has caught up.

Only where CUDA is in use, and only calls that a kernel's results can hold up: `.item()`, `.cpu()`
and `.tolist()` of CUDA tensors, and torch.cuda.synchronize().
"""

from __future__ import annotations

import os
import sys
from operator import attrgetter
from typing import Any

from .recorder import RECORDER, SYNC, now_ns
from .wrap import hide_our_frame, in_the_place_of, put


def watch() -> None:
    """Called once, when the job has stepped and CUDA is initialised."""
    torch: Any = sys.modules["torch"]
    # A tensor says this in a fifth of the time of its device's name.
    mark = "is_cpu" if os.environ.get("UNSTARVE_PROFILE_DEVICE") == "cpu" else "is_cuda"
    for name in ("item", "tolist", "cpu"):
        put(torch.Tensor, name, _timed_method(getattr(torch.Tensor, name), attrgetter(mark)))
    put(torch.cuda, "synchronize", _timed(torch.cuda.synchronize))


def _timed_method(original: Any, is_on_device: Any) -> Any:
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        if not is_on_device(self):
            return original(self, *arguments, **named)
        start = now_ns()
        try:
            return original(self, *arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            RECORDER.record(SYNC, start, now_ns())

    return in_the_place_of(original, method)


def _timed(original: Any) -> Any:
    def function(*arguments: Any, **named: Any) -> Any:
        start = now_ns()
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            RECORDER.record(SYNC, start, now_ns())

    return in_the_place_of(original, function)
