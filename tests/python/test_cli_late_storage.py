"""A job whose files come late, as from network storage: what is said of it, and what of a job that
is just as slow for its CPU."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, MODEL, ROOT, unstarve

pytestmark = pytest.mark.real_time

JOB = f"""
import os, sys, torch
from torch.utils.data import DataLoader, Dataset
class Files(Dataset):
    def __len__(self): return 10_000
    def __getitem__(self, index):
        with open(os.path.join(sys.argv[1], str(index % 8)), "rb") as file:
            file.read()
        return torch.zeros(3, 64, 64), 0
torch.set_num_threads(1)
{MODEL}
loader = DataLoader(Files(), batch_size=8, num_workers=int(sys.argv[2]))
for step, (images, labels) in enumerate(loader):
    train(images, labels)
    if step == 60:
        break
"""


@pytest.fixture(scope="module")
def slow_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler for files that come late")
    library = tmp_path_factory.mktemp("slow") / "slow_open.so"
    source = ROOT / "bench/slow_files/slow_open.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


def looks(run: Path) -> dict[str, float]:
    with sqlite3.connect(run / "run.sqlite") as store:
        rows = store.execute(
            "SELECT metric.name, SUM(value) FROM sample JOIN metric ON metric.id = metric_id"
            " WHERE metric.name LIKE 'job.fetch_looks%' GROUP BY metric.name"
        )
        return {name.removeprefix("job.fetch_looks_"): value or 0.0 for name, value in rows}


def examine(folder: Path, library: Path, workers: int, **late: str) -> tuple[Any, dict[str, float]]:
    data = folder / "data"
    data.mkdir()
    for number in range(8):
        (data / str(number)).write_bytes(bytes(20_000))
    (folder / "train.py").write_text(JOB)
    preload = f"{library}:{os.environ.get('LD_PRELOAD', '')}".rstrip(":")
    slow = {"LD_PRELOAD": preload, "SLOW_FOLDER": str(data), "SLOW_MS": "20", **late}
    job = ["env", *(f"{k}={v}" for k, v in slow.items()), sys.executable]
    job += [str(folder / "train.py"), str(data), str(workers)]
    written = folder / "report.json"
    options = ["--out", str(folder / "run"), "--json", str(written)]
    done = unstarve("run", *EMULATED, *options, "--", *job)
    assert done.returncode == 0, done.stderr
    return json.loads(written.read_text()), looks(folder / "run")


@pytest.mark.parametrize(
    ("workers", "where", "words"),
    [(0, {}, "asleep"), (2, {}, "asleep"), (2, {"SLOW_IN": "network"}, "for the network")],
)
def test_files_that_come_late_are_named_and_more_workers_than_cpus_advised(
    tmp_path: Path, slow_open: Path, workers: int, where: dict[str, str], words: str
) -> None:
    found, seen = examine(tmp_path, slow_open, workers, **where)
    finding = found["findings"][0]
    assert finding["cause"] == "input_wait"
    if workers == 0:
        assert finding["detail"] == "late_storage"
    assert any(f"it waits {words}" in sentence for sentence in finding["evidence"])
    remedy = finding["remedies"][0]
    assert remedy["id"] == "more_workers"
    assert remedy["values"]["num_workers"] > len(os.sched_getaffinity(0))
    assert remedy["predicted"]["low"] > 1
    asleep = seen["asleep"] if words == "asleep" else seen["in_network"]
    assert asleep > 0.6 * sum(seen.values())


def test_files_that_come_in_time_are_not_said_to_be_late(tmp_path: Path, slow_open: Path) -> None:
    found, _ = examine(tmp_path, slow_open, 2, SLOW_MS="0")
    assert all(finding["detail"] != "late_storage" for finding in found["findings"])
