"""What a trial has to say for itself: RUN/tune.json, written anew about once a second."""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Container
from typing import Any

from ..recorder import RECORDER, now_ns
from .parity import Parity, number
from .step_shares import StepShares

_FIRST_AT_STEP = 3
_PERIOD_S = 1.0
_MOST_GRAPHS = 32
_WINDOW_S = 0.25
_MOST_WINDOWS = 4000
_MOST_LATENCIES = 4000
_MOST_COUNTS = 64
_MOST_STEPS_RATIO = 0.75  # that have as many


class Diary:
    """Of the process that trains; other processes of the job, which make no step, write none."""

    def __init__(self, torch: Any, run_dir: str, parity: Parity | None) -> None:
        self._torch = torch
        self._path = os.path.join(run_dir, "tune.json")
        self.parity = parity
        self._pid = os.getpid()
        self._facts: dict[str, Any] = {"applied": [], "refused": {}, "why_not": {}, "job": {}}
        self.shares: StepShares | None = None
        self._last_loss: Any = None
        self._written_at = 0.0
        self._most_used = 0
        self._is_first_rank = _is_first_rank()
        self._begin()
        atexit.register(self._end)

    def _begin(self) -> None:
        self._steps = 0
        self._backwards = 0
        self._backwards_of_steps = 0  # without those whose step has not come yet
        self._rows = CountOfSteps()  # of the model's first input, and how many numbers it has
        self._input_numbers = CountOfSteps()
        self._windows: list[list[float]] = []
        self._window_steps = 2  # by the last window: as many as take about _WINDOW_S
        self._window_began: tuple[int, float] | None = None
        self._latencies: list[float] = []
        self._gpu_is_idle = False  # a window has ended, and nothing came since
        self._graphs: list[list[int]] = []
        self._stepped_ns = now_ns()
        self._overflows: Any = None  # a tensor on the GPU: nobody waits for it

    def start_over(self, levers: Container[str]) -> None:
        """What was seen so far was an evaluation before the training; these are applied anew."""
        facts = self._facts
        facts["applied"] = [name for name in facts["applied"] if name not in levers]
        facts["refused"] = {
            name: why for name, why in facts["refused"].items() if name not in levers
        }
        if self.shares is not None:
            self.shares.end()
            self.shares = None
        if self.parity is not None:
            self.parity.start_over()
        self._begin()

    def applied(self, lever: str) -> None:
        self._facts["applied"].append(lever)
        self._facts["refused"].pop(lever, None)

    def refused(self, lever: str, reason: str) -> None:
        self._facts["refused"][lever] = reason

    def withdrawn(self, lever: str, reason: str) -> None:
        """It was applied, and turned out to be wrong here."""
        if lever in self._facts["applied"]:
            self._facts["applied"].remove(lever)
        self.refused(lever, reason)
        self.write()

    def surveyed(self, why_not: dict[str, str | None]) -> None:
        self._facts["why_not"].update(why_not)

    def constructed(self, option: str, **facts: Any) -> None:
        """What an argument of a class is in the job, or why nobody can say."""
        self._facts.setdefault("arguments", {})[option] = facts

    def describe(self, **facts: Any) -> None:
        self._facts["job"].update(facts)

    def backward(self, loss: Any) -> None:
        """The loss is kept, and looked at when nobody waits for it."""
        self._backwards += 1
        self._last_loss = loss.detach()
        if self.parity is not None:
            self.parity.backward(loss)

    def called(self, tensors: list[Any]) -> None:
        """The root model was called: how many rows its first input has are the samples of a step
        where no loader tells them, unless samples are no rows (sequences often are columns)."""
        if tensors and tensors[0].dim() > 0:
            self._rows.add(int(tensors[0].shape[0]))
            self._input_numbers.add(int(tensors[0].numel()))
        if self.parity is not None:
            self.parity.called(tensors)

    def scaled(self, state: Any) -> None:
        """A GradScaler stepped, or left that out; `state` is its own of that optimizer."""
        for found in (state or {}).get("found_inf_per_device", {}).values():
            overflow = found.detach().clone()
            self._overflows = overflow if self._overflows is None else self._overflows + overflow

    def left_out(self) -> None:
        """A GradScaler did not call the optimizer's step, since gradients overflowed: what came
        before it belongs to no step."""
        self._backwards = self._backwards_of_steps
        self._rows.forget()
        self._input_numbers.forget()
        if self.parity is not None:
            self.parity.left_out()

    def stepped(self) -> None:
        self._steps += 1
        self._backwards_of_steps = self._backwards
        if self.parity is not None:
            self.parity.stepped()
        self._rows.end_step()
        self._input_numbers.end_step()
        if self._has_compiled():
            self._window_began = None  # The next window begins behind this step.
        now = time.monotonic()
        if self.parity is None and self._steps >= _FIRST_AT_STEP:
            self._measure_window()
        due = now - self._written_at > _PERIOD_S
        of_parity = self.parity is not None and self._steps <= self.parity.steps
        if self._steps == _FIRST_AT_STEP or of_parity or (self._steps > _FIRST_AT_STEP and due):
            self._written_at = now
            self.write()

    def _measure_window(self) -> None:
        """On a GPU the job's thread runs ahead by as many steps as fit into the queue, so that what
        it takes between two steps tells little. Between two waits for the GPU all is done."""
        cuda = self._torch.cuda
        began = self._window_began
        if began is not None and self._steps - began[0] < self._window_steps:
            return
        if not self._has_gpu():
            return
        cuda.synchronize()
        ended = time.monotonic()
        if began is not None and len(self._windows) < _MOST_WINDOWS:
            took = [self._steps - began[0], ended - began[1]]
            self._windows.append(took)
            self._window_steps = max(1, round(_WINDOW_S * took[0] / max(took[1], 1e-6)))
            self._gpu_is_idle = True
        self._window_began = (self._steps, ended)

    def call_begins(self) -> float | None:
        """When a call of the model began, if it is to be timed: on a CPU each one, on a GPU the one
        behind each window, since others wait for those before them in the GPU's queue."""
        if self.parity is not None or self._steps < _FIRST_AT_STEP:
            return None
        if not self._has_gpu() or self._gpu_is_idle:
            return time.monotonic()
        return None

    def call_ended(self, began: float | None) -> None:
        if began is None:
            return
        if self._has_gpu():
            self._torch.cuda.synchronize()
            self._gpu_is_idle = False
            self._window_began = None  # The next window begins behind this call.
        if len(self._latencies) < _MOST_LATENCIES:
            self._latencies.append(time.monotonic() - began)

    def _has_gpu(self) -> bool:
        return bool(self._torch.cuda.is_initialized())

    def _has_compiled(self) -> bool:
        """Whether torch.compile has made graphs in the step that ends; kept are how many there are
        by then, and from when to when the step went."""
        began, self._stepped_ns = self._stepped_ns, now_ns()
        dynamo = sys.modules.get("torch._dynamo.utils")
        if dynamo is None:
            return False
        made = int(dynamo.counters["stats"].get("unique_graphs", 0))
        if not made or (self._graphs and self._graphs[-1][1] == made):
            return False
        self._graphs.append([self._steps, made, began, self._stepped_ns])
        del self._graphs[:-_MOST_GRAPHS]
        return True

    def write(self, **more: Any) -> None:
        if not self._speaks():
            return
        facts = {
            **self._facts,
            "steps": self._steps,
            "backwards": self._backwards_of_steps,
            "called_with": self._rows.of_most(),
            "input_numbers": self._input_numbers.of_most(),
            "windows": self._windows,
            "latencies": self._latencies,
            "graphs": self._graphs,
            "peak_memory_bytes": self._peak_memory(),
            **self._device_memory(),
            **(self.parity.facts() if self.parity is not None else {}),
            **more,
        }
        self._put(facts)

    def _put(self, facts: dict[str, Any]) -> None:
        beside = f"{self._path}.{self._pid}"
        with open(beside, "w", encoding="utf-8", errors="replace") as file:
            json.dump(facts, file, allow_nan=False)
        os.replace(beside, self._path)

    def _speaks(self) -> bool:
        """Of several ranks one does. Those that a script spawns know theirs in their group alone,
        which may be gone at the end."""
        if os.getpid() != self._pid:
            return False
        group: Any = sys.modules.get("torch.distributed")
        if group is not None and group.is_available() and group.is_initialized():
            self._is_first_rank = group.get_rank() == 0
        return self._is_first_rank

    def _peak_memory(self) -> int:
        """Of the GPU's allocator where there is one in use, else of the process."""
        if self._has_gpu():
            return int(self._torch.cuda.max_memory_reserved())
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def _device_memory(self) -> dict[str, int]:
        """Of the GPU, whoever takes it: this process's context and libraries are not the
        allocator's, and other processes are not ours."""
        cuda = self._torch.cuda
        if not self._has_gpu():
            return {}
        free, total = cuda.mem_get_info()
        self._most_used = max(self._most_used, int(total - free))
        retries = int(cuda.memory_stats().get("num_alloc_retries", 0))
        return {
            "total_memory_bytes": int(total),
            "used_memory_bytes": self._most_used,
            "allocator_retries": retries,
        }

    def _end(self) -> None:
        try:
            error = _uncaught()
            if self._steps == 0:
                self._end_without_steps(error)
                return
            more = {} if error is not None else self._known_at_the_end()
            self.write(error=error, last_loss=self._ending_loss(error), **more)
        except Exception as problem:
            RECORDER.note_error(problem)

    def _end_without_steps(self, error: str | None) -> None:
        """What starts ranks fails with them, and has nothing to say of the training."""
        if error is None:
            return
        if not os.path.exists(self._path):
            self.write(error=error)
            return
        with open(self._path, encoding="utf-8") as file:
            said = json.load(file)
        if not said.get("error"):
            self._put({**said, "error": error})

    def _known_at_the_end(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        try:
            if self._overflows is not None:
                more["skipped"] = int(self._overflows)
            if self.shares is not None:
                more["shares"] = self.shares.facts()
        except Exception as problem:
            RECORDER.note_error(problem)
        return more

    def _ending_loss(self, error: str | None) -> Any:
        """A number, "nan" or "inf"; nothing where there is none or the device may be gone."""
        loss, self._last_loss = self._last_loss, None
        if error is not None or loss is None or loss.numel() != 1:
            return None
        return number(float(loss))


class CountOfSteps:
    """What most steps have as many of, from the first on that has any: the model may not have been
    known before. An epoch's last step may have fewer."""

    def __init__(self) -> None:
        self._since_last = 0
        self._steps = 0
        self._steps_with: dict[int, int] = {}  # by the count

    def add(self, count: int) -> None:
        self._since_last += count

    def forget(self) -> None:
        self._since_last = 0

    def end_step(self) -> None:
        count, self._since_last = self._since_last, 0
        if count == 0 and self._steps == 0:
            return
        self._steps += 1
        if count in self._steps_with or len(self._steps_with) < _MOST_COUNTS:
            self._steps_with[count] = self._steps_with.get(count, 0) + 1

    def of_most(self) -> int:
        """0: steps differ, so that the count of one says nothing of others, or none is known."""
        count, steps = max(self._steps_with.items(), key=lambda one: one[1], default=(0, 0))
        return count if steps >= _MOST_STEPS_RATIO * self._steps else 0


def _is_first_rank() -> bool:
    """Lightning and MPI start ranks without torchrun's RANK."""
    names = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "LOCAL_RANK")
    ranks = [os.environ.get(name, "0") for name in names]
    return os.environ.get("RANK", "0" if set(ranks) == {"0"} else "") == "0"


def _uncaught() -> str | None:
    """The exception that ends the process, as its class and its first words; of a process that
    waited for others, that of the one that failed."""
    value = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if value is None or isinstance(value, (KeyboardInterrupt, SystemExit)):
        return None
    kind = type(value)
    if kind.__name__ == "ProcessRaisedException":  # of torch.multiprocessing.spawn
        return _raised_in(str(value))
    return f"{kind.__module__}.{kind.__qualname__}: {value}"[:500]


def _raised_in(traceback: str) -> str:
    """What follows the last frame in a traceback: class and message, which may have lines."""
    lines = traceback.strip().splitlines()
    frames = [i for i, line in enumerate(lines) if line.startswith('  File "')]
    behind = lines[frames[-1] + 1 :] if frames else lines[-1:]
    while len(behind) > 1 and behind[0].startswith(" "):
        behind.pop(0)
    error = "\n".join(behind)[:500]
    return f"builtins.{error}" if error.partition(":")[0].isidentifier() else error
