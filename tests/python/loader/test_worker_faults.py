"""Workers that fail, are killed, or lose their parent: an error or an end, never a hang."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from batches import raised_by_torch
from torch.utils.data import DataLoader
from unstarve.workers import make_iterator
from worker_data import Failing, Returning, as_list

warnings.filterwarnings("ignore", message="This DataLoader will create", category=UserWarning)


class Loader(DataLoader):  # type: ignore[misc]
    def _get_iterator(self) -> Any:
        return make_iterator(self, threads=False)


def message_of(how: str, **options: Any) -> tuple[type[BaseException], str]:
    with pytest.raises(Exception) as caught:
        list(Loader(Failing(how), 2, num_workers=2, **options))
    return caught.type, str(caught.value)


@pytest.mark.parametrize("how", ["value", "key"])
def test_exceptions_are_torchs(how: str) -> None:
    found = message_of(how)
    assert found == raised_by_torch(DataLoader(Failing(how), 2, num_workers=2))
    assert "Original Traceback" in found[1] and "in DataLoader worker process" in found[1]


def test_exceptions_that_cannot_be_pickled() -> None:
    kind, text = message_of("local")
    assert kind is RuntimeError
    assert "of a class that cannot be pickled" in text


def test_batches_that_cannot_be_pickled() -> None:
    dataset = Returning(lambda _: lambda: 0)
    with pytest.raises(Exception, match="pickle"):
        list(Loader(dataset, 2, num_workers=1, collate_fn=as_list))


def test_going_on_after_an_exception() -> None:
    batches = iter(Loader(Failing("value"), 2, num_workers=2))
    seen = []
    while True:
        try:
            seen.append(float(next(batches)[0, 0]))
        except ValueError:
            seen.append(-1)
        except StopIteration:
            break
    assert seen == [0, 2, -1, 6, 8, 10]


@pytest.mark.parametrize("how", ["kill", "exit"])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_worker_that_dies(how: str, persistent: bool) -> None:
    start = time.monotonic()
    kind, text = message_of(how, persistent_workers=persistent)
    assert kind is RuntimeError and "DataLoader worker (pid" in text
    assert time.monotonic() - start < 60  # torch itself would look every five seconds


def test_a_worker_that_dies_while_it_is_idle() -> None:
    loader = Loader(Returning(lambda i: i, 40), 2, num_workers=2, persistent_workers=True)
    batches = iter(loader)
    next(batches)
    os.kill(batches._workers[1].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="DataLoader worker"):
        list(batches)
        list(loader)


def test_timeout() -> None:
    with pytest.raises(RuntimeError, match="DataLoader timed out after 1 seconds"):
        list(Loader(Failing("sleep"), 2, num_workers=1, timeout=1))


def test_leaving_in_the_middle_ends_the_workers() -> None:
    batches = iter(Loader(Returning(lambda i: torch.ones(50_000), 100), 2, num_workers=2))
    next(batches)
    workers = list(batches._workers)
    del batches
    assert all(worker.exitcode == 0 for worker in workers)


def test_persistent_workers_after_an_epoch_that_was_left() -> None:
    def run(kind: Any) -> list[Any]:
        torch.manual_seed(1)
        dataset = Returning(lambda i: torch.rand(3), 30)
        loader = kind(dataset, 2, num_workers=2, persistent_workers=True)
        for number, _ in enumerate(loader):
            if number == 3:
                break
        return [batch.tolist() for batch in loader]

    assert run(Loader) == run(DataLoader)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left() -> None:
    loader = Loader(Returning(lambda i: torch.ones(50_000), 20), 2, num_workers=2)
    list(loader)
    before = open_descriptors()
    for _ in range(3):
        list(loader)
    assert open_descriptors() <= before


JOB = """
import os, sys, time, torch
sys.path[:0] = {tests!r}
from test_worker_faults import Loader, Returning
class Slow:
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        time.sleep(float({pause!r}))
        return torch.ones(50_000)
batches = iter(Loader(Slow(), 2, num_workers=2, persistent_workers={persistent}))
kept = [next(batches), next(batches)]
print(*[worker.pid for worker in batches._workers], flush=True)
{ending}
"""


def start_job(ending: str, pause: float = 0.0, persistent: bool = False) -> Any:
    tests = [str(folder) for folder in Path(__file__).parents[:2]]
    code = JOB.format(tests=tests, pause=pause, persistent=persistent, ending=ending)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_until_gone(pids: list[int]) -> None:
    """Fails after a minute; a worker that got its signal is gone at once."""
    deadline = time.monotonic() + 60
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < deadline, f"of {pids} some run on"
        os.sched_yield()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_nothing_lies_in_dev_shm() -> None:
    """So nothing can be left there, whoever is killed."""
    job = start_job("time.sleep(600)", pause=0.01)
    try:
        pids = [int(pid) for pid in job.stdout.readline().split()]
        for pid in [job.pid, *pids]:
            maps = Path(f"/proc/{pid}/maps").read_text()
            links = [str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()]
            assert "/memfd:unstarve-slots" in maps
            assert not any("/dev/shm" in text for text in [maps, *links])
    finally:
        job.kill()
        job.communicate()


@pytest.mark.parametrize("pause", [0.0, 30.0 / 1000])
def test_killing_the_job_ends_its_workers(pause: float) -> None:
    job = start_job("time.sleep(600)", pause)
    pids = [int(pid) for pid in job.stdout.readline().split()]
    assert len(pids) == 2 and all(is_running(pid) for pid in pids)
    job.kill()
    job.communicate()
    wait_until_gone(pids)


def test_killing_a_job_that_iterates_in_a_thread() -> None:
    """There the kernel cannot tie workers to it; they see it themselves."""
    in_thread = """
import threading
def body():
    global mine
    mine = iter(Loader(Slow(), 2, num_workers=1))
    next(mine)
    print(*[worker.pid for worker in mine._workers], flush=True)
thread = threading.Thread(target=body); thread.start(); thread.join()
next(mine)   # its workers outlive the thread
print("went on", flush=True)
time.sleep(600)
"""
    job = start_job(in_thread)
    pids = [int(pid) for line in range(2) for pid in job.stdout.readline().split()]
    assert len(pids) == 3
    assert job.stdout.readline() == "went on\n"
    job.kill()
    job.communicate()
    wait_until_gone(pids)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "del batches"])
def test_leaving_the_interpreter_in_the_middle(ending: str, persistent: bool) -> None:
    job = start_job(ending, persistent=persistent)
    output, errors = job.communicate(timeout=120)
    assert job.returncode == 0 and errors == ""
    wait_until_gone([int(pid) for pid in output.split()])


def test_ctrl_c() -> None:
    job = start_job("for batch in batches: pass", pause=0.01)
    pids = [int(pid) for pid in job.stdout.readline().split()]
    for pid in [*pids, job.pid]:  # as a terminal does
        os.kill(pid, signal.SIGINT)
    _, errors = job.communicate(timeout=120)
    assert job.returncode != 0 and "KeyboardInterrupt" in errors
    wait_until_gone(pids)


@pytest.mark.skipif(not hasattr(torch, "accelerator"), reason="torch pins so from 2.6 on")
def test_pinning_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a machine with a GPU, with a copy in place of pinning."""
    from torch.utils.data._utils import pin_memory

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 0)
    monkeypatch.setattr(torch.accelerator, "set_device_index", lambda index: None)
    monkeypatch.setattr(pin_memory, "pin_memory", lambda data, device=None: copy.copy(data))
    dataset = Returning(lambda i: torch.full((20_000,), float(i)), 20)
    for persistent in (False, True):
        loader = Loader(dataset, 2, num_workers=2, pin_memory=True, persistent_workers=persistent)
        for _ in range(2):
            assert [float(batch[1, 0]) for batch in loader] == [2.0 * i + 1 for i in range(10)]
        batches = iter(loader)
        next(batches)
        del batches, loader
