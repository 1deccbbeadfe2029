"""Records what slows a job on a GPU now and then: memory given back, memory full, compilations."""

from __future__ import annotations

import sys
from types import CodeType, ModuleType
from typing import Any

from . import describe
from .lines import places
from .recorder import HOST_WORK, RECORDER, now_ns
from .wrap import hide_our_frame, in_the_place_of, put

EMPTY_CACHE, ALLOCATION_RETRY, OUT_OF_MEMORY, COMPILATION, RECOMPILATION = range(2, 7)
#: Between two looks at the allocator's counters, which take some 30 us.
_PERIOD_NS = 1_000_000_000
#: Of one look: more of them say nothing new.
_MOST_AT_ONCE = 32
_COUNTERS = ((ALLOCATION_RETRY, "num_alloc_retries"), (OUT_OF_MEMORY, "num_ooms"))


def _note(kind: int, start: int, end: int) -> None:
    RECORDER.record_beside(HOST_WORK, start, end, kind)


def _note_place(kind: int, place: str | None) -> None:
    """The first place of each kind, as it is known then."""
    known = RECORDER.facts("host_work_places") or {}
    if place and str(kind) not in known:
        RECORDER.describe(host_work_places={**known, str(kind): place})


def watch_memory(module: ModuleType) -> None:
    """torch.cuda.memory; torch.cuda has the same function by the same name."""
    original = module.empty_cache
    ours = _watched_empty_cache(original)
    put(module, "empty_cache", ours)
    cuda: Any = sys.modules.get("torch.cuda")
    if vars(cuda).get("empty_cache") is original:  # imported before we came
        put(cuda, "empty_cache", ours)


def _watched_empty_cache(original: Any) -> Any:
    def empty_cache(*arguments: Any, **named: Any) -> Any:
        start = now_ns()
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            _note(EMPTY_CACHE, start, now_ns())
            if RECORDER.facts("host_work_places") is None:
                _note_place(EMPTY_CACHE, describe.place_of_user_code(sys._getframe(1)))

    ours = in_the_place_of(original, empty_cache)
    ours.__wrapped__ = original
    return ours


def watch_compiler(module: ModuleType) -> None:
    """torch._dynamo.convert_frame: each function that torch.compile compiles goes through it."""
    put(module, "_compile", _watched_compile(module._compile))


def _watched_compile(original: Any) -> Any:
    seen: set[CodeType] = set()

    def _compile(code: CodeType, *arguments: Any, **named: Any) -> Any:
        start = now_ns()
        try:
            return original(code, *arguments, **named)
        finally:
            try:
                kind = RECOMPILATION if code in seen else COMPILATION
                seen.add(code)
                _note(kind, start, now_ns())
                if kind == RECOMPILATION:
                    _note_place(kind, places.place(code.co_filename, code.co_firstlineno))
            except Exception as error:
                RECORDER.note_error(error)

    return in_the_place_of(original, _compile)


class Allocator:
    """The counters of PyTorch's allocator for the current GPU, looked at once a second."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._due_ns = 0
        self._in_use = False
        self._before: dict[str, int] = {}

    def watch(self) -> None:
        """Called when the job is known to use CUDA."""
        self._in_use = True

    def after_step(self, end_ns: int) -> None:
        if self._in_use and end_ns >= self._due_ns:
            self._due_ns = end_ns + _PERIOD_NS
            self.look()

    def look(self) -> None:
        if not self._in_use:
            return
        try:
            torch: Any = sys.modules["torch"]
            counters = torch.cuda.memory_stats_as_nested_dict()
            for kind, name in _COUNTERS:
                now = int(counters.get(name, 0))
                for _ in range(min(now - self._before.get(name, now), _MOST_AT_ONCE)):
                    at = now_ns()
                    _note(kind, at, at)
                self._before[name] = now
        except Exception as error:
            self._in_use = False
            RECORDER.note_error(error)


ALLOCATOR = Allocator()
RECORDER.after_fork.append(ALLOCATOR.forget)
RECORDER.before_end.append(ALLOCATOR.look)
