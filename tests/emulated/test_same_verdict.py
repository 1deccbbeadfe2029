"""The verdict does not depend on how much of a job is recorded, on which GPU it trains and how that
was chosen, on its streams, or on a container around it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release")) / "src/cli/unstarve"

# `slow`: what holds it up. `where`: how its GPU is chosen. `streams`: 2 copy beside the training.
JOB = """
import os, sys, time
slow, where, streams = sys.argv[1:]
if where == "inside":
    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
import torch
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda:2" if where == "by number" else "cuda:0")

class Rows(Dataset):
    def __len__(self):
        return 100_000
    def __getitem__(self, index):
        if slow == "loader":
            until = time.thread_time() + 0.002
            while time.thread_time() < until: pass
        return torch.zeros(512)

def side_work():
    until = time.thread_time() + 0.03
    while time.thread_time() < until: pass

width = 4096 if slow == "nothing" else 512
model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(8)]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
copies = torch.cuda.Stream(device) if streams == "2" else torch.cuda.current_stream(device)
loader = DataLoader(Rows(), batch_size=16, num_workers=0, pin_memory=False)
end = time.monotonic() + 8
for step, rows in enumerate(loader):
    with torch.cuda.stream(copies):
        rows = rows.to(device, non_blocking=True)
    torch.cuda.current_stream(device).wait_stream(copies)
    if slow == "nothing":
        rows = rows.repeat(256, 8)
    optimizer.zero_grad()
    loss = model(rows).square().mean()
    loss.backward()
    optimizer.step()
    if slow == "sync":
        for value in range(60):
            loss.item()
            loss = loss + 1
    if slow == "side work":
        side_work()
    if time.monotonic() > end:
        break
"""

CONTAINER = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--uts", "--ipc"]


@dataclass(frozen=True)
class Way:
    """Of recording a job, and of running it."""

    gpus: str = "1"
    where: str = "default"
    streams: str = "1"
    env: dict[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()


WAYS = {
    "all is recorded": Way(env={"UNSTARVE_CUPTI": "always"}),
    "short windows": Way(env={"UNSTARVE_CUPTI": "60/1000"}),
    "long windows": Way(env={"UNSTARVE_CUPTI": "700/1000"}),
    "third of four by number": Way(gpus="4", where="by number"),
    "third of four from outside": Way(gpus="4", env={"CUDA_VISIBLE_DEVICES": "2"}),
    "third of four from inside": Way(gpus="4", where="inside"),
    "two streams": Way(streams="2"),
    "container": Way(inside=tuple(CONTAINER)),
}


def verdict(folder: Path, slow: str, way: Way) -> dict[str, Any]:
    folder.mkdir()
    (folder / "train.py").write_text(JOB)
    done = subprocess.run(
        [
            *[*way.inside, str(UNSTARVE), "run", "--out", "r", "--json", "d.json", "--no-live"],
            *["--emulate", "a100", "--gpus", way.gpus, "--"],
            *[sys.executable, "train.py", slow, way.where, way.streams],
        ],
        cwd=folder,
        env=dict(os.environ) | way.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((folder / "d.json").read_text())
    leads = told.get("leading_finding")
    beside_others = "conditions" in told
    if leads is None:
        return {"cause": "nothing", "beside_others": beside_others}
    finding = told["findings"][leads]
    remedies = [remedy["id"] for remedy in finding["remedies"]]
    return {
        "cause": finding["cause"],
        "detail": finding.get("detail"),
        "remedies": remedies[:1],
        "beside_others": beside_others,
    }


def differs(told: dict[str, Any], reference: dict[str, Any]) -> bool:
    # Other processes took CPUs: what costs most then depends on them.
    if told["beside_others"] or reference["beside_others"]:
        return bool(told["cause"] != reference["cause"])
    return told != reference


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("slow", ["loader", "sync", "side work", "nothing"])
def test_a_verdict_is_the_same(tmp_path: Path, slow: str) -> None:
    told = {"as it is": verdict(tmp_path / "plain", slow, Way())}
    for name, way in WAYS.items():
        told[name] = verdict(tmp_path / name, slow, way)
    print(json.dumps(told, indent=2))
    reference = told["as it is"]
    others = {name: found for name, found in told.items() if differs(found, reference)}
    assert not others, reference
