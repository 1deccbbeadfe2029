"""Another number of threads for operations on the CPU."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

NEEDS_ROOT = False


def check(job: Any, settings: dict[str, Any]) -> None:
    if job.device != "cpu":
        raise LeverRefusedError("the job trains on a GPU")
    if settings.get("count") == job.torch.get_num_threads():
        raise LeverRefusedError(f"the job has {settings['count']} threads already")


def apply(job: Any, settings: dict[str, Any]) -> None:
    job.torch.set_num_threads(int(settings["count"]))
