"""UNSTARVE_CALIBRATE: what batches cost in worker processes, measured without touching the job."""

import ctypes
import itertools
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hook_jobs import environment, hook_module, run_job, run_python
from torch.utils.data import DataLoader

WANTED = json.dumps({"workers": 2, "seconds": 0.2})

#: Prints whatever a calibration could disturb: batches, their order, and all random states.
JOB = """
import random, sys
import numpy, torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    calls = 0
    def __len__(self):
        return 24
    def __getitem__(self, index):
        Noisy.calls += 1
        noise = random.random() + numpy.random.rand() + torch.rand(()).item()
        return torch.full((3,), float(index)), noise

random.seed(1), numpy.random.seed(2), torch.manual_seed(3)
loader = DataLoader(Noisy(), batch_size=4, shuffle=True)
weights = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([weights], lr=0.1)
for epoch in range(2):
    for images, noise in loader:
        optimizer.step()
        print(epoch, images.tolist(), noise.tolist(), torch.rand(()).item())
print(Noisy.calls, random.random(), numpy.random.rand(), torch.rand(2).tolist())
"""


def test_the_job_is_the_same_to_the_bit(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(JOB)
    plain = run_python([script], environment())
    asked = run_job(tmp_path / "asked", [script], UNSTARVE_CALIBRATE=WANTED)
    not_asked = run_job(tmp_path / "not_asked", [script])
    for job in (asked, not_asked):
        assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
        assert (job.process.stderr, job.errors) == ("", [])
        assert job.workers == [], "the measured batches are not the job's"
    assert "fetch_calibration" not in not_asked.main.text
    # What is recorded is what the job did.
    for event in ("step", "loader", "wait", "fetch"):
        assert len(asked.main.of(event)) == len(not_asked.main.of(event)) > 0
    found = asked.main.text["fetch_calibration"]
    assert (found["loader"], found["samples"]) == (0, 4)
    cpus = len(os.sched_getaffinity(0))
    assert [crew["workers"] for crew in found["measured"]] == [1, 2][: min(cpus, 2)]
    for crew in found["measured"]:
        assert crew["batches"] >= 3
        for part in ("cpu_ns", "wall_ns", "receive_cpu_ns", "release_cpu_ns"):
            mean, error = crew[part]
            assert mean > 0 and error >= 0


LEFT_ALONE = """
import sys, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(3))

class Numbers(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        if sys.argv[1] == "raises" and torch.utils.data.get_worker_info() is not None:
            raise KeyError("no such sample")
        return index

class Held(Numbers):
    def __init__(self):
        self.file = open(__file__)

if __name__ == "__main__":
    if sys.argv[1] == "spawn":
        torch.multiprocessing.set_start_method("spawn")
    loader = {
        "stream": lambda: DataLoader(Stream()),
        "in_order": lambda: DataLoader(Numbers()),
        "workers": lambda: DataLoader(Numbers(), shuffle=True, num_workers=1),
        "held": lambda: DataLoader(Held(), shuffle=True),
        "spawn": lambda: DataLoader(Numbers(), shuffle=True),
        "raises": lambda: DataLoader(Numbers(), shuffle=True),
    }[sys.argv[1]]()
    print(sorted(int(batch) for batch in loader))
"""


@pytest.mark.parametrize(
    ("case", "samples", "reason"),
    [
        ("stream", 3, None),
        ("in_order", 8, None),
        ("workers", 8, "it has workers"),
        ("held", 8, "holds an open"),
        ("spawn", 8, "start method"),
        ("raises", 8, "no such sample"),
    ],
)
def test_a_job_that_cannot_be_measured_goes_on_as_ever(
    tmp_path: Path, case: str, samples: int, reason: str | None
) -> None:
    script = tmp_path / "train.py"
    script.write_text(LEFT_ALONE)
    job = run_job(tmp_path, [script, case], UNSTARVE_CALIBRATE=WANTED)
    assert (job.process.returncode, job.process.stdout) == (0, f"{list(range(samples))}\n")
    assert (job.process.stderr, job.errors) == ("", [])
    found = job.main.text.get("fetch_calibration", {})
    assert "measured" not in found
    assert reason in found["refused"] if reason else found == {}


@pytest.fixture
def calibrate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The hook's module, in this process."""
    with hook_module("calibrate", monkeypatch) as module:
        yield module


class Counted:
    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: int) -> int:
        return index


def loader_of(data: Any, batch_size: int = 10) -> Any:
    return DataLoader(data, batch_size=batch_size, shuffle=True)


@pytest.mark.parametrize(
    "asked",
    ["", "2", "{}", "{", '{"workers": "many", "seconds": 1}', '{"workers": 0, "seconds": 1}'],
)
def test_a_damaged_request_is_refused(
    calibrate: Any, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("UNSTARVE_CALIBRATE", asked)
    assert "Error" in calibrate._outcome(loader_of(Counted()))["refused"]


def test_it_ends_when_its_time_is_over(calibrate: Any) -> None:
    ticks = itertools.count()
    found = calibrate.measure(loader_of(Counted()), 1, 1.0, now=lambda: next(ticks) * 0.1)
    (crew,) = found["measured"]
    # A tenth of a second passes from batch to batch; what was ordered by then still comes.
    assert 8 <= crew["batches"] <= 12
    assert 1.0 <= found["spent_ns"] / 1e9 <= 2.0


def test_it_gives_up_where_batches_take_too_long(calibrate: Any) -> None:
    ticks = itertools.count()
    with pytest.raises(calibrate.fix.RefusedError, match="longer than 8 s"):
        calibrate.measure(loader_of(Counted()), 1, 1.0, now=lambda: next(ticks) * 3.0)
    assert not torch.multiprocessing.active_children()


class Shared:
    """Its pickling is a call that holds the interpreter, as the one that makes shared memory is."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        held = "mktemp begun.XXXXXX; sleep 0.3; kill -0 $PPID && mktemp whole.XXXXXX"
        ctypes.PyDLL(None).system(f"cd {self._folder}; ({held}) >/dev/null 2>&1".encode())
        return str, ("batch",)


def test_workers_end_between_two_calls(calibrate: Any, tmp_path: Path) -> None:
    ticks = itertools.count()

    def now() -> float:
        time.sleep(0.1)  # The worker has begun with the next batch.
        return next(ticks) * 3.0

    loader = DataLoader(Counted(), 4, shuffle=True, collate_fn=lambda _: Shared(str(tmp_path)))
    with pytest.raises(calibrate.fix.RefusedError, match="longer than 8 s"):
        calibrate.measure(loader, 1, 1.0, now=now)
    time.sleep(0.5)  # What a worker left amid a call goes on for as long.
    begun, whole = (len(list(tmp_path.glob(f"{name}.*"))) for name in ("begun", "whole"))
    assert begun == whole > 1


class Stuck(Counted):
    def __getitem__(self, index: int) -> int:
        time.sleep(3600)
        return index


def test_a_data_set_that_hangs_does_not_hold_the_job_up(
    calibrate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "_LONGEST_S", 0.5)
    before = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out"):
        calibrate.measure(loader_of(Stuck()), 1, 0.1)
    assert time.monotonic() - before < 60
    assert not torch.multiprocessing.active_children()


def test_only_a_part_of_the_data_is_read(calibrate: Any) -> None:
    def seen(length: int, seed: int) -> set[int]:
        orders = calibrate._Orders(length, 10, seed)
        batches = list(itertools.islice(orders, 50))
        assert all(len(batch) == len(set(batch)) == min(10, length) for batch in batches)
        return set(itertools.chain.from_iterable(batches))

    assert len(seen(1000, 1)) == 100, "a tenth, again and again"
    assert seen(1000, 1) != seen(1000, 2)
    assert len(seen(30, 1)) == 20, "two batches at least"
    assert len(seen(7, 1)) == 7
