"""UNSTARVE_TUNE: levers applied in the job, losses recorded; nothing of it where nobody asks."""

import json
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import environment, run_job, run_python, run_tuned

JOB = """
import sys, torch
torch.manual_seed(4)
torch.set_num_threads(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2))
        self.head = torch.nn.Linear(32, 10)
    def to(self, *arguments, **named):
        torch.empty(0).to(*arguments, **named)  # as timm's tasks have it
        return super().to(*arguments, **named)
    def forward(self, images):
        seen.append((images.is_contiguous(memory_format=torch.channels_last),
                     torch.is_autocast_enabled("cpu")))
        return {"logits": self.head(self.body(images).flatten(1))}
seen = []
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(12):
    images = torch.randn(4, 3, 12, 12)
    logits = model(images)["logits"]
    loss = torch.nn.functional.cross_entropy(logits, torch.arange(4))
    if "overflow" in sys.argv and step > 5:
        loss = loss * 1e38 * 1e38
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(seen[-1], logits.dtype, optimizer.param_groups[0].get("fused"), torch.get_num_threads(),
      any("tuning" in name for name in sys.modules))
"""


def tuned(folder: Path, asked: dict[str, Any], *words: str) -> tuple[dict[str, Any], str]:
    said, job = run_tuned(folder, JOB, asked, *words)
    assert job.process.stderr == ""
    return said, job.process.stdout


def test_a_job_that_is_not_tuned_has_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JOB)
    plain = run_python([tmp_path / "train.py"], environment())
    watched = run_job(tmp_path, [tmp_path / "train.py"])
    assert watched.process.stdout == plain.stdout
    assert plain.stdout.endswith("False\n") and not (tmp_path / "tune.json").exists()


def test_levers_are_applied_to_a_model_that_is_found(tmp_path: Path) -> None:
    levers = {"threads": {"count": 2}, "bf16_autocast": {}, "channels_last": {}}
    said, printed = tuned(tmp_path, {"levers": levers})
    assert set(said["applied"]) == set(levers) and said["refused"] == {}
    assert (said["steps"], said["backwards"], said["job"]["model"]) == (12, 12, "Net")
    # The forward is in BF16 and the script's loss in float32.
    assert printed.startswith("(True, True) torch.float32") and " 2 True" in printed
    assert said["peak_memory_bytes"] > 1 << 20
    assert "losses" not in said, "a run that is timed records none"


def test_a_survey_says_what_does_not_apply(tmp_path: Path) -> None:
    said, printed = tuned(tmp_path, {"survey": True})
    assert said["why_not"]["channels_last"] is None and said["applied"] == []
    assert "CUDA" in said["why_not"]["cudnn_benchmark"]
    assert printed.startswith("(False, False)"), "asking changes nothing"


FED = """
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, index):
        return torch.full((3,), float(index))
class Endless(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            yield torch.rand(2)
if __name__ == "__main__":
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    passes = []
    for workers in (0, 2):
        loader = DataLoader(Rows(), 4, num_workers=workers, persistent_workers=workers > 0)
        for epoch in range(2):
            seen = []
            for batch in loader:
                seen.append(int(batch[0, 0]))
                optimizer.zero_grad()
                model(batch).sum().backward()
                optimizer.step()
            passes.append(seen)
    endless = iter(DataLoader(Endless(), None))
    first = next(endless)
    print(passes, all(next(endless) is first for _ in range(50)))
"""


def test_loaders_that_load_nothing_give_as_many_batches(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FED)
    asked = json.dumps({"first_batch_again": True})
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=asked)
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    assert job.process.stdout == f"{[[0, 0, 0]] * 4} True\n"


def test_losses_are_those_of_the_job_and_follow_the_seed(tmp_path: Path) -> None:
    runs = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / name).mkdir()
        runs.append(tuned(tmp_path / name, {"parity": {"steps": 8, "seed": seed}})[0])
    assert len(runs[0]["losses"]) == len(runs[0]["gradients"]) == 8
    assert runs[0]["losses"] == pytest.approx(runs[1]["losses"], rel=1e-5)
    assert runs[0]["losses"] != pytest.approx(runs[2]["losses"], rel=1e-3)
    assert runs[0]["rows"] == [4] * 8


def test_what_is_not_finite_is_said(tmp_path: Path) -> None:
    said, _ = tuned(tmp_path, {"parity": {"steps": 12, "seed": 0}}, "overflow")
    assert said["losses"][6] in ("inf", "nan") and said["last_loss"] in ("inf", "nan")
    assert isinstance(said["losses"][5], float)


def test_a_lever_that_the_job_has_no_use_for_is_refused_with_a_reason(tmp_path: Path) -> None:
    asked = {"fp16_autocast": {}, "threads": {"count": 1}, "no_such": {}}
    said, printed = tuned(tmp_path, {"levers": asked})
    assert said["applied"] == [] and set(said["refused"]) == set(asked)
    assert "1 threads already" in said["refused"]["threads"]
    assert printed.startswith("(False, False)")


BY_HAND = """
import torch
torch.manual_seed(4)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(800, 10))
loss_of = torch.nn.CrossEntropyLoss()
for step in range(12):
    model.zero_grad()
    loss = loss_of(model(torch.randn(4, 3, 12, 12)), torch.arange(4))
    loss.backward()
    for parameter in model.parameters():
        parameter.data.add_(parameter.grad, alpha=-0.1)
"""


def test_a_job_with_an_optimizer_written_by_hand_steps_by_backward(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BY_HAND)
    asked: dict[str, Any] = {
        "levers": {"channels_last": {}, "fused_optimizer": {}},
        "survey": True,
        "parity": {"steps": 5, "seed": 0},
    }
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=json.dumps(asked))
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    said = json.loads((tmp_path / "tune.json").read_text())
    assert said["applied"] == ["channels_last"]
    assert list(said["refused"]) == ["fused_optimizer"]
    assert (said["job"]["model"], said["job"]["optimizer"]) == ("Sequential", "")
    assert said["job"]["parameters"] == 3 * 8 * 9 + 8 + 8010
    assert (len(said["losses"]), len(said["gradients"])) == (5, 5)
    assert (said["called_with"], said["input_numbers"]) == (4, 4 * 3 * 12 * 12)
    assert all(norm > 0 for norm in said["gradients"])


@pytest.mark.parametrize("lever", ["bf16_autocast", "channels_last", "compile"])
def test_a_model_can_be_saved_whole_and_copied_beside_a_lever(tmp_path: Path, lever: str) -> None:
    ends = (
        "import copy\n"
        "copied = copy.deepcopy(model)\n"
        "torch.save(model, 'model.pt')\n"
        "saved = torch.load('model.pt', weights_only=False)\n"
        "images = torch.ones(2, 3, 12, 12)\n"
        "print(saved(images).equal(copied(images)), saved.forward.__self__ is saved,\n"
        "      copied.forward.__self__ is copied, type(model.forward).__name__)\n"
    )
    folder = f"import os\nos.chdir({str(tmp_path)!r})\n"
    (tmp_path / "train.py").write_text(folder + BY_HAND + ends)
    asked: dict[str, Any] = {"levers": {lever: {}}}
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=json.dumps(asked))
    assert (job.process.returncode, job.errors) == (0, []), job.process.stderr
    assert job.process.stdout == "True True True Forward\n"
    assert json.loads((tmp_path / "tune.json").read_text())["applied"] == [lever]


INFERENCE = """
import sys, torch
torch.manual_seed(4)
class Head(torch.nn.Module):
    def forward(self, logits):
        return logits.argmax(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(800, 10)).eval()
head = Head()
with torch.set_grad_enabled("gradients" in sys.argv):
    for request in range(30):
        outputs = model(torch.randn(4, 3, 12, 12))
        head(outputs)
print(outputs.dtype, outputs.shape)
"""


@pytest.mark.parametrize("words", [(), ("gradients",)])
def test_of_a_job_that_infers_each_call_is_a_step(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "serve.py").write_text(INFERENCE)
    asked: dict[str, Any] = {
        "levers": {"bf16_autocast": {}, "fused_optimizer": {}, "gradient_checkpointing": {}},
        "survey": True,
        "parity": {"steps": 5, "seed": 0},
    }
    job = run_job(tmp_path, [tmp_path / "serve.py", *words], UNSTARVE_TUNE=json.dumps(asked))
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    assert job.process.stdout == "torch.float32 torch.Size([4, 10])\n"
    said = json.loads((tmp_path / "tune.json").read_text())
    assert said["applied"] == ["bf16_autocast"]
    assert sorted(said["refused"]) == ["fused_optimizer", "gradient_checkpointing"]
    assert (said["job"]["model"], said["job"]["parameters"]) == ("Sequential", 224 + 8010)
    # Nine calls of either module come before: four or five of these are the model's.
    assert 24 <= said["steps"] <= 26
    steps = job.main.of("step")
    assert {step["source"] for step in steps} == {4} and len(steps) == said["steps"]
    assert {step["samples"] for step in steps} == {4}
    assert (len(said["losses"]), said["rows"]) == (5, [4] * 5)
    assert all(size > 0 for size in said["gradients"])


def test_of_a_job_that_infers_calls_are_timed(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(INFERENCE)
    job = run_job(tmp_path, [tmp_path / "serve.py"], UNSTARVE_TUNE=json.dumps({"levers": {}}))
    assert (job.process.returncode, job.errors) == (0, [])
    said = json.loads((tmp_path / "tune.json").read_text())
    # All but the first ones, which may still compile.
    assert len(said["latencies"]) == said["steps"] - 3
    steps_s = sum(step["end_ns"] - step["start_ns"] for step in job.main.of("step")[3:]) / 1e9
    assert 0 < sum(said["latencies"]) < steps_s


def test_of_a_job_that_infers_outputs_are_compared(tmp_path: Path) -> None:
    found: list[dict[str, Any]] = []
    for levers in ([], ["bf16_autocast"]):
        asked: dict[str, Any] = {
            "levers": {lever: {} for lever in levers},
            "parity": {"steps": 5, "seed": 0},
        }
        (tmp_path / "serve.py").write_text(INFERENCE)
        folder = tmp_path / str(len(found))
        folder.mkdir()
        job = run_job(folder, [tmp_path / "serve.py"], UNSTARVE_TUNE=json.dumps(asked))
        assert (job.process.returncode, job.errors) == (0, [])
        found.append(json.loads((folder / "tune.json").read_text()))
    plain, rounded = found
    assert plain["losses"] != rounded["losses"]
    assert plain["losses"] == pytest.approx(rounded["losses"], abs=0.02)
    assert plain["gradients"] == pytest.approx(rounded["gradients"], rel=0.02)
