"""`unstarve tune` on an emulated GPU, which computes nothing: parity is not observed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from emulation import PYTHON, UNSTARVE, run_to_its_end

pytestmark = pytest.mark.real_time

JOB = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(4096, 4096).cuda()
for step in range(2000):
    loss = model(inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_nothing_that_changes_numbers_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JOB)
    words = [str(UNSTARVE), "tune", "--emulate", "a100", "--trial-seconds", "2", "--out", "r"]
    words += ["--only", "bf16_autocast,threads", "--json", "t.json", "--", PYTHON, "train.py"]
    done = run_to_its_end(words, dict(os.environ, NO_COLOR="1"), 600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "t.json").read_text())
    (bf16,) = [lever for lever in found["levers"] if lever["id"] == "bf16_autocast"]
    assert bf16["speedup"]["low"] > 1.2, bf16
    assert (bf16["kept"], bf16["parity"]) == (False, "not_observed")
    assert "all losses are zero" in bf16["why"]
    assert found["baseline"]["device"] == "cuda" and found["best"]["changes"] == []
