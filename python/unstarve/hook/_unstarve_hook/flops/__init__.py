"""Counts, where `unstarve run --flops` asks for it, the floating-point operations of one step.

torch's ExecutionTraceObserver writes down the operators of that step with the shapes of what they
take. It watches from outside of them: nothing is dispatched otherwise, compiled code runs as it
is, and results stay what they are. What it wrote is read when the job ends, so that the training
does not wait for it; what came of it is `flops` in the ring's text (docs/formats/run.md).
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .. import float32
from ..recorder import RECORDER
from ..ring import ABSENT

_VARIABLE = "UNSTARVE_FLOPS"
#: The step that is counted, unless the job profiles itself then: behind the warm-up and what
#: torch.compile compiles in it, before the window of torch.profiler.
_STEP = 5
#: Later steps are tried while the job profiles itself.
_PATIENCE = 100
_LONGEST_RECORD_BYTES = 64 << 20
#: c10's: what its log writes is at least that bad.
_LOG_LEVEL = "FLAGS_caffe2_log_level"
_ERRORS_ALONE = 2


class Counter:
    """Told of every step. Anything that goes wrong here ends the counting, and nothing else."""

    def __init__(self) -> None:
        self._asked = _VARIABLE in os.environ
        self._path = ""
        self._facts: dict[str, Any] = {}
        self._open = False
        self._why_not = f"the job took fewer than {_STEP + 1} steps"

    def after_step(self, index: int, samples: int) -> None:
        if not self._asked or index < _STEP - 1:
            return
        try:
            if self._open:
                self._asked = False
                self._end(index, samples)
            elif not _torch().autograd._profiler_enabled():
                self._begin()
            else:
                self._why_not = "the job was profiling itself"
                self._asked = index < _STEP + _PATIENCE
        except Exception as error:
            self._refuse(f"{type(error).__name__}: {error}"[:200])
            RECORDER.note_error(error)

    def _begin(self) -> None:
        observer = _observer()
        if observer is None:
            self._refuse("this PyTorch has no ExecutionTraceObserver")
            return
        before = time.monotonic_ns()
        self._path = os.path.join(RECORDER.run_dir, f".flops-{os.getpid()}.json")
        with _QuietLog():
            added = observer._add_execution_trace_observer(self._path)
            # Where there is one, torch says yes as well, but has not made our file.
            if not added or not os.path.exists(self._path):
                self._path = ""
                self._refuse("the job has an ExecutionTraceObserver of its own")
                return
            self._open = True
            observer._enable_execution_trace_observer()
        self._facts = {"cost_ns": time.monotonic_ns() - before}

    def _end(self, index: int, samples: int) -> None:
        before = time.monotonic_ns()
        self._close()
        self._facts.update(step=index, **_of_device())
        if samples != ABSENT:
            self._facts["samples"] = samples
        self._facts["cost_ns"] += time.monotonic_ns() - before
        RECORDER.describe(flops={"refused": "the job ended before what was recorded was read"})

    def _close(self) -> None:
        if not self._open:
            return
        self._open = False
        observer = _observer()
        with _QuietLog():
            observer._disable_execution_trace_observer()
        observer._remove_execution_trace_observer()

    def _refuse(self, why: str) -> None:
        self._asked = False
        RECORDER.describe(flops={"refused": why})

    def finish(self) -> None:
        """At the job's end."""
        path, self._path = self._path, ""
        if not path:
            if _VARIABLE in os.environ and RECORDER.facts("flops") is None:
                RECORDER.describe(flops={"refused": self._why_not})
            return
        try:
            self._close()
            if "step" in self._facts:
                self._read(path)
            else:
                self._refuse(self._why_not)
        except Exception as error:
            RECORDER.describe(flops={"refused": f"{type(error).__name__}: {error}"[:200]})
        finally:
            _remove(path)

    def _read(self, path: str) -> None:
        size = os.path.getsize(path)
        if size > _LONGEST_RECORD_BYTES:
            self._refuse(f"what was recorded of the step takes {size >> 20} MiB")
            return
        from . import counting

        counted = counting.count_file(path, self._facts)
        RECORDER.describe(flops={**self._facts, **counted})

    def forget(self) -> None:
        """In a forked child, whose operators are no part of the step."""
        observing, self._open = self._open, False
        self._path = ""
        self._asked = False
        if observing:
            with _QuietLog():
                _observer()._disable_execution_trace_observer()


class _QuietLog:
    """torch says in its log that the observer begins and ends: not in the job's output."""

    def __enter__(self) -> None:
        self._level: Any = None
        try:
            import ctypes

            folder = os.path.join(os.path.dirname(_torch().__file__), "lib")
            library = ctypes.CDLL(os.path.join(folder, "libc10.so"), mode=os.RTLD_NOLOAD)
            self._level = ctypes.c_int.in_dll(library, _LOG_LEVEL)
            self._before = self._level.value
            self._level.value = max(self._before, _ERRORS_ALONE)
        except (OSError, ValueError, AttributeError):  # A torch that is built otherwise says it.
            self._level = None

    def __exit__(self, *error: object) -> None:
        if self._level is not None:
            self._level.value = self._before


def _of_device() -> dict[str, Any]:
    """What the counting needs to know of the GPU and of torch's settings as they are now. Of the
    CPU it learns the caches itself, where it finds that the step was computed there."""
    torch = _torch()
    threads = {"threads": int(torch.get_num_threads())}
    if not torch.cuda.is_initialized():
        return {"cache_bytes": 0, "tf32_products": False, "tf32_convolutions": False, **threads}
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    has_tf32 = properties.major >= 8
    return {
        "cache_bytes": int(getattr(properties, "L2_cache_size", 0)),
        "tf32_products": has_tf32 and float32.precision(torch, "cuda", "matmul") == "tf32",
        "tf32_convolutions": has_tf32 and float32.precision(torch, "cuda", "conv") == "tf32",
        **threads,
    }


def _observer() -> Any:
    profiler = getattr(_torch()._C, "_profiler", None)
    return profiler if hasattr(profiler, "_add_execution_trace_observer") else None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _torch() -> Any:
    return sys.modules["torch"]


COUNTER = Counter()
RECORDER.after_fork.append(COUNTER.forget)
RECORDER.before_end.append(COUNTER.finish)
