"""Looks at stacks: which lines of a job its time goes to, and that the job does not notice."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hook_jobs import HOOK, Job, hook_module, run_job
from measuring import measured

JOB = """
import os, queue, sys, threading, time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow:
    def __call__(self, value):
        end = time.monotonic() + 0.012
        while time.monotonic() < end:
            pass
        return value

class Numbers(Dataset):
    def __init__(self, transform):
        self.transform = transform
    def __len__(self):
        return 80
    def __getitem__(self, index):
        time.sleep(0.003)
        return self.transform(torch.zeros(3) + index)

def train(loader):
    weights = torch.nn.Parameter(torch.zeros(3))
    weights.grad = torch.zeros(3)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    own = queue.Queue()
    for batch in loader:
        optimizer.step()
        try:
            own.get(timeout=0.05)  # the job's own wait
        except queue.Empty:
            pass

def main():
    torch.set_num_threads(1)
    torch.multiprocessing.set_start_method(sys.argv[2])
    loader = DataLoader(Numbers(Slow()), batch_size=4, num_workers=int(sys.argv[1]))
    os.chdir("/")
    train(loader)
    if os.fork() == 0:
        os._exit(len(os.listdir("/proc/self/task")) - 1)
    assert os.wait()[1] == 0
    print(threading.active_count(), len(threading.enumerate()))

if __name__ == "__main__":
    main()
"""


def line_of(words: str) -> str:
    return f"train.py:{JOB.splitlines().index(words) + 1}"


def watched(folder: Path, workers: int, method: str = "fork", **env: str) -> Job:
    script = folder / "train.py"
    script.write_text(JOB)
    shutil.rmtree(folder / "rings", ignore_errors=True)
    job = run_job(folder, [script, workers, method], (), **env)
    assert (job.process.returncode, job.process.stderr) == (0, "")
    assert job.process.stdout == "1 1\n"
    assert job.errors == []
    return job


def count(stacks: list[dict[str, Any]], key: str) -> Counter[str]:
    return Counter(stack.get(key, "") for stack in stacks)


@pytest.mark.parametrize(("workers", "method"), [(0, "fork"), (2, "fork"), (1, "spawn")])
def test_the_transform_of_a_sample_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, method: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def judge(job: Job) -> None:
        rings = job.workers if workers else [job.main]
        fetching = [s for ring in rings for s in ring.stacks if "fetch" in s.get("in", [])]
        assert len(fetching) >= 10
        transforms = count(fetching, "transform")
        # 12 of 15 ms; half of that where others have the CPUs, for the thread that looks wakes up
        # when there is one.
        assert transforms["Slow"] > 0.3 * len(fetching), (transforms, len(fetching))
        own = [s for s in fetching if "transform" not in s and "collate" not in s["in"]]
        lines = count(own, "line")
        assert lines.pop("", 0) <= 2  # between two samples, in the loader's own code
        assert set(lines) <= {
            line_of("        time.sleep(0.003)"),
            line_of("        return self.transform(torch.zeros(3) + index)"),
        }
        if workers:
            assert all("fetch" in s["in"] for ring in rings for s in ring.stacks)

    measured(lambda: watched(tmp_path, workers, method), judge)


def test_without_the_library_nobody_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 crashes now and then where Python code looks at another thread's stack: frames
    that it holds are freed when the thread goes on meanwhile."""
    monkeypatch.chdir(tmp_path)
    job = watched(tmp_path, 0, UNSTARVE_LOOKS_LIBRARY="/nowhere/libunstarve_looks.so")
    assert job.main.of("step")
    assert not job.main.of("stack")
    assert job.errors == []


ORDERED = """
import time, torch
from torch.utils.data import DataLoader, TensorDataset
class Sorted(torch.utils.data.Sampler):
    def __iter__(self):
        for index in range(120):
            time.sleep(0.004)
            yield index
def main(workers):
    weights = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([weights], lr=0.1)
    data = TensorDataset(torch.zeros(120, 3))
    for (batch,) in DataLoader(data, 4, sampler=Sorted(), num_workers=workers):
        (weights * batch).sum().backward()
        optimizer.step()
import sys
main(int(sys.argv[1]))
"""


@pytest.mark.parametrize("workers", [0, 1])
def test_the_job_s_own_sampler_is_told_from_what_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(ORDERED)

    def measure() -> Job:
        shutil.rmtree(tmp_path / "rings", ignore_errors=True)
        job = run_job(tmp_path, [tmp_path / "train.py", workers], ())
        assert job.process.returncode == 0, job.process.stderr
        return job

    def judge(job: Job) -> None:
        ordered = [s for s in job.main.stacks if "order" in s.get("in", [])]
        assert len(ordered) >= 4
        assert set(count(ordered, "function")) == {"__iter__"}
        others = [s for s in job.main.stacks if "order" not in s.get("in", [])]
        assert "__iter__" not in count(others, "function")

    measured(measure, judge)


SHORT_PIECES = """
import sys, time, torch
def loop(milliseconds):
    end = time.perf_counter() + milliseconds / 1e3
    while time.perf_counter() < end:
        pass
weights = torch.nn.Parameter(torch.zeros(3))
weights.grad = torch.zeros(3)
optimizer = torch.optim.SGD([weights], lr=0.1)
end = time.time() + 3
while time.time() < end:
    loop(2)
    time.sleep(0.002)
    optimizer.step()
print(sys.getswitchinterval())
"""


def test_short_pieces_of_pure_python_are_seen(tmp_path: Path) -> None:
    """Each gives Python's lock away after 2 ms by itself, long before anybody may take it."""
    script = tmp_path / "train.py"
    script.write_text(SHORT_PIECES)

    def measure() -> float:
        shutil.rmtree(tmp_path / "rings", ignore_errors=True)
        job = run_job(tmp_path, [script])
        assert (job.process.returncode, job.errors) == (0, [])
        assert job.process.stdout == "0.005\n"  # as the job had it
        seen = count(job.main.stacks, "function")
        return seen["loop"] / seen.total()

    def judge(share: float) -> None:
        assert share > 0.15  # half, where nobody else has the CPUs

    measured(measure, judge)


def test_the_training_thread_is_named_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def own_stacks(job: Job) -> list[dict[str, Any]]:
        return [s for s in job.main.stacks if "wait" not in s.get("in", [])]

    place = line_of("            own.get(timeout=0.05)  # the job's own wait")

    def judge(job: Job) -> None:
        (most_seen, most) = count(own_stacks(job), "line").most_common(1)[0]
        assert most_seen == place
        assert most >= 10

    job = measured(lambda: watched(tmp_path, 2), judge)
    own = own_stacks(job)
    stack = next(s for s in own if s["line"] == place)
    assert stack["callee"] == "queue.py get"
    assert (stack["function"], stack["callers"][0]) == ("train", "main")
    assert "own.get(timeout=0.05)" in stack["call"]
    (loader,) = {s["line"] for s in job.main.stacks if "wait" in s.get("in", [])} or {""}
    assert loader in ("", line_of("    for batch in loader:"))
    made = "    loader = DataLoader(Numbers(Slow()), batch_size=4, num_workers=int(sys.argv[1]))"
    assert job.main.text["loader_place"] == line_of(made)


def test_looks_are_as_many_as_said(tmp_path: Path) -> None:
    def judge(job: Job) -> None:
        times = [record["end_ns"] for record in job.main.records]
        spent = job.main.text["stacks"]
        looks = job.main.of("stack")
        assert spent["looks"] >= len(looks) > 10
        # 22 a second are aimed at, and each is drawn from half to one and a half of that.
        assert spent["looks"] < 1 + (max(times) - min(times)) / 22.5e6
        assert all(record["period_ns"] == 45_000_000 for record in looks)

    measured(lambda: watched(tmp_path, 2), judge)


@pytest.mark.parametrize(
    ("looks", "cpu_ms", "period_ms"),
    [(300, 60, 45), (300, 600, 200), (199, 1990, 45), (300, 9000, 1000)],
)
def test_looks_that_cost_much_are_rarer(
    monkeypatch: pytest.MonkeyPatch, looks: int, cpu_ms: int, period_ms: int
) -> None:
    """1 % of a core, however cold the caches are that a look finds; but one a second."""
    with hook_module("lines.sampler", monkeypatch) as module:
        sampler = module.Sampler()
        sampler._looks, sampler._cpu_ns = looks, cpu_ms * 1_000_000
        sampler._since_ns = module.now_ns()
        assert sampler._period_ns() == period_ms * 1_000_000


def test_a_look_does_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in calls of Python's, which no neighbour on the CPU changes. Times are in
    bench/watching/looks_cost.py."""

    def facts(depth: int) -> list[Any]:
        if depth:
            return facts(depth - 1)
        frame: Any = sys._getframe()
        seen: list[Any] = []
        while frame is not None and len(seen) < 40:
            seen.append((frame.f_code, frame.f_lasti, frame.f_lineno, frame.f_globals))
            frame = frame.f_back
        return seen

    calls = 0

    def count_calls(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    seen = facts(40)
    with hook_module("lines.stacks", monkeypatch) as stacks:
        stacks.look(seen)  # what is learned of a file once is known from here on
        sys.setprofile(count_calls)
        try:
            stacks.look(seen)
        finally:
            sys.setprofile(None)
    assert calls < 250, "6 for each of 40 frames"


def test_they_can_be_switched_off(tmp_path: Path) -> None:
    job = watched(tmp_path, 2, UNSTARVE_STACKS="off")
    assert not any(ring.of("stack") or ring.names for ring in job.rings)


NOTHING_TO_SEE = """
import os, time, torch, torch.utils.data
time.sleep(0.2)
print(len(os.listdir("/proc/self/task")))
"""


def test_a_process_without_steps_and_loaders_has_no_such_thread(tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-c", NOTHING_TO_SEE])
    plain = run_job(tmp_path / "off", ["-c", NOTHING_TO_SEE], UNSTARVE_STACKS="off")
    assert job.process.stdout == plain.process.stdout


CELLS = """
import sys, time, types, linecache, torch
source = "def work():\\n    import time\\n    time.sleep(0.03)\\n"
name = "/tmp/ipykernel_77/123.py"
shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={name: 3}))
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
linecache.cache[name] = (len(source), None, source.splitlines(True), name)
exec(compile(source, name, "exec"))
weights = torch.nn.Parameter(torch.zeros(3))
weights.grad = torch.zeros(3)
optimizer = torch.optim.SGD([weights], lr=0.1)
for _ in range(25):
    optimizer.step()
    work()
"""


def test_cells_of_a_notebook_have_numbers(tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-c", CELLS])
    assert (job.process.returncode, job.errors) == (0, [])
    stacks = job.main.stacks
    assert "cell 3:3" in count(stacks, "line"), stacks
    assert "time.sleep(0.03)" in count(stacks, "call")


def frame(name: str, file: str | Path) -> Any:
    names: dict[str, Any] = {}
    exec(compile(f"def {name}(): pass", str(file), "exec"), names)
    return names[name].__code__, 0, 1, {}


def test_the_jobs_line_within_a_librarys_method_is_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a function that `datasets` calls by its formatter for each sample."""
    job, library = tmp_path / "train.py", torch.__file__
    with hook_module("lines.stacks", monkeypatch) as stacks:
        fetch = frame("fetch", HOOK / "_unstarve_hook/loaders.py")
        formatter, tokenize = frame("__call__", library), frame("tokenize", job)
        encode, item = frame("encode", library), frame("__getitem__", job)
        within = stacks.look([encode, tokenize, formatter, fetch])
        assert (within.line[0], within.callee, within.methods) == (tokenize[0], encode[0], ())
        behind = stacks.look([formatter, item, fetch])
        assert [code for code, _ in behind.methods] == [formatter[0]]
        own = frame("__call__", job)
        assert [code for code, _ in stacks.look([own, item, fetch]).methods] == [own[0]]
