"""`unstarve.watch()`: a part of a process is watched, and nothing of it stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import UNSTARVE, unstarve
from hook_jobs import HOOK, run_python

JOB = """
import gc, os, sys, time
import torch
import torch.utils.data as data

class Numbers(data.Dataset):
    def __len__(self):
        return 240
    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.zeros(8)

torch.set_num_threads(1)
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(workers=0):
    for batch in data.DataLoader(Numbers(), 8, num_workers=workers):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

def places():
    iterator = data.dataloader._BaseDataLoaderIter
    fetch = data._utils.fetch
    return [
        vars(data.DataLoader)["__init__"], vars(data.DataLoader)["__iter__"],
        vars(iterator)["__next__"], vars(fetch._MapDatasetFetcher)["fetch"],
        torch.save, torch.serialization.save, torch.Tensor.item, list(gc.callbacks),
        list(sys.meta_path),
        dict(sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks),
    ]

import unstarve
before = places()
"""


@pytest.fixture(autouse=True)
def in_the_job_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(tmp_path: Path, text: str, **more: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "train.py"
    script.write_text(JOB + text)
    path = os.pathsep.join([*sys.path[1:]])
    env = {**os.environ, "PYTHONPATH": path, "UNSTARVE_PROGRAM": str(UNSTARVE), **more}
    return run_python([script], env)


def test_a_block_is_watched_and_nothing_of_it_stays(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
train()
with unstarve.watch("first") as first:
    assert first.is_running and "watching process" in repr(first)
    assert places() != before
    train()
assert places() == before, "something stays"
train()  # nobody sees it
second = unstarve.watch("second")
train(workers=2)
assert second.stop() is second.stop()
assert places() == before, "something stays"
print(first.diagnosis["steps"]["count"], second.diagnosis["steps"]["count"])
print(first.verdict)
print("<pre>" in first._repr_html_(), repr(first))
print(second)
""",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = done.stdout.splitlines()
    # 30 steps each, without the warm-up's.
    assert said[0] == "29 29"
    assert said[1].startswith("Input-bound")
    assert "True Training waits for data" in done.stdout
    assert "Watched 30 steps in" in done.stdout
    assert "train.py" in said[1], "the loader's place"
    for name in ("first", "second"):
        assert (tmp_path / name / "run.sqlite").exists()
        assert (tmp_path / name / "report.html").exists()
        assert not list((tmp_path / name / "rings").iterdir()), "all was read"
        again = unstarve("report", str(tmp_path / name))
        assert again.returncode == 0, again.stderr
        assert "Watched 30 steps" in again.stdout


def test_what_a_library_put_over_torchs_function_stays(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
with unstarve.watch("run") as watched:
    ours = torch.save
    def theirs(*arguments, **named):
        print("theirs")
        return ours(*arguments, **named)
    torch.save = theirs
    train()
print(torch.save is theirs, watched.diagnosis["steps"]["count"])
torch.save({}, "weights")
torch.save = before[4]
assert places() == before, "something else stays"
""",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["True 29", "theirs"]


def test_ctrl_c_is_for_the_job(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the job's group."""
    done = run(
        tmp_path,
        """
import signal
os.setpgrp()
watched = unstarve.watch("run")
try:
    os.killpg(0, signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    train()
print(watched.stop().diagnosis["steps"]["count"])
""",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "29\n"


def test_what_the_job_raises_passes_and_ends_the_watching(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
try:
    with unstarve.watch("run") as watched:
        train()
        raise KeyError("the job's own")
except KeyError as error:
    print(error, places() == before, watched.is_running, watched.diagnosis["steps"]["count"])
""",
    )
    assert done.stdout == '"the job\'s own" True False 29\n', done.stdout + done.stderr


def test_without_the_program_the_job_goes_on(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
with unstarve.watch("run") as watched:
    assert places() == before
    train()
print(watched, watched.verdict == "")
""",
        UNSTARVE_PROGRAM=str(tmp_path / "none"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing was watched: ")
    assert done.stdout.endswith(" True\n")
    assert done.stderr == ""


def test_a_process_is_watched_once(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
with unstarve.watch("outer") as outer:
    with unstarve.watch("inner") as inner:
        train()
print(inner)
print(outer.diagnosis["steps"]["count"])
""",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing was watched: this process is watched already")
    assert done.stdout.endswith("\n29\n")

    (tmp_path / "rings").mkdir()
    path = os.pathsep.join([str(HOOK), *sys.path[1:]])
    done = run(
        tmp_path,
        """
with unstarve.watch("block") as block:
    train()
print(block)
""",
        UNSTARVE_RUN_DIR=str(tmp_path),
        PYTHONPATH=path,
    )
    assert "by `unstarve run` or another block" in done.stdout, done.stderr
    assert len(list((tmp_path / "rings").glob("hook-*.ring"))) == 1


def test_a_process_that_ends_within_a_block_leaves_a_run(tmp_path: Path) -> None:
    done = run(tmp_path, 'watched = unstarve.watch("run")\ntrain()\nos._exit(3)\n')
    assert done.returncode == 3
    for _ in range(100):
        if (tmp_path / "run" / "report.html").exists():
            break
        subprocess.run(["sleep", "0.1"], check=True)
    again = unstarve("report", str(tmp_path / "run"))
    assert "Watched 30 steps" in again.stdout, again.stderr


def test_attach_says_when_there_is_no_process(tmp_path: Path) -> None:
    done = unstarve("attach", "4194304", "--out", str(tmp_path / "run"))
    assert done.returncode != 0
    assert "there is no process 4194304" in done.stderr
