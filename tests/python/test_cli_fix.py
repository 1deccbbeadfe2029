"""`unstarve run --fix`: what is tried, what is kept, and the diff that keeps it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, MODEL, unstarve

pytestmark = [pytest.mark.real_time, pytest.mark.alone]

# Files that come late: waiting takes no CPU, so that what else runs here hardly matters.
LATE = """
import time, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Late(Dataset):
    def __len__(self):
        return 100_000
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.zeros(3, 32, 32), index % 10

class Stream(IterableDataset):
    def __iter__(self):
        late = Late()
        for index in range(100_000):
            yield late[index]
{model}
{loader}
for step, (images, labels) in enumerate(loader):
    train(images, labels)
    if KIND == "stream":
        time.sleep(0.03)
    if step == 100_000:
        break
"""


def fix(
    folder: Path, look: Callable[[bool], None], script: str, *options: str
) -> tuple[dict[str, Any], str]:
    (folder / "train.py").write_text(script)
    done = unstarve(
        *["run", "--fix", "--trial-seconds", "3", "--no-live", "--out", "r", "--json", "d.json"],
        *[*EMULATED, *options, "--", sys.executable, "train.py"],
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "d.json").read_text())
    look(any(finding["detail"] == "busy_neighbour" for finding in found["findings"]))
    return found, done.stderr


def test_what_is_kept_ends_in_a_diff_that_applies(
    tmp_path: Path, not_beside_neighbours: Callable[[bool], None]
) -> None:
    loader = "KIND = 'map'\nloader = DataLoader(Late(), batch_size=8, num_workers=1)"
    found, said = fix(tmp_path, not_beside_neighbours, LATE.format(model=MODEL, loader=loader))
    (tried,) = found["verification"]
    assert (tried["remedy"], tried["base"], tried["outcome"]) == ("more_workers", "before", "kept")
    assert tried["measured"]["low"] > 1.5
    assert tried["again"]["step_us"] > 1.5 * tried["after"]["step_us"], "the job as it is"
    assert "tried more_workers" in said and ", kept" in said
    assert "-loader = DataLoader(Late(), batch_size=8, num_workers=1)" in said
    assert "when it was run again" in said
    assert (tmp_path / "r/more_workers.again/run.sqlite").exists()
    again = unstarve("report", "r", "--json", "-", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    (shown,) = json.loads(again.stdout)["verification"]
    assert shown["measured"] == pytest.approx(tried["measured"])
    assert (shown["outcome"], shown["diff"]) == ("kept", tried["diff"])
    assert (tmp_path / "r/fix.patch").read_text() == tried["diff"]
    if shutil.which("patch"):
        with (tmp_path / "r/fix.patch").open() as diff:
            subprocess.run(["patch", "-p0"], stdin=diff, cwd=tmp_path, check=True)
        line = (tmp_path / "train.py").read_text().splitlines()
        workers = [text for text in line if text.startswith("loader = DataLoader(Late(), ")]
        assert workers and "num_workers=1)" not in workers[0] and "num_workers=" in workers[0]


def test_a_stream_gets_one_worker_and_no_promise(
    tmp_path: Path, not_beside_neighbours: Callable[[bool], None]
) -> None:
    loader = "KIND = 'stream'\nloader = DataLoader(Stream(), batch_size=8)"
    found, said = fix(tmp_path, not_beside_neighbours, LATE.format(model=MODEL, loader=loader))
    (tried,) = found["verification"]
    assert tried["remedy"] == "more_workers"
    assert "absent" in tried["predicted"], "what was predicted is of more workers"
    assert "+loader = DataLoader(Stream(), batch_size=8, num_workers=1" in tried["diff"], said


def test_the_drop_in_is_fixed_as_torchs_loader_is(
    tmp_path: Path, not_beside_neighbours: Callable[[bool], None]
) -> None:
    loader = "KIND = 'map'\nfrom unstarve import DataLoader\nloader = DataLoader(Late(), 8)"
    found, said = fix(tmp_path, not_beside_neighbours, LATE.format(model=MODEL, loader=loader))
    (tried,) = found["verification"]
    assert (tried["remedy"], tried["outcome"]) == ("more_workers", "kept"), said
    assert "-loader = DataLoader(Late(), 8)" in tried["diff"]
