"""The line of the job's Python, from the job on an emulated GPU to the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve

pytestmark = pytest.mark.real_time

SYNC = """
import time, torch
def log(loss):
    return loss.item()
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for step in range(120):
    batch = torch.zeros(4096, 2048, device="cuda")
    loss = model(batch).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += log(loss)
    time.sleep(0.01)  # while the GPU has nothing to do
"""

STARVING = """
import sys, torch
from PIL import Image
from torchvision import transforms
from torch.utils.data import DataLoader, Dataset

class Pictures(Dataset):
    def __init__(self):
        self.image = Image.new("RGB", (500, 400), (200, 100, 50))
        self.transform = transforms.Compose([
            transforms.GaussianBlur(15),
            transforms.ToTensor(),
        ])
    def __len__(self):
        return 320
    def __getitem__(self, index):
        return self.transform(self.image)

model = torch.nn.Linear(400, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images in DataLoader(Pictures(), 8, num_workers=int(sys.argv[1])):
    loss = model(images.cuda()[:, 0, :, 0]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def diagnosed(folder: Path, source: str, *arguments: str) -> dict[str, Any]:
    script, answer = folder / "train.py", folder / "diagnosis.json"
    script.write_text(source)
    options = ["--emulate", "a100", "--out", folder / "run", "--json", answer]
    job = [PYTHON, script, *arguments]
    done = unstarve("run", *map(str, options), "--", *map(str, job))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found: dict[str, Any] = json.loads(answer.read_text())
    return found


def place(source: str, words: str) -> str:
    return f"train.py:{source.splitlines().index(words) + 1}"


def finding(diagnosis: dict[str, Any], cause: str) -> dict[str, Any]:
    (found,) = [f for f in diagnosis["findings"] if f["cause"] == cause]
    return dict(found)


def test_the_line_that_waits_for_the_gpu_is_named(tmp_path: Path) -> None:
    diagnosis = diagnosed(tmp_path, SYNC)
    code = finding(diagnosis, "sync")["code"][0]
    assert code["place"].endswith(place(SYNC, "    return loss.item()")), diagnosis
    assert (code["call"], code["what"]) == ("loss.item()", "reading a result")
    assert code["share"] > 0.6


def test_the_transform_that_starves_the_gpu_is_named(tmp_path: Path) -> None:
    for workers in ("0", "1"):
        folder = tmp_path / workers
        folder.mkdir()
        diagnosis = diagnosed(folder, STARVING, workers)
        code = finding(diagnosis, "input_wait")["code"][0]
        assert code["what"] == "GaussianBlur", diagnosis
        where = place(STARVING, "            transforms.GaussianBlur(15),")
        assert code["place"].endswith(where)
        assert code["share"] > 0.5
        assert "of a sample is GaussianBlur" in diagnosis["verdict"]
