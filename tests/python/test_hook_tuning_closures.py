"""Optimizers whose step is given a closure: the model is called within the step."""

import json
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_job

JOB = """
import sys, torch
torch.manual_seed(4)
torch.set_num_threads(1)
words = sys.argv[1:]
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256))
lbfgs = "lbfgs" in words
optimizer = (torch.optim.LBFGS(model.parameters(), max_iter=3) if lbfgs
             else torch.optim.SGD(model.parameters(), lr=0.01))
for step in range(8):
    rows = torch.randn(2048, 256)
    def closure(word="the job's"):
        optimizer.zero_grad()
        loss = model(rows).square().mean()
        if "fails" in words:
            raise KeyError(word)
        loss.backward()
        return loss
    if "named" in words:
        loss = optimizer.step(closure=closure)
    elif words:
        loss = optimizer.step(closure)
    else:
        loss = closure()
        optimizer.step()
print(float(loss.detach()))
"""


def ran(folder: Path, asked: dict[str, Any], *words: str) -> tuple[dict[str, Any], str]:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(JOB)
    job = run_job(folder, [folder / "train.py", *words], UNSTARVE_TUNE=json.dumps(asked))
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    said: dict[str, Any] = json.loads((folder / "tune.json").read_text())
    return said, job.process.stdout


@pytest.mark.parametrize("words", [("positional",), ("named",), ("positional", "lbfgs")])
def test_levers_reach_the_model(tmp_path: Path, words: tuple[str, ...]) -> None:
    said, _ = ran(tmp_path / "a", {"levers": {"bf16_autocast": {}}}, *words)
    assert (said["applied"], said["refused"]) == (["bf16_autocast"], {})
    assert (said["steps"], said["job"]["model"]) == (8, "Sequential")


@pytest.mark.parametrize("word", ["positional", "named"])
def test_what_is_recorded_is_what_a_plain_loop_has(tmp_path: Path, word: str) -> None:
    asked = {"parity": {"steps": 5, "seed": 0}}
    plain, printed = ran(tmp_path / "a", asked)
    within, printed_within = ran(tmp_path / "b", asked, word)
    assert printed_within == printed
    for what in ("losses", "gradients", "sketch", "rows"):
        assert len(plain[what]) >= 5 and within[what] == plain[what], what


def test_the_optimizer_s_share_is_without_its_closure(tmp_path: Path) -> None:
    shares = ran(tmp_path, {"survey": True}, "named")[0]["shares"]
    assert 0 < shares["optimizer"] < 0.5 < shares["products"] + shares["optimizer"]


def test_what_a_closure_raises_is_the_job_s_own(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JOB)
    asked = json.dumps({"survey": True})
    job = run_job(tmp_path, [tmp_path / "train.py", "fails"], UNSTARVE_TUNE=asked)
    assert job.process.returncode == 1 and job.process.stderr.endswith('KeyError: "the job\'s"\n')
    assert "_unstarve_hook" not in job.process.stderr


LIGHTNING = """
import sys, torch
import lightning.pytorch as pl
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((3,), float(index))
class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def training_step(self, rows):
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)
quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar"), False)
trainer = pl.Trainer(max_steps=6, accelerator="cpu", enable_model_summary=False, **quiet)
trainer.fit(Module(), torch.utils.data.DataLoader(Rows(), batch_size=4))
"""


def test_levers_reach_a_model_of_lightning(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING)
    asked = json.dumps({"levers": {"bf16_autocast": {}}, "parity": {"steps": 3, "seed": 0}})
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=asked)
    assert (job.process.returncode, job.errors) == (0, [])
    said = json.loads((tmp_path / "tune.json").read_text())
    assert (said["applied"], said["refused"]) == (["bf16_autocast"], {})
    assert (said["job"]["model"], said["job"]["trainer"]) == ("Linear", "lightning")
    assert len(said["losses"]) == 3 and all(length > 0 for length in said["gradients"])
