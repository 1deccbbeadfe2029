"""`unstarve tune`: what is kept, what is refused by name, a search that goes on after a kill."""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import UNSTARVE, environment, unstarve, with_forked_jobs
from measuring import measured

# Jobs here wait for most of a step, so that short trials measure them well.
QUICK = ("--trial-seconds", "1", "--parity-steps", "10")

# Samples that come late: waiting takes no CPU, so that what else runs here hardly matters.
JOB = """
import argparse, time, torch
from torch.utils.data import DataLoader, Dataset
options = argparse.ArgumentParser()
options.add_argument("--workers", type=int)
options.add_argument("--traps", action="store_true")
options = options.parse_args()
if options.traps and options.workers == 1:
    raise MemoryError("planted")

class Late(Dataset):
    def __len__(self):
        return 3200
    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.randn(8, generator=torch.Generator().manual_seed(index)), index % 4

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch = 4 if options.traps and options.workers == 2 else 8
for inputs, labels in DataLoader(Late(), batch, shuffle=True, num_workers=options.workers):
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    if options.traps and options.workers == 4:
        loss = loss * float("inf")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def command(folder: Path, *options: str) -> list[str]:
    (folder / "train.py").write_text(JOB)
    asked = ["tune", *QUICK, "--out", "r", "--json", "t.json"]
    job = [sys.executable, "train.py", "--workers", "0"]
    return [*asked, "--arg", "workers=--workers", *options, "--", *job]


def of(found: dict[str, Any], lever: str) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [one for one in found["levers"] if one["id"] == lever]
    (entry,) = entries
    return entry


def tuned(
    folder: Path,
    script: str,
    words: list[str],
    judge: Callable[[dict[str, Any]], None],
    environment: Callable[[], dict[str, str]] = with_forked_jobs,
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """What a search finds and says of a script, in a folder of its own each time."""

    def measure() -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
        place = Path(tempfile.mkdtemp(dir=folder))
        (place / "train.py").write_text(script)
        done = unstarve(*words, cwd=place, env=environment())
        assert done.returncode == 0, done.stderr
        return json.loads((place / "t.json").read_text()), done

    return measured(measure, lambda made: judge(made[0]))


def wait_for_lines(journal: Path, lines: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_search_goes_on_after_a_kill_and_keeps_what_is_faster(tmp_path: Path) -> None:
    words = command(tmp_path, "--only", "workers=4")
    env = with_forked_jobs()
    with subprocess.Popen([UNSTARVE, *words], cwd=tmp_path, env=env) as killed:
        wait_for_lines(tmp_path / "r/journal.jsonl", 3, killed)
        killed.send_signal(signal.SIGKILL)
    before = (tmp_path / "r/journal.jsonl").read_text()
    done = unstarve("tune", "--resume", "r", "--json", "t.json", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    journal = (tmp_path / "r/journal.jsonl").read_text()
    assert journal.startswith(before), "what was measured is not measured again"
    labels = [json.loads(line)["label"] for line in journal.splitlines()[1:]]
    assert len(labels) == len(set(labels))
    found = json.loads((tmp_path / "t.json").read_text())
    lever = of(found, "workers=4")
    assert (lever["kept"], lever["parity"]) == (True, "ok"), lever
    assert lever["speedup"]["low"] > 1.5
    how = "--workers 4 on the command line"
    assert found["best"]["changes"] == [{"id": "workers=4", "how": how}]
    assert found["trials"] == len(labels) and found["noise_ratio"] < 1
    assert "kept: faster, same results" in done.stdout
    runs = found["baseline"]["step_us_of_runs"]
    assert min(runs) <= found["baseline"]["step_us"] <= max(runs)
    assert re.search(r"^  trial 1 \(baseline\): [0-9.]+ m?s a step$", done.stderr, re.MULTILINE)
    assert re.search(r"^  trial \d+ \(losses\): \d+ losses and", done.stderr, re.MULTILINE)
    assert "--workers 4 on the command line" in done.stdout


@pytest.mark.slow
def test_what_goes_wrong_is_told_apart_and_never_kept(tmp_path: Path) -> None:
    done = unstarve(
        *command(tmp_path, "--only", "workers"), "--traps", cwd=tmp_path, env=with_forked_jobs()
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "t.json").read_text())
    assert of(found, "workers=1")["why"].startswith("out_of_memory: builtins.MemoryError")
    assert "4.0 samples, not 8.0" in of(found, "workers=2")["why"]
    assert of(found, "workers=4")["why"].startswith("not_finite")
    assert re.search(r"^  trial \d+ \(workers=1\): out_of_memory$", done.stderr, re.MULTILINE)
    assert [of(found, f"workers={n}")["kept"] for n in (1, 2, 4)] == [False] * 3
    assert found["best"] == {"speedup": {"absent": "not_observed"}, "changes": []}
    assert "Nothing is kept" in done.stdout


# Each backward pass waits, as one of a small batch does for its launches.
ACCUMULATION = """
import argparse, time, torch
from torch.utils.data import DataLoader, TensorDataset
options = argparse.ArgumentParser()
options.add_argument("--batch", type=int)
options.add_argument("--accumulate", type=int)
options.add_argument("--mean-of", default="samples")
options = options.parse_args()
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
samples, words = 64_000, 6
lengths = torch.randint(1, words + 1, (samples, 1))
labels = torch.randint(4, (samples, words)).masked_fill(torch.arange(words) >= lengths, -100)
rows = TensorDataset(torch.randn(samples, words, 8), labels)
group = []  # all batches of a step come before its first pass
for batch in DataLoader(rows, options.batch, shuffle=True):
    group.append(batch)
    if len(group) < options.accumulate:
        continue
    all_known = sum((labels >= 0).sum() for _, labels in group)
    for inputs, labels in group:
        each = torch.nn.functional.cross_entropy(
            model(inputs).transpose(1, 2), labels, ignore_index=-100, reduction="none")
        known = (labels >= 0).sum(1)
        if options.mean_of == "samples":
            loss = (each.sum(1) / known).mean() / options.accumulate
        elif options.mean_of == "tokens":
            loss = each.sum() / known.sum() / options.accumulate
        else:
            loss = each.sum() / all_known
        loss.backward()
        time.sleep(0.01)
    optimizer.step()
    optimizer.zero_grad()
    group = []
"""


@pytest.mark.slow
@pytest.mark.parametrize("mean_of", ["samples", "tokens", "all tokens of a step"])
def test_passes_are_traded_for_a_larger_batch_only_where_results_stay(
    tmp_path: Path, mean_of: str
) -> None:
    words = ["tune", *QUICK, "--out", "r", "--json", "t.json"]
    words += ["--arg", "batch=--batch", "--arg", "accumulation=--accumulate"]
    words += ["--only", "batch=64 accumulation=1", "--", sys.executable, "train.py"]
    words += ["--batch", "4", "--accumulate", "16", "--mean-of", mean_of]
    expected = (False, "failed") if mean_of == "tokens" else (True, "ok")

    def judge(found: dict[str, Any]) -> None:
        lever = of(found, "batch=64 accumulation=1")
        assert lever["speedup"]["low"] > 2, lever
        assert (lever["kept"], lever["parity"]) == expected, lever

    found, done = tuned(tmp_path, ACCUMULATION, words, judge)
    if mean_of != "tokens":
        assert "--batch 64 on the command line; --accumulate 1 on the command line" in done.stdout
    else:
        assert "the first losses differ by" in of(found, "batch=64 accumulation=1")["why"]


def test_wrong_usage_leaves_no_folder(tmp_path: Path) -> None:
    for words in (
        ["tune"],
        ["tune", "--out", "r", "--arg", "batch=--batch", "--", "python", "train.py"],
        ["tune", "--resume", "none"],
    ):
        done = unstarve(*words, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith("unstarve: "), done.stderr
    for words in (["--only", "threads"], ["--trial-seconds", "2"], ["--", "python", "train.py"]):
        done = unstarve("tune", "--resume", "none", *words, cwd=tmp_path)
        assert done.returncode == 2 and "--resume excludes" in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


# A model that waits, and less so with two threads.
WAITS = """
import time, torch
torch.manual_seed(0)
torch.set_num_threads(1)
class Model(torch.nn.Module):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.layer = torch.nn.Linear(8, 4)
    def forward(self, rows):
        time.sleep(self.seconds / torch.get_num_threads())
        return self.layer(rows)
"""

# Nobody trains it, and no loader feeds it.
INFERENCE = f"""{WAITS}
model = Model(0.02).eval()
with torch.inference_mode():
    while True:
        model(torch.randn(16, 8)).argmax(1)
"""


@pytest.mark.slow
def test_a_job_that_infers_is_tuned_by_the_calls_of_its_model(tmp_path: Path) -> None:
    options = [*QUICK, "--only", "threads", "--out", "r", "--json", "t.json"]
    words = ["tune", *options, "--", sys.executable, "train.py"]

    def judge(found: dict[str, Any]) -> None:
        lever = of(found, "threads=2")
        assert (lever["kept"], lever["parity"]) == (True, "ok"), lever
        assert lever["speedup"]["low"] > 1.5
        assert lever["latency"]["median_us"] < 20_000

    found, done = tuned(tmp_path, INFERENCE, words, judge)
    lever = of(found, "threads=2")
    assert found["baseline"]["samples_per_step"] == pytest.approx(16)
    # Its calls sleep for 20 ms, or 10 with two threads.
    before, with_two = found["baseline"]["latency"], lever["latency"]
    assert before["calls"] > 20 and 20_000 <= before["median_us"] <= before["p95_us"]
    assert 10_000 <= with_two["median_us"] < 20_000
    told = f"{before['median_us'] / 1e3:.1f} ms, 95 of 100 at most {before['p95_us'] / 1e3:.1f} ms"
    assert f"samples/s; a call takes {told}" in " ".join(done.stdout.split())


# Texts of many lengths, for which the compiler makes a second graph in the second step.
COMPILED = """
import itertools, time, torch
def late(graph, inputs):
    time.sleep(1)
    return graph.forward
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.compile(torch.nn.Linear(8, 4), backend=late)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in itertools.count():
    time.sleep(0.05)
    optimizer.zero_grad()
    model(torch.randn(16 + step % 7, 8)).square().mean().backward()
    optimizer.step()
"""


def test_compiling_in_the_second_step_counts_as_the_start(tmp_path: Path) -> None:
    asked = ["tune", *QUICK, "--only", "threads", "--json", "t.json"]

    def judge(found: dict[str, Any]) -> None:
        for step_us in found["baseline"]["step_us_of_runs"]:
            assert 50_000 < step_us < 100_000

    tuned(tmp_path, COMPILED, [*asked, "--", sys.executable, "train.py"], judge)


# Two ranks train it.
RANKS = f"""{WAITS}
import os
import torch.distributed as dist
import torch.multiprocessing as mp

def train(rank, where):
    dist.init_process_group("gloo", init_method="file://" + where, rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(Model(0.06))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(rank)
    while True:
        rows = torch.randn(16 + rank, 8)
        optimizer.zero_grad()
        (model(rows) - rows[:, :4]).square().mean().backward()
        optimizer.step()

if __name__ == "__main__":
    mp.spawn(train, args=(os.path.join(os.environ["UNSTARVE_RUN_DIR"], "ranks"),), nprocs=2)
"""


# Each of its 13 trials starts three Pythons. The rules for several ranks have tests of their own:
# trial_watch_test.cpp, test_hook_tuning_loops.py.
@pytest.mark.nightly
def test_ranks_are_tuned_together_and_the_first_one_s_results_compared(tmp_path: Path) -> None:
    options = [*QUICK, "--only", "threads=2"]
    words = ["tune", *options, "--json", "t.json", "--", sys.executable, "train.py"]

    def judge(found: dict[str, Any]) -> None:
        lever = of(found, "threads=2")
        assert (lever["kept"], lever["parity"]) == (True, "ok"), lever
        assert lever["speedup"]["low"] > 1.3
        assert 60_000 < found["baseline"]["step_us"] < 120_000

    # What a trial leaves is ended with its process group, which a forked job is not in.
    found, done = tuned(tmp_path, RANKS, words, judge, environment)
    assert found["baseline"]["samples_per_step"] == pytest.approx(16)
    assert found["losses"].startswith("two runs of one seed have the same losses")
    assert re.search(r"^  trial \d+ \(losses\): 10 losses and", done.stderr, re.MULTILINE)
