"""Optimizers whose step is given a closure: the model is called within the step."""

import json
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_job, run_tuned
from lightning_job import LIGHTNING

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
    said, job = run_tuned(folder, JOB, asked, *words)
    assert job.process.stderr == ""
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
    # The closure has all of the products, and nearly all of a step.
    assert 0 < shares["optimizer"] < shares["products"]


def test_what_a_closure_raises_is_the_job_s_own(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JOB)
    asked = json.dumps({"survey": True})
    job = run_job(tmp_path, [tmp_path / "train.py", "fails"], UNSTARVE_TUNE=asked)
    assert job.process.returncode == 1 and job.process.stderr.endswith('KeyError: "the job\'s"\n')
    assert "_unstarve_hook" not in job.process.stderr


def test_levers_reach_a_model_of_lightning(tmp_path: Path) -> None:
    asked = {"levers": {"bf16_autocast": {}}, "parity": {"steps": 3, "seed": 0}}
    said, _ = run_tuned(tmp_path, LIGHTNING, asked, "lightning")
    assert (said["applied"], said["refused"]) == (["bf16_autocast"], {})
    assert (said["job"]["model"], said["job"]["trainer"]) == ("Linear", "lightning")
    assert len(said["losses"]) == 3 and all(length > 0 for length in said["gradients"])
