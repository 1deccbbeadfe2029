"""The line of the job's Python, from the job on an emulated GPU to the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from measuring import disturbance_of_run, measured
from recorded_runs import line_of, report_of, watched
from recording import Machine, record


def code_of(diagnosis: dict[str, Any], cause: str) -> dict[str, Any]:
    """The line that the only finding of a cause names first."""
    (found,) = [finding for finding in diagnosis["findings"] if finding["cause"] == cause]
    return dict(found["code"][0])


def judge_the_wait(diagnosis: dict[str, Any]) -> None:
    code = code_of(diagnosis, "sync")
    waits = line_of("waits_for_gpu.py", "    total += loss.item()")
    assert code["place"].endswith(waits), diagnosis
    assert (code["call"], code["what"]) == ("loss.item()", "reading a result")
    assert code["share"] > 0.6
    advised = diagnosis["findings"][diagnosis["leading_finding"]]["remedies"][0]
    assert advised["edit"] == "- total += loss.item()\n+ total += loss.detach().double()", advised


def test_the_line_that_waits_for_the_gpu_is_named() -> None:
    judge_the_wait(report_of("waits_for_gpu"))


def test_the_line_of_a_job_that_runs_now_is_named(tmp_path: Path) -> None:
    measured(
        lambda: watched(tmp_path, "waits_for_gpu.py")[0],
        judge_the_wait,
        lambda _: disturbance_of_run(tmp_path / "run"),
    )


@pytest.mark.parametrize("run", ["blurs", "blurs_in_worker"])
def test_the_transform_that_starves_the_gpu_is_named(run: str) -> None:
    diagnosis = report_of(run)
    code = code_of(diagnosis, "input_wait")
    assert code["what"] == "GaussianBlur", diagnosis
    words = "                transforms.GaussianBlur(15),"
    assert code["place"].endswith(line_of("blurs.py", words))
    assert code["share"] > 0.5
    assert "of a sample is GaussianBlur" in diagnosis["verdict"]


def test_a_loop_of_inference_is_told_its_line() -> None:
    """It has neither a DataLoader nor an optimizer."""
    told = report_of("serves")
    assert told["findings"][0]["cause"] == "launch"
    line = line_of("serves.py", "    while time.perf_counter() < until:")
    assert line in told["verdict"], told["verdict"]


CUDA_S_START = """
import torch
torch.cuda.init()
original = torch.cuda._lazy_init
assert original.__module__ == "torch.cuda" and original.__closure__ is None, "ours is still there"
"""


def test_torch_s_own_start_of_cuda_is_back_once_it_was_called(
    emulated: Machine, tmp_path: Path
) -> None:
    seen = record(emulated(), tmp_path, CUDA_S_START, fresh=True)
    assert seen.process.returncode == 0, seen.process.stderr
