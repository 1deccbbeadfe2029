"""Training loops that are not the plain one: what a trial applies to them, and what it records."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_job, run_tuned

PARITY: dict[str, Any] = {"parity": {"steps": 5, "seed": 0}}

SCALED = """
import sys, torch
torch.manual_seed(4)
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused="fused" in sys.argv)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**126)
for step in range(20):
    optimizer.zero_grad()
    scaler.scale(100 * model(torch.randn(8, 16)).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
assert scaler.get_scale() < 2.0**126, "nothing overflowed"
"""


@pytest.mark.parametrize("word", ["", "fused"])
def test_steps_that_a_scaler_leaves_out_are_no_steps_of_the_training(
    tmp_path: Path, word: str
) -> None:
    said = run_tuned(tmp_path, SCALED, PARITY, word)[0]
    assert said["skipped"] > 1
    assert said["backwards"] == said["steps"] == (20 if word else 20 - said["skipped"])
    assert (len(said["losses"]), len(said["rows"])) == (5, 5)
    assert all(math.isfinite(norm) for norm in said["gradients"])
    assert said["called_with"] == 8 and said["sketch"]


EVALUATES_FIRST = """
import torch
torch.manual_seed(4)
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 4))
with torch.no_grad():
    for _ in range(12):
        model(torch.ones(32, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(8):
    optimizer.zero_grad(set_to_none=False)
    model(torch.randn(8, 16)).square().mean().backward()
    optimizer.step()
print(optimizer.param_groups[0]["fused"], type(vars(model)["forward"].call).__name__)
"""


def test_an_evaluation_before_the_training_is_forgotten(tmp_path: Path) -> None:
    asked = {"levers": {"fused_optimizer": {}, "bf16_autocast": {}}, "survey": True, **PARITY}
    said, job = run_tuned(tmp_path, EVALUATES_FIRST, asked)
    assert (sorted(said["applied"]), said["refused"]) == (["bf16_autocast", "fused_optimizer"], {})
    assert job.process.stdout.startswith("True ")
    assert said["why_not"]["set_to_none"] is None, "what the training does was watched"
    assert said["steps"] == said["backwards"] == 8 and said["called_with"] == 8
    assert len(said["losses"]) == len(said["gradients"]) == 5 and said["rows"] == [8] * 5
    assert said["job"]["optimizer"] == "AdamW"


def test_a_copy_of_what_was_evaluated_computes_as_before(tmp_path: Path) -> None:
    """No lever of the evaluation is left in front of the model's forward."""
    ends = "\nassert vars(model)['forward'].call.__wrapped__.__func__ is type(model).forward\n"
    run_tuned(tmp_path, EVALUATES_FIRST + ends, {})


CRITERION = """
import torch
class Criterion(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = torch.nn.MSELoss()
    def forward(self, model, rows):
        return self.loss(model(rows), torch.zeros(len(rows), 4))
model, criterion = torch.nn.Linear(16, 4), Criterion()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    criterion(model, torch.randn(8, 16)).backward()
    optimizer.step()
"""


def test_a_model_that_a_criterion_calls_is_found(tmp_path: Path) -> None:
    said = run_tuned(tmp_path, CRITERION, {"levers": {"bf16_autocast": {}}})[0]
    assert said["applied"] == ["bf16_autocast"]
    assert said["job"]["model"] == "Linear" and said["called_with"] == 8


OUTPUTS = """
import dataclasses, torch
@dataclasses.dataclass(frozen=True)
class Output:
    logits: torch.Tensor
    most: object
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 4)
    def forward(self, rows):
        logits = self.layer(rows.logits if isinstance(rows, Output) else rows)
        return Output(logits, logits.max(1))
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(4):
    optimizer.zero_grad()
    given = Output(torch.randn(8, 16), None)
    output = model(given)
    assert given.logits.dtype == torch.float32
    (output.logits.square().mean() + output.most.values.mean()).backward()
    optimizer.step()
print(output.logits.dtype, output.most.values.dtype, output.most.indices.dtype)
"""


def test_what_a_model_gives_in_objects_is_float32_too(tmp_path: Path) -> None:
    said, job = run_tuned(tmp_path / "a", OUTPUTS, {"levers": {"bf16_autocast": {}}})
    assert said["applied"] == ["bf16_autocast"]
    assert job.process.stdout.split() == ["torch.float32", "torch.float32", "torch.int64"]
    said, job = run_tuned(tmp_path / "b", OUTPUTS, {"levers": {"float64": {}}, **PARITY})
    assert job.process.stdout.split()[0] == "torch.float64" and said["sketch"]


def test_a_default_device_does_not_keep_gradients_from_being_compared(tmp_path: Path) -> None:
    job = CRITERION.replace("randn(8, 16)", 'randn(8, 16, device="cpu")')
    job = job.replace("zeros(len(rows), 4)", 'zeros(len(rows), 4, device="cpu")')
    job = job.replace("for step", 'torch.set_default_device("meta")\nfor step')
    said = run_tuned(tmp_path, job, PARITY)[0]
    assert all(norm > 0 for norm in said["gradients"]) and len(said["sketch"]) == 256


ACCELERATED = """
import torch
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="bf16", cpu=True)
model = torch.nn.Linear(16, 4)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1e-3))
for step in range(4):
    optimizer.zero_grad()
    accelerator.backward(model(torch.randn(8, 16)).square().mean())
    optimizer.step()
"""


def test_autocasting_by_accelerate_is_seen(tmp_path: Path) -> None:
    said = run_tuned(tmp_path, ACCELERATED, {"survey": True})[0]
    for lever in ("bf16_autocast", "matmul_precision"):
        assert said["why_not"][lever] == "the script autocasts already", lever


TAKES_COLUMNS_OUT = """
import torch
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return {"rows": torch.randn(16), "labels": torch.zeros(4)}
data = Rows()
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
other = iter(torch.utils.data.DataLoader(data, 2))
for batch in torch.utils.data.DataLoader(data, 8):
    assert len(next(other)["rows"]) == 2
    labels = batch.pop("labels")
    optimizer.zero_grad()
    (model(batch["rows"]) - labels).square().mean().backward()
    optimizer.step()
"""


def test_first_batches_again_are_each_loader_s_own_and_whole(tmp_path: Path) -> None:
    said = run_tuned(tmp_path, TAKES_COLUMNS_OUT, {"first_batch_again": True})[0]
    assert said["steps"] == 8 and said["called_with"] == 8


@pytest.mark.parametrize(
    ("ranks", "speaks"),
    [
        ({"LOCAL_RANK": "1"}, False),
        ({"SLURM_PROCID": "3", "LOCAL_RANK": "0"}, False),
        ({"RANK": "0", "LOCAL_RANK": "0", "SLURM_PROCID": "1"}, True),
        ({"LOCAL_RANK": "0"}, True),
    ],
)
def test_of_ranks_the_first_speaks(tmp_path: Path, ranks: dict[str, str], speaks: bool) -> None:
    (tmp_path / "train.py").write_text(CRITERION)
    job = run_job(tmp_path, [tmp_path / "train.py"], (), UNSTARVE_TUNE=json.dumps({}), **ranks)
    assert (job.process.returncode, job.errors) == (0, [])
    assert (tmp_path / "tune.json").exists() == speaks


SPAWNED = """
import sys, torch
import torch.distributed as dist
import torch.multiprocessing as mp

def train(rank, where):
    dist.init_process_group("gloo", init_method=f"file://{where}", rank=rank, world_size=2)
    torch.manual_seed(4 + rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(8):
        optimizer.zero_grad()
        model(torch.randn(8 + rank, 16)).square().mean().backward()
        optimizer.step()
        if "fails" in sys.argv and rank == 1 and step == 4:
            raise MemoryError("planted\\nin two lines")
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(train, args=(sys.argv[1],), nprocs=2)
"""


def test_of_ranks_that_a_script_spawns_the_first_speaks(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"levers": {"fused_optimizer": {}}}
    said = run_tuned(tmp_path, SPAWNED, asked, str(tmp_path / "ranks"))[0]
    assert (said["applied"], said["steps"], said["called_with"]) == (["fused_optimizer"], 8, 8)


def test_what_a_spawned_rank_fails_with_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SPAWNED)
    words = [tmp_path / "train.py", tmp_path / "ranks", "fails"]
    job = run_job(tmp_path, words, (), UNSTARVE_TUNE=json.dumps({"levers": {}}))
    assert job.process.returncode != 0
    said = json.loads((tmp_path / "tune.json").read_text())
    assert said["error"] == "builtins.MemoryError: planted\nin two lines" and not said["applied"]


WORKERS = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Scaled(torch.nn.Module):
    def forward(self, row):
        return row * 2

def called_by_ours():
    return "_unstarve_hook" in torch.nn.Module.__call__.__code__.co_filename

class Rows(Dataset):
    def __init__(self):
        self.scaled = Scaled()
    def __len__(self):
        return 400
    def __getitem__(self, index):
        row = self.scaled(torch.full((16,), float(index)))
        row[-1] = called_by_ours()
        return row

if __name__ == "__main__":
    assert called_by_ours()
    for rows in DataLoader(Rows(), 8, num_workers=2, multiprocessing_context=sys.argv[1]):
        assert rows[0, -1] == 0, "something of ours calls modules in a worker"
"""


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_a_transform_that_is_a_module_is_no_model_in_a_worker(tmp_path: Path, context: str) -> None:
    (tmp_path / "train.py").write_text(WORKERS)
    asked = json.dumps({"levers": {"fused_optimizer": {}}, "survey": True})
    job = run_job(tmp_path, [tmp_path / "train.py", context], (), UNSTARVE_TUNE=asked)
    assert (job.process.returncode, job.errors) == (0, []), job.process.stderr
    assert not (tmp_path / "tune.json").exists()
    assert [ring.of("step") for ring in job.workers] == [[], []]
