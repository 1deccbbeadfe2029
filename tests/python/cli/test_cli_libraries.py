"""Whose compiled code fetches run, as samples of their instructions tell it."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

from command_line import unstarve

# What a fetch does is decode: a large JPEG to a few pixels.
JOB = """
import io
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

buffer = io.BytesIO()
Image.effect_noise((1600, 1200), 40).convert("RGB").save(buffer, "JPEG", quality=92)

class Photos(Dataset):
    def __len__(self): return 160
    def __getitem__(self, index):
        image = Image.open(io.BytesIO(buffer.getvalue()))
        image.load()
        return torch.zeros(3, 8, 8), image.width

model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, widths in DataLoader(Photos(), 8, num_workers=1):
    optimizer.zero_grad()
    model(images).sum().backward()
    optimizer.step()
"""


def watch(folder: Path, **environment: str) -> tuple[dict[str, Any], Path]:
    job, result, run = folder / "train.py", folder / "run.json", folder / "run"
    job.write_text(JOB)
    done = unstarve(
        *["run", "--out", str(run), "--json", str(result), "--", sys.executable, str(job)],
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(result.read_text())
    return found, run


def why_not(run: Path) -> list[str]:
    with sqlite3.connect(run / "run.sqlite") as store:
        rows = store.execute(
            "SELECT absent FROM sample JOIN metric ON metric.id = sample.metric_id "
            "WHERE metric.name = 'job.fetch_code_looks' AND subject = 'job'"
        )
        return [reason for (reason,) in rows]


def test_decoding_is_seen_under_the_line_of_python(tmp_path: Path) -> None:
    found, run = watch(tmp_path)
    if "fetch_libraries" not in found:  # a container may forbid it, and then says so
        assert why_not(run) == ["no_permission"]
        return
    libraries = found["fetch_libraries"]
    assert libraries["looks"] > 30
    by_purpose = {part.get("what"): part["share"] for part in libraries["parts"]}
    assert by_purpose["JPEG images"] > 0.5, libraries
    (finding,) = [one for one in found["findings"] if one["cause"] == "input_wait"]
    assert any("% JPEG images" in sentence for sentence in finding["evidence"])


def test_nobody_looks_where_looks_are_switched_off(tmp_path: Path) -> None:
    found, run = watch(tmp_path, UNSTARVE_STACKS="off")
    assert "fetch_libraries" not in found
    assert why_not(run) == ["not_supported"]
