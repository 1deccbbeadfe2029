"""A distributed job of which one rank is slow: one verdict, about that rank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve

pytestmark = pytest.mark.real_time

TRAIN = """
import sys, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

slow, where = float(sys.argv[1]), sys.argv[2]
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)

class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 320
    def __getitem__(self, index):
        if rank == 1 and where == "data":
            time.sleep(slow)
        return torch.zeros(1024)

net = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 64))
model = DistributedDataParallel(net.cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Samples(), 8):
    if rank == 1 and where == "host":
        time.sleep(slow * 8)
    loss = model(batch.cuda().repeat(64, 1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
dist.destroy_process_group()
"""


def diagnosis_of(tmp_path: Path, slow_s: float, where: str) -> dict[str, Any]:
    script, found = tmp_path / "train.py", tmp_path / "found.json"
    script.write_text(TRAIN)
    job = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script]
    options = ["--emulate", "a100", "--gpus", "2", "--out", tmp_path / "run", "--json", found]
    words = [*options, "--", *job, slow_s, where]
    done = unstarve("run", *map(str, words))
    assert done.returncode == 0, done.stdout + done.stderr
    answers: dict[str, Any] = json.loads(found.read_text())
    return answers


@pytest.mark.parametrize(
    ("where", "because", "words"),
    [
        ("data", "input_wait", "because it waits for its data loader at "),
        ("host", "host", "because its host launches the next work later"),
    ],
)
def test_the_slow_rank_is_named_and_why(
    tmp_path: Path, where: str, because: str, words: str
) -> None:
    found = diagnosis_of(tmp_path, 0.01, where)
    each = found["ranks"]["each"]
    assert [row["rank"] for row in each] == [0, 1]
    late = found["ranks"]["straggler"]
    assert each[late["at"]]["rank"] == 1
    assert late["because"] == because
    assert late["late_ratio"] > 0.4
    verdict = found["verdict"]
    assert verdict.startswith("Rank 1 of 2 (on emulated GPUs) is late by "), verdict
    assert words in verdict
    assert "the other rank waits for it in all-reduce" in verdict
    assert ".item()" not in verdict
