"""`unstarve run --fix`: what is tried, what is kept, and the diff that keeps it."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import EMULATED, MODEL, unstarve
from measuring import measured

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


class Fixed(NamedTuple):
    folder: Path
    found: dict[str, Any]
    said: str


def fix(folder: Path, loader: str, judge: Callable[[dict[str, Any]], None]) -> Fixed:
    """What `run --fix` gives of a job with this loader, in a folder of its own each time."""

    def measure() -> Fixed:
        place = Path(tempfile.mkdtemp(dir=folder))
        (place / "train.py").write_text(LATE.format(model=MODEL, loader=loader))
        options = ["--trial-seconds", "1.5", "--no-live", "--out", "r", "--json", "d.json"]
        command = ["run", "--fix", *options, *EMULATED, "--", sys.executable, "train.py"]
        done = unstarve(*command, cwd=place)
        assert done.returncode == 0, done.stderr
        return Fixed(place, json.loads((place / "d.json").read_text()), done.stderr)

    return measured(measure, lambda made: judge(made.found))


def only_trial(found: dict[str, Any]) -> dict[str, Any]:
    tried: list[dict[str, Any]] = found["verification"]
    assert len(tried) == 1, [finding["detail"] for finding in found["findings"]]
    return tried[0]


def judge_gain(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert (tried["remedy"], tried["base"], tried["outcome"]) == ("more_workers", "before", "kept")
    assert tried["measured"]["low"] > 1.5
    assert tried["again"]["step_us"] > 1.5 * tried["after"]["step_us"], "the job as it is"


def test_what_is_kept_ends_in_a_diff_that_applies(tmp_path: Path) -> None:
    loader = "KIND = 'map'\nloader = DataLoader(Late(), batch_size=8, num_workers=1)"
    folder, found, said = fix(tmp_path, loader, judge_gain)
    (tried,) = found["verification"]
    assert "tried more_workers" in said and ", kept" in said
    assert "-loader = DataLoader(Late(), batch_size=8, num_workers=1)" in said
    assert "when it was run again" in said
    assert (folder / "r/more_workers.again/run.sqlite").exists()
    again = unstarve("report", "r", "--json", "-", cwd=folder)
    assert again.returncode == 0, again.stderr
    (shown,) = json.loads(again.stdout)["verification"]
    assert shown["measured"] == pytest.approx(tried["measured"])
    assert (shown["outcome"], shown["diff"]) == ("kept", tried["diff"])
    assert (folder / "r/fix.patch").read_text() == tried["diff"]
    if shutil.which("patch"):
        with (folder / "r/fix.patch").open() as diff:
            subprocess.run(["patch", "-p0"], stdin=diff, cwd=folder, check=True)
        line = (folder / "train.py").read_text().splitlines()
        workers = [text for text in line if text.startswith("loader = DataLoader(Late(), ")]
        assert workers and "num_workers=1)" not in workers[0] and "num_workers=" in workers[0]


def judge_stream(found: dict[str, Any]) -> None:
    assert only_trial(found)["remedy"] == "more_workers"


def test_a_stream_gets_one_worker_and_no_promise(tmp_path: Path) -> None:
    loader = "KIND = 'stream'\nloader = DataLoader(Stream(), batch_size=8)"
    _, found, said = fix(tmp_path, loader, judge_stream)
    (tried,) = found["verification"]
    assert "absent" in tried["predicted"], "what was predicted is of more workers"
    assert "+loader = DataLoader(Stream(), batch_size=8, num_workers=1" in tried["diff"], said


def judge_kept(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert (tried["remedy"], tried["outcome"]) == ("more_workers", "kept")


def test_the_drop_in_is_fixed_as_torchs_loader_is(tmp_path: Path) -> None:
    loader = "KIND = 'map'\nfrom unstarve import DataLoader\nloader = DataLoader(Late(), 8)"
    _, found, _ = fix(tmp_path, loader, judge_kept)
    (tried,) = found["verification"]
    assert "-loader = DataLoader(Late(), 8)" in tried["diff"]
