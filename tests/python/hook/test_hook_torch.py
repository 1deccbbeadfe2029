"""What the hook records of torch jobs: waits, steps, fetches, loaders, in every kind of worker."""

from itertools import pairwise
from pathlib import Path

import pytest
from hook_jobs import Job, Ring, environment, run_fresh_job, run_job, run_python

JOB = """
import os, sys, torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    root = None
    def __init__(self):
        self.root = "/data/numbers"
        self.transform = double
    def __len__(self):
        return 40
    def __getitem__(self, index):
        if os.environ.get("BAD") == str(index):
            raise ValueError("bad sample")
        return self.transform(torch.full((3, 4, 4), float(index))), index

def double(image):
    return image * 2

def main():
    workers, method, ending = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    torch.set_num_threads(1)
    torch.multiprocessing.set_start_method(method)
    model = torch.nn.Linear(48, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    other = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
    loader = DataLoader(Numbers(), batch_size=16, num_workers=workers)
    for epoch in range(2):
        for images, labels in loader:  # the user's line
            optimizer.zero_grad()
            model(images.flatten(1)).sum().backward()
            optimizer.step()
            other.step()
    if ending == ["exit"]:
        sys.exit(7)
    if ending == ["_exit"]:
        os._exit(3)
    print("done")

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("job") / "train.py"
    path.write_text(JOB)
    return path


def check_epochs(job: Job, workers: int) -> None:
    """Two epochs of 40 samples in batches of 16."""
    assert job.process.stderr == ""
    assert job.errors == []
    loaders = job.main.of("loader")
    assert [(r["loader"], r["num_workers"], r["batch_size"]) for r in loaders] == [
        (0, workers, 16)
    ] * 2
    waits = job.main.of("wait")
    assert [(r["batch"], r["samples"], r["ended"]) for r in waits] == [
        (0, 16, 0),
        (1, 16, 0),
        (2, 8, 0),
        (3, 0, 1),
    ] * 2
    steps = job.main.of("step")
    assert [(r["index"], r["samples"], r["source"]) for r in steps] == [
        (index, (16, 16, 8)[index % 3], 0) for index in range(6)
    ]
    for before, after in pairwise(steps):
        assert after["start_ns"] == before["end_ns"] <= after["end_ns"]
    assert all(r["start_ns"] <= r["end_ns"] for r in job.main.records)


def check_fetches(rings: list[Ring]) -> None:
    fetches = [record for ring in rings for record in ring.of("fetch")]
    assert sorted(r["samples"] for r in fetches) == [8, 8, 16, 16, 16, 16]
    for record in fetches:
        assert record["loader"] == 0
        assert 0 < record["collate_ns"] < record["end_ns"] - record["start_ns"]
        assert record["cpu_ns"] > 0
        assert record["decode_ns"] == 0


def test_without_workers(script: Path, tmp_path: Path) -> None:
    job = run_fresh_job(tmp_path, [script, 0, "fork"], RANK="1", WORLD_SIZE="4")
    assert (job.process.returncode, job.process.stdout) == (0, "done\n")
    check_epochs(job, 0)
    assert {r["ready"] for r in job.main.of("wait")} == {None}
    check_fetches([job.main])
    text = job.main.text
    assert (text["rank"], text["world_size"]) == (1, 4)
    assert text["dataset"] == {"class": "__main__.Numbers", "length": 40, "root": "/data/numbers"}
    assert text["transforms"] == ["double"]
    assert text["trains_on"]["device"] == "cpu"
    line = JOB.splitlines().index("        for images, labels in loader:  # the user's line") + 1
    assert text["loaders"]["0"]["iterated_at"].endswith(f"train.py:{line}")
    made = 1 + JOB[: JOB.index("loader = DataLoader(")].count("\n")
    assert text["loader_place"].endswith(f"train.py:{made}")
    assert [r["exit"] for r in job.main.of("end")] == [0]


@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_workers(script: Path, tmp_path: Path, method: str) -> None:
    """A spawned worker and one of a fork server learn their loader in the same way."""
    job = run_job(tmp_path, [script, 2, method])
    assert (job.process.returncode, job.process.stdout) == (0, "done\n")
    check_epochs(job, 2)
    assert all(0 <= r["ready"] <= 4 for r in job.main.of("wait"))
    assert job.main.of("fetch") == []
    assert len(job.workers) == 4
    check_fetches(job.workers)
    for ring in job.workers:
        assert [r["exit"] for r in ring.of("end")] == [0]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_exception_reads_as_without_the_hook(script: Path, tmp_path: Path, workers: int) -> None:
    arguments = [script, workers, "fork"]
    plain = run_python(arguments, environment(BAD="20"))
    job = run_job(tmp_path, arguments, BAD="20")
    assert (job.process.returncode, job.process.stdout) == (plain.returncode, plain.stdout)
    assert "ValueError: bad sample" in plain.stderr
    assert job.process.stderr == plain.stderr
    ended = [1] * workers  # with the iterator, whose worker is left
    assert [r["ended"] for r in job.main.of("wait")] == [0, 0, *ended]
    assert [r["exit"] for r in job.main.of("end")] == [1]


@pytest.mark.parametrize(("ending", "code", "ends"), [("exit", 7, [0]), ("_exit", 3, [])])
def test_exit_codes_pass_and_the_ring_stays(
    script: Path, tmp_path: Path, ending: str, code: int, ends: list[int]
) -> None:
    job = run_job(tmp_path, [script, 0, "fork", ending])
    assert job.process.returncode == code
    check_epochs(job, 0)
    assert [r["exit"] for r in job.main.of("end")] == ends


def test_steps_go_on_beside_a_parameter_that_has_no_size(tmp_path: Path) -> None:
    script = tmp_path / "lazy.py"
    script.write_text("""
import torch
used, unused = torch.nn.Linear(2, 2), torch.nn.LazyLinear(2)
optimizer = torch.optim.SGD([*used.parameters(), *unused.parameters()], lr=0.1)
for _ in range(8):
    used(torch.ones(1, 2)).sum().backward()
    optimizer.step()
""")
    job = run_job(tmp_path, [script])
    assert job.process.returncode == 0, job.process.stderr
    assert len(job.main.of("step")) == 8


REMADE = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def loader_of(data):
    return DataLoader(data, batch_size=5)

train, val = TensorDataset(torch.zeros(20, 2)), TensorDataset(torch.zeros(10, 2))
for epoch in range(3):
    for batch in DataLoader(train, batch_size=10):
        pass
    for batch in loader_of(train):
        pass
    for batch in loader_of(val):
        pass
    for a, b in zip(DataLoader(train, 4), DataLoader(train, 4)):
        pass
"""


@pytest.mark.parametrize(
    ("losses", "optimizer", "sources", "indices"),
    [
        (1, False, [3] * 20, 20),
        (2, False, [3] * 20, 20),  # each of a pair of losses has a part in the step
        (1, True, [3] * 20 + [0], 1),  # whoever reads the run leaves out what came before
    ],
)
def test_without_loader_and_optimizer_backward_makes_the_steps(
    tmp_path: Path, losses: int, optimizer: bool, sources: list[int], indices: int
) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "weight = torch.zeros(4, requires_grad=True)\n"
        "for step in range(20):\n"
        "    weight.sum().backward()\n"
        + "    (weight * 2).sum().backward()\n" * (losses - 1)
        + "    weight.data.add_(weight.grad, alpha=-0.1)\n"
        + "torch.optim.SGD([weight], lr=0.1).step()\n" * optimizer
    )
    job = run_job(tmp_path, [tmp_path / "train.py"])
    assert (job.process.returncode, job.errors) == (0, [])
    steps = job.main.of("step")
    assert [step["source"] for step in steps] == sources
    assert [step["index"] for step in steps][:20] == list(range(20))
    assert len({step["index"] for step in steps if step["source"] == sources[-1]}) == indices
    assert all(step["samples"] is None for step in steps)


COMPILED = """
import torch
from torch._dynamo import convert_frame
from torch._dynamo.utils import counters
compiled, compile_one = [], convert_frame._compile
def spy(code, *arguments, **named):
    compiled.append(code.co_filename)
    return compile_one(code, *arguments, **named)
convert_frame._compile = spy
torch.manual_seed(1)
model = torch.nn.Linear(8, 8)
def step(inputs):
    loss = model(inputs).square().mean()
    loss.backward()
    return loss.detach()
fast = torch.compile(step, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    loss = fast(torch.ones(2, 8))
    optimizer.step()
ours = sum("_unstarve_hook" in file for file in compiled)
print(float(loss), counters["stats"]["unique_graphs"], len(compiled) > 0, ours)
"""


def test_nothing_of_ours_is_compiled_with_the_job(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COMPILED)
    plain = run_python([tmp_path / "train.py"], environment())
    job = run_job(tmp_path, [tmp_path / "train.py"])
    assert (job.process.returncode, job.errors) == (0, [])
    assert job.process.stdout == plain.stdout != ""
    assert plain.stdout.endswith(" True 0\n")
    assert len(job.main.of("step")) == 20


def test_a_loader_made_anew_for_every_epoch_is_one_loader(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(REMADE)
    job = run_job(tmp_path, [script])
    assert job.errors == []
    ids = [record["loader"] for record in job.main.of("loader")]
    assert sorted(ids[:5]) == [0, 1, 2, 3, 4]
    assert [sorted(ids[i : i + 5]) for i in (5, 10)] == [[0, 1, 2, 3, 4]] * 2
    assert [ids[i : i + 3] for i in (5, 10)] == [ids[:3]] * 2
