"""What a step of a training on the CPU takes its time for, as torch's profiler sees one of them."""

from __future__ import annotations

import resource
import time
from typing import Any

from ..timeline import GivesWay, quietly, why_not_profiled

#: What torch's operators are called that multiply matrices or convolve; their backward ones too.
_PRODUCTS = (
    "mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "convolution", "mkldnn",
    "thnn_conv", "slow_conv", "scaled_dot_product", "linear", "lstm", "gru", "rnn",
)  # fmt: skip
_NOT_PRODUCTS = ("loss",)


class StepShares:
    """begin() and end() around one step, in a run that surveys: of several optimizers, from one's
    step to its next. What it saw is counted when the job ends, so that no step that is timed waits
    for it."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._profiler: Any = None
        self._way = GivesWay(self._close)
        self._is_closed = False
        self._began = 0.0
        self._took = 0.0
        self._since = 0.0
        self._system_before = 0.0
        self._optimizer_began = 0.0
        self._optimizer_took = 0.0

    def begin(self) -> None:
        torch = self._torch
        self._system_before = resource.getrusage(resource.RUSAGE_SELF).ru_stime
        self._since = time.monotonic()
        if torch.autograd._profiler_enabled():  # the job's own; two do not go together
            return
        if why_not_profiled():
            return
        activities = [torch.profiler.ProfilerActivity.CPU]
        profiler = torch.profiler.profile(activities=activities)
        quietly(profiler.start)
        self._profiler = profiler
        self._way.begin()
        self._began = time.monotonic()

    def optimizer_begins(self) -> None:
        """The profiler does not see that as a whole: the step ends within the optimizer's."""
        self._optimizer_began = time.monotonic()

    def optimizer_ends(self) -> None:
        if self._optimizer_began > self._began and not self._is_closed:
            self._optimizer_took += time.monotonic() - self._optimizer_began

    def end(self) -> None:
        if self._profiler is None or self._is_closed:  # the job profiles itself
            return
        self._took = time.monotonic() - self._began
        self._close()

    def _close(self, _why: str = "") -> None:
        """Also where the job ends, forks or profiles itself before the step has ended."""
        if self._profiler is None or self._is_closed:
            return
        self._is_closed = True
        self._way.end()
        self._profiler.stop()

    def facts(self) -> dict[str, float]:
        """Shares of the step, but "system" of all time since begin(), the system's CPU seconds for
        the process, which may all have been waited for."""
        self._close()
        shares = self._of_step() if self._took > 0 else {}
        if self._since:
            system = resource.getrusage(resource.RUSAGE_SELF).ru_stime - self._system_before
            shares["system"] = min(1.0, system / max(time.monotonic() - self._since, 1e-6))
        return shares

    def _of_step(self) -> dict[str, float]:
        products, zeroing = 0.0, 0.0
        for event in self._profiler.events():
            if event.name.startswith("Optimizer.zero_grad#"):
                zeroing += event.cpu_time_total / 1e6
            elif _is_product(event.name):
                products += event.self_cpu_time_total / 1e6
        spent = {"products": products, "optimizer": self._optimizer_took, "zeroing": zeroing}
        return {name: min(1.0, seconds / self._took) for name, seconds in spent.items()}


def _is_product(name: str) -> bool:
    plain = name.removeprefix("aten::").lstrip("_")
    if any(word in plain for word in _NOT_PRODUCTS):
        return False
    return name.startswith(("aten::", "mkldnn::")) and plain.startswith(_PRODUCTS)
