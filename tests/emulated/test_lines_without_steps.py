"""Lines of a job that has neither a DataLoader nor an optimizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulation import PYTHON, unstarve

pytestmark = pytest.mark.real_time

SCRIPT = """
import sys, time
import torch
from torch import nn

def prepared():
    until = time.perf_counter() + 0.015
    while time.perf_counter() < until:
        pass
    return torch.zeros(8, 64)

torch.cuda.init()
original = torch.cuda._lazy_init
assert original.__module__ == "torch.cuda" and original.__closure__ is None, "ours is still there"
net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(10)]).cuda()
end = time.monotonic() + 5
with torch.no_grad():
    while time.monotonic() < end:
        net(prepared().cuda()).mean().item()
"""


def test_a_loop_of_inference_is_told_its_line(tmp_path: Path) -> None:
    script, found = tmp_path / "serve.py", tmp_path / "found.json"
    script.write_text(SCRIPT)
    done = unstarve(
        "run",
        *("--emulate", "a100", "--out", str(tmp_path / "run"), "--json", str(found)),
        *("--", PYTHON, str(script)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(found.read_text())
    assert told["findings"][0]["cause"] == "launch"
    line = SCRIPT.splitlines().index("    while time.perf_counter() < until:") + 1
    assert f"serve.py:{line}" in told["verdict"], told["verdict"]
