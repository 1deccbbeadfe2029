"""UNSTARVE_FIX with "cache": samples are kept in the first pass, and what follows is recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hook_jobs import Job, environment, run_job, run_python

CACHE = '{"cache": true}'
Run = Callable[[str], Job]

TRAINING = """
import sys, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
import unstarve

class Numbers(Dataset):
    def __init__(self, count=12):
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        return torch.full((2,), float(index)).cumsum(0), index

class Drawn(Numbers):
    def __getitem__(self, index):
        return torch.rand(2), index

class Stream(IterableDataset):
    def __iter__(self):
        for index in range(12):
            yield torch.full((2,), float(index)), index

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(loader, evaluate=None):
    for number, (rows, labels) in enumerate(loader):
        print(rows.tolist(), labels.tolist())
        model(rows).sum().backward()
        optimizer.step()
        if evaluate is not None and number == 1:
            print([labels.tolist() for _, labels in evaluate])

torch.manual_seed(1)
{loop}
"""

TWICE = """
loader = DataLoader(Numbers(), batch_size=4, shuffle=True)
for _ in range(3):
    train(loader)
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The job with this loop, whose output is as it is without us."""

    def run_loop(loop: str) -> Job:
        script = tmp_path / "train.py"
        script.write_text(TRAINING.replace("{loop}", loop))
        plain = run_python([script], environment())
        assert plain.returncode == 0, plain.stderr
        job = run_job(tmp_path, [script], UNSTARVE_FIX=CACHE)
        assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
        assert (job.process.stderr, job.errors) == ("", [])
        return job

    return run_loop


def test_the_passes_behind_the_first_are_recorded(run: Run) -> None:
    job = run(TWICE)
    assert len(job.main.of("step")) == 2 * 3
    assert len(job.main.of("loader")) == 2
    assert [applied["loader"] for applied in job.main.text["fix_applied"]] == [0]
    assert "fix_refused" not in job.main.text


def test_a_loader_that_is_made_anew_has_another_pass(run: Run) -> None:
    job = run("""
data = Numbers()
for _ in range(3):
    train(DataLoader(data, batch_size=4, shuffle=True))
""")
    assert len(job.main.of("step")) == 2 * 3


def test_an_evaluation_within_the_first_pass_is_no_other_pass(run: Run) -> None:
    job = run("""
loader = DataLoader(Numbers(), batch_size=2)
evaluate = DataLoader(Numbers(3))
for _ in range(2):
    list(evaluate)
    train(loader, evaluate)
""")
    assert len(job.main.of("step")) == 6


def test_workers_serve_what_others_have_kept(run: Run) -> None:
    job = run("""
loader = DataLoader(Numbers(), batch_size=4, shuffle=True, num_workers=1)
for _ in range(2):
    train(loader)
print(type(loader.dataset).__module__ == "x")
""")
    assert len(job.main.of("step")) == 3


def test_a_script_that_keeps_them_itself_is_recorded_as_late(run: Run) -> None:
    job = run("""
loader = DataLoader(unstarve.cached(Numbers()), batch_size=4)
for _ in range(3):
    train(loader)
print(loader.dataset.explain().split(" samples")[0])
""")
    assert len(job.main.of("step")) == 2 * 3
    assert "fix_applied" not in job.main.text


@pytest.mark.parametrize(
    ("data", "reason"), [("Drawn()", "draws random numbers"), ("Stream()", "an iterable data set")]
)
def test_what_cannot_be_kept_is_refused_and_recorded_from_the_first(
    run: Run, data: str, reason: str
) -> None:
    job = run(f"loader = DataLoader({data}, batch_size=4)\nfor _ in range(2):\n    train(loader)\n")
    assert len(job.main.of("step")) == 2 * 3
    assert reason in job.main.text["fix_refused"][0]["reason"]
    assert "fix_applied" not in job.main.text


def test_a_job_of_one_pass_says_so(run: Run) -> None:
    job = run("train(DataLoader(Numbers(), batch_size=4))")
    assert not job.main.of("step")
    assert "second pass" in job.main.text["fix_refused"][0]["reason"]
