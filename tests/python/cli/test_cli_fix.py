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

# Files that come late: waiting takes no CPU, and so much longer than all that a step does that what
# else runs here hardly matters.
LATE = """
import time, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Late(Dataset):
    def __len__(self):
        return 100_000
    def __getitem__(self, index):
        time.sleep(0.012)
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
        time.sleep(0.09)
    if step == 100_000:
        break
"""

#: One pass after the other over a few samples, which are always the same.
EPOCHS = (
    LATE.split("for step,")[0].replace("100_000", "40", 1)
    + """
for epoch in range(100_000):
    for images, labels in loader:
        train(images, labels)
"""
)


class Fixed(NamedTuple):
    folder: Path
    found: dict[str, Any]
    said: str


def fix(
    folder: Path,
    loader: str,
    judge: Callable[[dict[str, Any]], None],
    below: str = ".",
    text: str = LATE,
) -> Fixed:
    """What `run --fix` gives of a job with this loader, in a folder of its own each time; the job
    goes to the one `below` by itself."""

    def measure() -> Fixed:
        place = Path(tempfile.mkdtemp(dir=folder))
        (place / below).mkdir(exist_ok=True)
        (place / below / "train.py").write_text(text.format(model=MODEL, loader=loader))
        options = ["--trial-seconds", "1.5", "--no-live", "--out", "r", "--json", "d.json"]
        job = ["sh", "-c", f"cd {below} && exec {sys.executable} train.py"]
        if below == ".":
            job = [sys.executable, "train.py"]
        else:
            shutil.copy(place / below / "train.py", place)  # of the same name, and another
        done = unstarve("run", "--fix", *options, *EMULATED, "--", *job, cwd=place)
        assert done.returncode == 0, done.stderr
        return Fixed(place, json.loads((place / "d.json").read_text()), done.stderr)

    return measured(measure, lambda made: judge(made.found))


def only_trial(found: dict[str, Any]) -> dict[str, Any]:
    tried: list[dict[str, Any]]
    tried = [one for one in found["verification"] if one["remedy"] != "as_written"]
    assert len(tried) == 1, [finding["detail"] for finding in found["findings"]]
    return tried[0]


def judge_written(found: dict[str, Any]) -> dict[str, Any]:
    """The last trial: of the script with the change in it, and of nothing else."""
    written: dict[str, Any] = found["verification"][-1]
    assert (written["remedy"], written["base"]) == ("as_written", "before")
    assert written["outcome"] == "kept"
    return written


def judge_gain(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert (tried["remedy"], tried["base"], tried["outcome"]) == ("more_workers", "before", "kept")
    for trial in (tried, judge_written(found)):
        assert trial["measured"]["low"] > 1.5
        assert trial["again"]["step_us"] > 1.5 * trial["after"]["step_us"], "the job as it is"


def test_what_is_kept_ends_in_a_diff_that_applies(tmp_path: Path) -> None:
    loader = "KIND = 'map'\nloader = DataLoader(Late(), batch_size=8, num_workers=1)"
    folder, found, said = fix(tmp_path, loader, judge_gain, below="exp")
    tried, written = found["verification"]
    assert "tried more_workers" in said and ", kept" in said
    assert "the change as it is written made the job" in said
    assert "diff" not in tried, "given of what was measured as it is written"
    assert written["predicted"] == tried["predicted"]
    assert "-loader = DataLoader(Late(), batch_size=8, num_workers=1)" in said
    assert "when it was run again" in said
    assert (folder / "r/more_workers.without/run.sqlite").exists()
    again = unstarve("report", "r", "--json", "-", cwd=folder)
    assert again.returncode == 0, again.stderr
    shown = json.loads(again.stdout)["verification"][-1]
    assert shown["measured"] == pytest.approx(written["measured"])
    assert shown["predicted"] == written["predicted"]
    assert (shown["outcome"], shown["diff"]) == ("kept", written["diff"])
    assert (folder / "r/fix.patch").read_text() == written["diff"]
    if shutil.which("patch"):
        with (folder / "r/fix.patch").open() as diff:
            subprocess.run(["patch", "-p1"], stdin=diff, cwd=folder, check=True)
        line = (folder / "exp/train.py").read_text().splitlines()
        workers = [text for text in line if text.startswith("loader = DataLoader(Late(), ")]
        assert workers and "num_workers=1)" not in workers[0] and "num_workers=" in workers[0]


def judge_stream(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert tried["remedy"] == "more_workers"
    assert tried["predicted"]["high"] < 2.3, "loading and the step take about as long"
    judge_written(found)


def test_a_stream_gets_one_worker_and_is_promised_no_more(tmp_path: Path) -> None:
    loader = "KIND = 'stream'\nloader = DataLoader(Stream(), batch_size=8)"
    _, found, said = fix(tmp_path, loader, judge_stream)
    _, written = found["verification"]
    assert "+loader = DataLoader(Stream(), batch_size=8, num_workers=1" in written["diff"], said


def judge_kept(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert (tried["remedy"], tried["outcome"]) == ("more_workers", "kept")
    judge_written(found)


def test_the_drop_in_is_fixed_as_torchs_loader_is(tmp_path: Path) -> None:
    loader = "KIND = 'map'\nfrom unstarve import DataLoader\nloader = DataLoader(Late(), 8)"
    _, found, _ = fix(tmp_path, loader, judge_kept)
    written = found["verification"][-1]
    assert "-loader = DataLoader(Late(), 8)" in written["diff"]


def judge_broken(found: dict[str, Any]) -> None:
    tried = only_trial(found)
    assert (tried["remedy"], tried["outcome"]) == ("more_workers", "kept")
    assert tried["permanent"].startswith("none: with num_workers=")


def test_what_fails_as_it_is_written_is_not_proposed(tmp_path: Path) -> None:
    loader = """KIND = "map"
loader = DataLoader(Late(), batch_size=8, num_workers=1)
if "num_workers=1)" + chr(10) not in open(__file__).read():
    raise SystemExit("another text")
"""
    folder, found, said = fix(tmp_path, loader, judge_broken)
    assert len(found["verification"]) == 1
    assert "diff" not in found["verification"][0]
    assert not (folder / "r/fix.patch").exists()
    assert "as_written is not tried" in said and "another text" in said


def judge_cached(found: dict[str, Any]) -> None:
    kept = [one["remedy"] for one in found["verification"] if one["outcome"] == "kept"]
    assert kept[:1] == ["sample_cache"], [finding["remedies"] for finding in found["findings"]]
    tried, written = found["verification"][0], judge_written(found)
    for trial in (tried, written):
        assert trial["measured"]["low"] > 1.5
    # It may be more: a training whose CPU no longer sleeps between steps is faster by itself.
    assert tried["measured"]["high"] >= tried["predicted"]["low"], tried


def test_kept_samples_are_measured_from_the_second_pass_on(tmp_path: Path) -> None:
    loader = "KIND = 'map'\nloader = DataLoader(Late(), batch_size=8)"
    folder, found, said = fix(tmp_path, loader, judge_cached, text=EPOCHS)
    written = found["verification"][-1]
    assert "+loader = DataLoader(unstarve.cached(Late()), batch_size=8" in written["diff"], said
    assert "+import unstarve" in written["diff"]
    assert (folder / "r/fix.patch").read_text() == written["diff"]
