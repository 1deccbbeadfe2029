"""`--step-time`: the factor of durations is found in the job's own steps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from emulation import PYTHON, machine, unstarve

# A small ResNet's training: equal blocks, an optimizer, batches from pinned memory. Prints what
# each step took by CUDA's events.
TRAIN = """
import json, sys, torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
    def forward(self, x):
        return torch.relu(x + self.layers(x))

blocks = [Block(64) for _ in range(4)] + [nn.Conv2d(64, 128, 3, 2)] + [Block(128) for _ in range(4)]
model = nn.Sequential(nn.Conv2d(3, 64, 7, 2), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(128, 1000)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images = torch.zeros(96, 3, 128, 128).pin_memory()
labels = torch.zeros(96, dtype=torch.long).pin_memory()
with torch.no_grad():
    for _ in range(3):  # an evaluation comes first, and is no step
        model(images.cuda(non_blocking=True))
marks = []
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    output = model(images.cuda(non_blocking=True))
    nn.functional.cross_entropy(output, labels.cuda(non_blocking=True)).backward()
    optimizer.step()
    marks.append(torch.cuda.Event(enable_timing=True))
    marks[-1].record()
torch.cuda.synchronize()
print(json.dumps([first.elapsed_time(then) / 1e3 for first, then in zip(marks, marks[1:])]))
"""


def steps_of(job: Path, steps: int, *options: str) -> tuple[list[float], str]:
    """What its steps took, and what `unstarve emulate` said at the end."""
    with machine("a100", *options) as emulation:
        done = emulation.run(PYTHON, job, str(steps))
        assert done.returncode == 0, done.stderr
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds, emulation.said


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("job") / "train.py"
    path.write_text(TRAIN)
    return path


@pytest.fixture(scope="module")
def plain_s(job: Path) -> float:
    """A step by the roofline alone."""
    return median(steps_of(job, 6)[0])


@pytest.mark.parametrize("times", [0.7, 1.5])
def test_a_step_takes_the_time_that_is_known_of_it(job: Path, plain_s: float, times: float) -> None:
    asked_s = times * plain_s
    seconds, said = steps_of(job, 24, "--step-time", f"{asked_s:.6f}")
    assert median(seconds[-8:]) == pytest.approx(asked_s, rel=0.05), said
    found = re.search(r"a step of (\d+) kernels was seen (\d+) times.* times ([\d.]+), so", said)
    assert found, said
    assert int(found[2]) >= 3
    assert float(found[3]) == pytest.approx(times, rel=0.1)
    assert "times the factor" in said.splitlines()[-1]


def test_a_time_that_no_factor_of_two_reaches_changes_nothing(job: Path, plain_s: float) -> None:
    seconds, said = steps_of(job, 20, "--step-time", f"{plain_s * 3:.6f}")
    assert median(seconds) == pytest.approx(plain_s, rel=0.05)
    assert "no step was found that repeats" in said
    assert "--scale" in said


def test_a_watched_job_finds_the_factor_and_says_so(
    job: Path, plain_s: float, tmp_path: Path
) -> None:
    done = unstarve(
        *["run", "--emulate", "a100", "--step-time", f"{plain_s * 1.5:.6f}"],
        *["--out", str(tmp_path / "run"), "--json", str(tmp_path / "run.json")],
        *["--", PYTHON, str(job), "16"],
    )
    assert done.returncode == 0, done.stderr
    assert "so that it takes" in done.stderr
    durations = json.loads((tmp_path / "run.json").read_text())["emulated_durations"]
    assert durations == {"from": "factor"}


def test_the_next_run_in_the_same_emulation_has_the_factor_from_the_start(
    job: Path, plain_s: float
) -> None:
    asked_s = 1.5 * plain_s
    with machine("a100", "--step-time", f"{asked_s:.6f}") as emulation:
        for steps in ("16", "4"):  # too few to find it again
            done = emulation.run(PYTHON, job, steps)
            assert done.returncode == 0, done.stderr
    assert median(json.loads(done.stdout.splitlines()[-1])) == pytest.approx(asked_s, rel=0.05)


def test_a_factor_and_a_step_time_exclude_each_other() -> None:
    done = unstarve("emulate", "--scale", "2", "--step-time", "0.4", "--", "true")
    assert done.returncode == 2
    assert "--step-time" in done.stderr
