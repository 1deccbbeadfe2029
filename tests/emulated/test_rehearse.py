"""`unstarve rehearse`: one short run, and what it says of other GPUs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve
from measuring import disturbance_of_run, measured

# Making a batch takes 8 x COST_MS of CPU, whatever else the machine does.
TRAIN = """
import sys, time, torch
cost_s, workers = float(sys.argv[1]) / 1e3, int(sys.argv[2])
class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 8 * 400
    def __getitem__(self, index):
        until = time.thread_time() + cost_s
        while time.thread_time() < until:
            pass
        return torch.zeros(4096)
if __name__ == "__main__":
    model = torch.nn.Linear(4096, 4096).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in torch.utils.data.DataLoader(Samples(), 8, num_workers=workers):
        images = batch.cuda().repeat(2048, 1)
        optimizer.zero_grad()
        model(images).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()
"""


def rehearse(
    tmp_path: Path, cost_ms: float, *options: str, gpus: str = "1,4", workers: int = 0
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    out = tmp_path / "rehearsal.json"
    done = unstarve(
        *("rehearse", "--seconds", "4", "--steps", "80", "--out", str(tmp_path / "run")),
        *("--gpu-kinds", "a100,t4", "--gpus", gpus, "--json", str(out), *options),
        *("--", str(PYTHON), str(script), str(cost_ms), str(workers)),
    )
    return done, json.loads(out.read_text()) if out.exists() else {}


def cell(rehearsal: dict[str, Any], kind: str, gpus: int) -> dict[str, Any]:
    found: dict[str, Any] = next(
        each for each in rehearsal["cells"] if (each["kind"], each["gpus"]) == (kind, gpus)
    )
    return found


def test_a_starved_pipeline_is_foreseen(tmp_path: Path) -> None:
    done, rehearsal = measured(
        lambda: rehearse(tmp_path, 20, "--fail-under", "au=90"),
        lambda seen: judge_the_starved(seen[1]),
        lambda _: disturbance_of_run(tmp_path / "run"),
    )
    assert done.returncode == 3, done.stderr
    assert "may be as low as" in done.stderr
    assert "a100" in done.stdout and "AU" in done.stdout
    assert rehearsal["schema"] == "unstarve.rehearsal/1"
    run = rehearsal["run"]
    assert run["workers"] == 0
    assert run["gradient_bytes"] == 4 * (4096 * 4096 + 4096)
    assert {kind["durations_by"] for kind in rehearsal["kinds"]} == {"roofline"}
    assert [each["id"] for each in cell(rehearsal, "a100", 1)["remedies"]] == ["more_workers"]


def judge_the_starved(rehearsal: dict[str, Any]) -> None:
    run = rehearsal["run"]
    # Eight samples of 20 ms, in the training thread.
    assert run["fetch_cpu_s"] == pytest.approx(0.16, rel=0.3)
    a100, t4 = (cell(rehearsal, kind, 1) for kind in ("a100", "t4"))
    for one in (a100, t4):
        au = one["au"]
        assert 0 < au["low"] <= au["value"] <= au["high"] <= 1
    # The slower GPU waits for a smaller part of its time.
    assert a100["au"]["value"] < t4["au"]["value"] < 0.9
    kinds = {kind["name"]: kind for kind in rehearsal["kinds"]}
    assert kinds["t4"]["device_s"] > 2 * kinds["a100"]["device_s"] > 0
    # So many cores fetch a batch in a step's time; the training thread takes one at most, and
    # threads that share cores lose some.
    fetching = 0.16 / (a100["step_without_waiting_s"] / 0.9)
    assert 0.8 * fetching < a100["cores_needed"]["value"] < 2 * fetching + 2
    assert cell(rehearsal, "a100", 4)["cores_needed"]["value"] > 2.5 * a100["cores_needed"]["value"]


def test_a_fed_gpu_passes_the_gate(tmp_path: Path) -> None:
    def rehearse_it() -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        return rehearse(
            *(tmp_path, 0.05, "--fail-under", "au=60"),
            *("--step-time", "a100=0.2", "--step-time", "t4=0.4"),
            gpus="1",
        )

    def judge(seen: tuple[subprocess.CompletedProcess[str], dict[str, Any]]) -> None:
        done, rehearsal = seen
        assert done.returncode == 0, done.stderr
        assert cell(rehearsal, "a100", 1)["au"]["low"] > 0.9

    _, rehearsal = measured(rehearse_it, judge, lambda _: disturbance_of_run(tmp_path / "run"))
    assert {kind["durations_by"] for kind in rehearsal["kinds"]} == {"step time"}


def test_what_cannot_be_rehearsed_is_said(tmp_path: Path) -> None:
    wrong = unstarve("rehearse", "--fail-under", "loss=3", "--", str(PYTHON), "-c", "pass")
    assert wrong.returncode == 2
    assert "au=PERCENT" in wrong.stderr
    unknown = unstarve("rehearse", "--gpu-kinds", "gtx9", "--", str(PYTHON), "-c", "pass")
    assert unknown.returncode == 2
    assert "gtx9" in unknown.stderr
    steps = ("--out", str(tmp_path / "none"))
    idle = unstarve("rehearse", *steps, "--", str(PYTHON), "-c", "import torch; torch.zeros(1)")
    assert idle.returncode == 2
    assert "No training step was seen" in idle.stderr
