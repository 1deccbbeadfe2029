"""Of several GPUs a run speaks of the one that the job trains on, however that was chosen."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import UNSTARVE, environment

# It fills most of the GPU's memory and waits by itself, so that it is busy for a small part.
JOB = """
import os, sys, time
how, number = sys.argv[1:]
if how == "inside":
    os.environ["CUDA_VISIBLE_DEVICES"] = number
import torch
device = f"cuda:{number if how == 'by number' else 0}"
held = torch.empty(70 << 30, dtype=torch.uint8, device=device)
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(10)]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    optimizer.zero_grad()
    model(torch.randn(64, 512, device=device)).sum().backward()
    optimizer.step()
    if step % 10 == 0:
        torch.zeros(1, device=f"cuda:{torch.cuda.device_count() - 1}").add_(1)
    time.sleep(0.02)
"""


@pytest.mark.parametrize("how", ["by number", "outside", "inside"])
def test_its_memory_is_that_of_the_gpu_in_use(tmp_path: Path, how: str) -> None:
    (tmp_path / "train.py").write_text(JOB)
    env = environment() | ({"CUDA_VISIBLE_DEVICES": "2"} if how == "outside" else {})
    command = [str(UNSTARVE), "run", "--out", "r", "--json", "d.json", "--no-live", "--verbose"]
    emulated = ["--emulate", "a100", "--gpus", "4"]
    done = subprocess.run(
        [*command, *emulated, "--", sys.executable, "train.py", how, "2"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "d.json").read_text())
    assert found["leading_finding"] is not None
    said = json.dumps(found) + done.stderr
    # 75 of 86 GB are in use; of the first GPU nothing is.
    assert "there is room for a larger batch" not in said
    assert "larger_batch" not in json.dumps(found["findings"])
    text = subprocess.run(
        [str(UNSTARVE), "report", "r", "--html", "r.html"], cwd=tmp_path, env=env, text=True
    )
    assert text.returncode == 0
    with sqlite3.connect(tmp_path / "r/run.sqlite") as store:
        (uuids,) = store.execute("select value from run where key = 'gpu_uuids'").fetchone()
        texts = [json.loads(one) for (one,) in store.execute("select text from process") if one]
    store.close()
    (trains,) = [one["trains_on"] for one in texts if "trains_on" in one]
    assert json.loads(uuids)[2].removeprefix("GPU-") == trains["uuid"]
