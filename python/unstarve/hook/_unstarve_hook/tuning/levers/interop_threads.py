"""Another number of threads for operations that run beside each other: tasks that TorchScript
forks. torch takes the number only before the first of them, so that begin() of this folder sets it
right after the import."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = False
NEEDS_HABITS = True


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cpu":
        raise LeverRefusedError("the job trains on a GPU")
    if job.habits is None:  # a trial: the survey has seen the threads
        return
    if job.habits.sets_interop_threads:
        raise LeverRefusedError("the script sets their number itself")
    if not job.habits.has_interop_threads:
        raise LeverRefusedError("nothing forks tasks, which alone run on such threads")


def begin(torch: Any, settings: dict[str, Any]) -> None:
    torch.set_num_interop_threads(int(settings["count"]))


def apply(job: Any, settings: dict[str, Any]) -> None:
    if job.torch.get_num_interop_threads() != int(settings["count"]):
        raise LeverRefusedError("torch did not take the number")
