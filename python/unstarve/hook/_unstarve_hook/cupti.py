"""The library of ours that the CUDA driver loads into the job to record it (docs/cupti.md).

CUPTI has one user at a time, and PyTorch's profiler is one: while a profiler of the job is at work,
our library gives CUPTI free.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from .recorder import RECORDER
from .wrap import hide_our_frame, in_the_place_of, put

_VARIABLE = "CUDA_INJECTION64_PATH"
_NAME = "libunstarve_cupti.so"
_WORDS_MAX = 512
#: Where a profiler takes CUPTI; the first one that it enters.
_BEGINNINGS = ("__enter__", "_prepare_trace")
#: A step that took longer tells our library how long they take; shorter ones fill any window.
LONG_STEP_NS = 200_000_000
_STEPS_OF_A_MEAN = 3
_first_end_ns = 0


def is_asked_for() -> bool:
    """Whether the driver is to load our library, and no other."""
    return os.path.basename(os.environ.get(_VARIABLE, "")) == _NAME


def why_not_recording() -> str:
    """Empty while our library records this process, in windows; else why it does not."""
    if not is_asked_for():
        return f"{_VARIABLE} is set" if _VARIABLE in os.environ else "nobody asked for it"
    try:
        import ctypes

        library = _loaded_library()
        words = ctypes.create_string_buffer(_WORDS_MAX)
        if library.unstarve_cupti_state(words, ctypes.c_size_t(_WORDS_MAX)):
            return ""
        return words.value.decode(errors="replace")
    except (OSError, AttributeError):
        return "the CUDA driver did not load it"


def _loaded_library() -> Any:
    """OSError where the driver has not loaded it."""
    import ctypes

    return ctypes.CDLL(os.environ[_VARIABLE], mode=os.RTLD_NOLOAD | os.RTLD_NOW)


def _library() -> Any:
    """Loaded by us where the driver has not come to it: it has to know before."""
    import ctypes

    return ctypes.CDLL(os.environ[_VARIABLE])


def after_step(index: int, end_ns: int) -> None:
    """Tells our library of the first step, and of one that took long how long they take in the
    mean: windows in which the GPU is recorded are to hold several."""
    global _first_end_ns
    if index == 0:
        _first_end_ns = end_ns
    if not is_asked_for():
        return
    try:
        import ctypes

        library = _loaded_library()
        if index == 0:
            library.unstarve_cupti_steps_began()
        elif index >= _STEPS_OF_A_MEAN:
            mean_ns = (end_ns - _first_end_ns) // index
            library.unstarve_cupti_step_takes(ctypes.c_int64(mean_ns))
    except (OSError, AttributeError):
        pass  # The driver has not loaded it, or one of another version.


def watch_profiler(module: ModuleType) -> None:
    """torch.autograd.profiler, which torch.profiler is built on."""
    if not is_asked_for():
        return
    kind: Any = vars(module).get("profile")
    if kind is None or "__exit__" not in vars(kind):
        return
    for name in _BEGINNINGS:
        if name in vars(kind):
            put(kind, name, _pausing(vars(kind)[name]))
    put(kind, "__exit__", _resuming(vars(kind)["__exit__"]))


def _pause(profiler: Any) -> bool:
    """Whether it is now, and was not before, that this profiler needs CUPTI."""
    try:
        state = vars(profiler)
        if "_unstarve_paused" in state or not state.get("enabled", True):
            return False
        _library().unstarve_cupti_pause()
        state["_unstarve_paused"] = True
        return True
    except Exception as error:
        RECORDER.note_error(error)
        return False


def _resume(profiler: Any) -> None:
    try:
        if vars(profiler).pop("_unstarve_paused", False):
            _library().unstarve_cupti_resume()
    except Exception as error:
        RECORDER.note_error(error)


def _pausing(original: Any) -> Any:
    def begin(profiler: Any, *arguments: Any, **named: Any) -> Any:
        paused = _pause(profiler)
        try:
            return original(profiler, *arguments, **named)
        except BaseException as error:
            if paused:
                _resume(profiler)
            hide_our_frame(error)
            raise

    return in_the_place_of(original, begin)


def _resuming(original: Any) -> Any:
    def end(profiler: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return original(profiler, *arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            _resume(profiler)

    return in_the_place_of(original, end)


def is_in_use() -> bool:
    """Whether the job has initialised CUDA."""
    cuda: Any = sys.modules["torch"].cuda
    return bool(cuda.is_available() and cuda.is_initialized())
