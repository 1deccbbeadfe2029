"""The live verdict from a window of torch.profiler, where our library does not record the GPU."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve

pytestmark = pytest.mark.real_time

TRAIN = """
import sys, time, torch
size, slow_s = int(sys.argv[1]), float(sys.argv[2])
torch.set_num_threads(1)
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 30
    def __getitem__(self, index):
        time.sleep(slow_s)
        return torch.zeros(16)
first = torch.nn.Linear(16, size).cuda()
model = torch.nn.Sequential(*(torch.nn.Linear(size, size) for _ in range(4))).cuda()
optimizer = torch.optim.SGD([*first.parameters(), *model.parameters()], lr=0.1)
for batch in torch.utils.data.DataLoader(Rows(), 1):
    output = model(first(batch.cuda(non_blocking=True)).repeat(2048, 1))
    optimizer.zero_grad()
    output.sum().backward()
    optimizer.step()
torch.cuda.synchronize()
"""


def diagnose(path: Path) -> dict[str, Any]:
    done = unstarve("diagnose", str(path), "--json")
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def watched(tmp_path: Path, size: int, slow_s: float, plan: str = "off") -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    out = tmp_path / plan
    job = [PYTHON, tmp_path / "train.py", size, slow_s]
    environment = {**os.environ, "UNSTARVE_CUPTI": plan}
    options = ["--emulate", "a100", "--out", str(out)]
    done = unstarve("run", *options, "--", *map(str, job), env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return out


@pytest.mark.parametrize(
    ("size", "slow_s", "cause", "share"),
    [
        pytest.param(8192, 0.001, "gpu_busy", "gpu_compute", id="a queue longer than the window"),
        pytest.param(2048, 0.06, "input_wait", "input_wait", id="starving"),
    ],
)
def test_the_live_verdict_is_that_of_the_window(
    tmp_path: Path, size: int, slow_s: float, cause: str, share: str
) -> None:
    out = watched(tmp_path, size, slow_s)
    all_recorded = diagnose(watched(tmp_path, size, slow_s, "always"))
    live, window = diagnose(out), diagnose(out / "kineto-0.json.gz")

    recorded = live["devices"][0]["recorded"]
    for name, expected in window["partition"].items():
        assert abs(recorded["partition"][name] - expected) < 0.02, name
    assert recorded["windows"] == 1
    assert abs(recorded["steps"] - 6) < 1, "its edges lie within a step each"
    assert recorded["clock_error_us"] < 1000
    assert live["steps"]["count"] == 29, "the whole run's, without the warm-up"

    assert live["findings"][0]["cause"] == window["findings"][0]["cause"] == cause
    assert abs(sum(live["partition"].values()) - 1) < 1e-6
    assert abs(live["partition"][share] - all_recorded["partition"][share]) < 0.12
    assert "No GPU activity" not in live["verdict"]

    page = tmp_path / "page.html"
    assert unstarve("report", str(out), "--html", str(page)).returncode == 0
    assert "GPU recorded in" in page.read_text()
    assert "GPU recorded in" in unstarve("report", str(out)).stdout


def test_a_damaged_window_costs_the_window_alone(tmp_path: Path) -> None:
    out = watched(tmp_path, 2048, 0.02)
    (out / "kineto-0.json.gz").write_bytes(b"\x1f\x8b no trace")
    live = diagnose(out)
    assert live["partition"] == {"absent": "not_observed"}
    assert live["findings"][0]["cause"] == "input_wait"
    assert "torch.profiler" in unstarve("diagnose", str(out)).stderr
