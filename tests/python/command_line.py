"""Starts the program as a user does, for the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import json_schemas
import torch_jobs

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests/data/traces"
PHOTOS = ROOT / "tests/data/photos"
BUILD = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release"))
UNSTARVE = BUILD / "src/cli/unstarve"

if not UNSTARVE.exists():
    raise FileNotFoundError(f"{UNSTARVE} is not built: run `make build`")

# Where a job that needs a GPU gets one.
EMULATED = ("--emulate", "a100")

# A small network on the job's GPU, and what a step of it is. PyTorch 2.15 may abort where its
# autograd thread still works as Python shuts down (docs/known_gaps.md).
MODEL = """
import atexit, time
atexit.register(time.sleep, 0.2)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 7, stride=4),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(16, 10),
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = torch.nn.CrossEntropyLoss()
def train(images, labels):
    loss = criterion(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""

# A job with a slow DataLoader, as small as it gets.
TRAINING_JOB = f"""
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self): return 10_000
    def __getitem__(self, index):
        torch.randn(3, 224, 224).sort()
        return torch.zeros(3, 224, 224), 0
torch.set_num_threads(1)
{MODEL}
for step, (images, labels) in enumerate(DataLoader(Slow(), batch_size=8)):
    train(images, labels)
    if step == 12:
        break
print("trained")
"""


def environment() -> dict[str, str]:
    return dict(
        os.environ, PYTHONPATH=str(BUILD / "python"), UNSTARVE_PYTHON=sys.executable, NO_COLOR="1"
    )


def with_forked_jobs() -> dict[str, str]:
    """The same for a command that starts many jobs, each of which would import torch anew."""
    return torch_jobs.handed_over(environment())


def unstarve(
    *arguments: str | bytes, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What it writes as JSON is held against the schemas of docs/formats/schemas."""
    done = subprocess.run(
        [str(UNSTARVE), *arguments],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env=env or environment(),
        cwd=cwd,
        timeout=900,
        check=False,
    )
    json_schemas.check_written(arguments, cwd, done.stdout)
    return done
