"""What trials do to the files of a job: nothing."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import EMULATED, MODEL, UNSTARVE, environment

HERE = Path(__file__).resolve().parents[1]

DATA = """
data = torch.utils.data.TensorDataset(torch.zeros(8, 3, 32, 32), torch.zeros(8, dtype=torch.int64))
again = torch.utils.data.RandomSampler(data, replacement=True, num_samples=10_000_000)
loader = torch.utils.data.DataLoader(data, batch_size=8, sampler=again)
"""

#: A usual script: goes on from its checkpoint, keeps the last two, a log, a database, a cache, and
#: outputs elsewhere.
JOB = f"""
import os, shutil, sqlite3, sys, torch
there = sys.argv[1]
begun = torch.load("last.pt")["step"] if os.path.exists("last.pt") else 0
print("begins at", begun, sorted(os.listdir(".")), sorted(os.listdir(there)))
{MODEL}
{DATA}
base = sqlite3.connect("runs.sqlite")
base.execute("create table if not exists runs (step)")
log = open("train.log", "a")
os.makedirs("cache", exist_ok=True)
if os.path.exists("old.pt"):
    os.remove("old.pt")
def save(step):
    torch.save({{"step": step}}, "new.pt")
    if os.path.exists("last.pt"):
        os.replace("last.pt", "before.pt")
    os.replace("new.pt", "last.pt")
    base.execute("insert into runs values (?)", (step,))
    base.commit()
    print(step, file=log, flush=True)
    for name in ("cache/index", f"{{there}}/predictions.txt"):
        with open(name, "w") as file:
            file.write(str(step))
    shutil.copytree("cache", f"{{there}}/cache", dirs_exist_ok=True)
for step, (images, labels) in enumerate(loader, begun + 1):
    train(images, labels)
    if step % 20 == 5:
        save(step)
    if step == begun + 6 and len(sys.argv) > 2:
        break
"""

#: With a folder of its own for all that it writes.
TIDY = f"""
import os, sys, torch
os.makedirs(sys.argv[1])
{MODEL}
{DATA}
for step, (images, labels) in enumerate(loader):
    train(images, labels)
    if step % 20 == 5:
        torch.save(model.state_dict(), sys.argv[1] + "/last.pt")
"""

COMMANDS = {
    "fix": ["run", "--fix", "--trial-seconds", "1", "--no-live", *EMULATED],
    "tune": ["tune", "--budget-minutes", "0.1", "--trial-seconds", "1", *EMULATED],
    "rehearse": ["rehearse", "--seconds", "1", "--gpu-kinds", "a100", "--gpus", "1"],
}


def state(folder: Path) -> dict[str, tuple[str, int]]:
    """Of each file that is no run's: its bytes and when it was changed."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file() and not path.is_relative_to(folder / "run")
    }


def try_it(
    folder: Path, command: str, *words: str, namespaces: bool = True
) -> subprocess.CompletedProcess[str]:
    start = [] if namespaces else [sys.executable, str(HERE / "without_namespaces.py")]
    return subprocess.run(
        [
            *start,
            *[str(UNSTARVE), *COMMANDS[command], "--out", str(folder / "run"), "--"],
            *[sys.executable, "train.py", *words],
        ],
        cwd=folder / "work",
        env=environment(),
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the job has run once."""
    folder = tmp_path_factory.mktemp("trained")
    for name in ("work", "there"):
        (folder / name).mkdir()
    (folder / "work/train.py").write_text(JOB)
    job = [sys.executable, "train.py", str(folder / "there"), "once"]
    emulated = [str(UNSTARVE), "emulate", "--", *job]
    done = subprocess.run(
        emulated, cwd=folder / "work", env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (folder / "work/old.pt").write_bytes(b"old")
    return folder


@pytest.fixture
def place(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return tmp_path


def begun(folder: Path) -> set[str]:
    """What the trials found when they began."""
    logs = [*(folder / "run").rglob("output.log")]
    return {log.read_text().splitlines()[0] for log in logs}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_there_is_as_it_was(place: Path, command: str) -> None:
    before = state(place)
    assert {"work/last.pt", "work/old.pt", "there/predictions.txt"} < set(before)
    done = try_it(place, command, str(place / "there"))
    assert "what trials write is dropped" in done.stderr, done.stderr
    assert state(place) == before
    (first,) = begun(place)
    assert first.startswith("begins at 5 "), done.stderr
    assert not [*place.rglob("written")]


@pytest.mark.parametrize("command", COMMANDS)
def test_where_layers_are_refused_the_search_stops_and_names_the_files(
    place: Path, command: str
) -> None:
    before = state(place)
    done = try_it(place, command, str(place / "there"), namespaces=False)
    assert done.returncode != 0
    assert f"the job writes over what is there: {place / 'work'}/" in done.stderr, done.stderr
    assert "--in-place" in done.stderr and "{trial}" in done.stderr
    assert state(place) == before


@pytest.mark.parametrize("namespaces", [True, False])
def test_a_folder_of_each_trials_own_is_gone_with_it(tmp_path: Path, namespaces: bool) -> None:
    (tmp_path / "work/out").mkdir(parents=True)
    (tmp_path / "work/train.py").write_text(TIDY)
    (tmp_path / "work/out/kept").touch()
    before = state(tmp_path)
    done = try_it(tmp_path, "rehearse", "out/{trial}", namespaces=namespaces)
    assert done.returncode == 0, done.stderr
    assert state(tmp_path) == before
    assert [*(tmp_path / "work/out").iterdir()] == [tmp_path / "work/out/kept"]


def test_in_place_they_write_where_the_job_writes(place: Path) -> None:
    COMMANDS["here"] = [*COMMANDS["rehearse"], "--in-place"]
    before = state(place)
    done = try_it(place, "here", str(place / "there"))
    del COMMANDS["here"]
    assert done.returncode == 0, done.stderr
    assert "(--in-place)" in done.stderr
    # One that is ended between two of its writes may have moved last.pt away and no more.
    assert state(place) != before
