"""`unstarve gate`: the job as it is beside the job as it was."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, UNSTARVE, environment, unstarve

JOB = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        total = 0
        for i in range(WORK):
            total += i * i
        open("seen.txt", "a").write(".")
        return torch.full((8,), float(total % 7))

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for x in DataLoader(Data(), batch_size=8):
    model(x).sum().backward()
    optimizer.step()
"""
COMMAND = ("--", sys.executable, "train.py")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.email=a@b", "-c", "user.name=a")
    subprocess.run(("git", *who, *words), cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("runs/\nseen.txt\n")
    (tmp_path / "train.py").write_text(JOB.replace("WORK", "4000"))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def gate(folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    done = unstarve("gate", *words, "--seconds", "1", "--json", "-", *COMMAND, cwd=folder)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_a_regression_is_caught_with_its_cause_and_leaves_nothing(repository: Path) -> None:
    (repository / "train.py").write_text(JOB.replace("WORK", "40000"))
    (repository / "seen.txt").write_text("mine")
    limit = ("--fail-on", "fetch_cpu_ms_per_sample>20%", "--junit", "runs/gate.xml", "--pue", "1.5")
    (repository / "runs").mkdir()
    code, found, said = gate(repository, "--base", "HEAD", *limit)
    assert code == 3, said
    assert found["decision"] == "regressed"
    assert found["schema"] == "unstarve.gate/1"
    assert found["moved"]["part"] == "input_wait"
    # What else took CPUs meanwhile is named first.
    assert found["moved"]["reason"]["kind"] in ("loading_stage", "neighbours")
    assert found["cost"]["rates"]["pue"] == {"value": 1.5, "source": "--pue"}
    assert "+        for i in range(40000):" in found["script_diff"]
    assert found["runs"]["base"] == found["runs"]["now"] >= 3
    suite = ElementTree.parse(repository / "runs/gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    # The job's own files are as they were, and so is the repository.
    assert (repository / "seen.txt").read_text() == "mine"
    trees = subprocess.run(
        ("git", "worktree", "list"), cwd=repository, capture_output=True, text=True, check=True
    )
    assert len(trees.stdout.splitlines()) == 1


def test_a_baseline_is_accepted_with_a_reason_and_compared_with(repository: Path) -> None:
    accept = ("--base", "baseline.json", "--accept")
    code, _, said = gate(repository, *accept)
    assert code == 2 and "--reason" in said
    code, _, said = gate(repository, *accept, "--reason", "first", "--runs", "3")
    assert code == 0, said
    text = (repository / "baseline.json").read_text()
    assert len(text) < 64_000
    kept = json.loads(text)
    assert kept["schema"] == "unstarve.baseline/1"
    assert [one["reason"] for one in kept["accepted"]] == ["first"]
    code, found, said = gate(
        repository, "--base", "baseline.json", "--fail-on", "fetch_cpu_ms_per_sample>900%"
    )
    assert code == 0, said
    assert found["decision"] == "holds"
    # A baseline of another machine is no measure of this one.
    for setting in kept["settings"]:
        if setting["name"] == "cores":
            setting["value"] = "4096"
    (repository / "baseline.json").write_text(json.dumps(kept))
    code, found, said = gate(repository, "--base", "baseline.json")
    assert code == 2, said
    assert found["decision"] == "not_compared"
    assert any("cores: 4096" in unlike for unlike in found["unlike"])


def test_the_example_for_github_runs_up_to_its_gpu(repository: Path) -> None:
    workflow = (ROOT / "examples/ci/github_gate.yml").read_text()
    steps = re.findall(r"run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", workflow)
    gate_step, show = (textwrap.dedent(block or line) for block, line in steps[1:])
    assert "unstarve gate" in gate_step and "--emulate a100" in gate_step
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    (repository / "train.py").write_text(JOB.replace("WORK", "60000"))
    summary = repository / "runs/summary.md"
    summary.parent.mkdir()
    env = {**environment(), "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    env["PATH"] = f"{UNSTARVE.parent}:{Path(sys.executable).parent}:{env['PATH']}"
    done = subprocess.run(
        ("bash", "-e", "-c", gate_step.replace(" --emulate a100", " --seconds 1")),
        cwd=repository,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    subprocess.run(("bash", "-e", "-c", show), cwd=repository, env=env, check=True)
    assert summary.read_text().startswith("### unstarve gate: regressed")
    assert ElementTree.parse(repository / "gate.xml").getroot().get("failures") != "0"


def test_what_cannot_be_compared_with_is_named(repository: Path) -> None:
    code, _, said = gate(repository, "--base", "no-such-branch")
    assert code == 2
    assert "no-such-branch" in said
    (repository / "notes.txt").write_text("{}")
    code, _, said = gate(repository, "--base", "notes.txt")
    assert code == 2
    assert "notes.txt is no baseline" in said


def test_a_base_that_does_not_run_is_named(repository: Path) -> None:
    (repository / "train.py").write_text("raise SystemExit(5)")
    git(repository, "commit", "-qam", "broken")
    (repository / "train.py").write_text(JOB.replace("WORK", "100"))
    code, _, said = gate(repository, "--base", "HEAD")
    assert code == 1
    assert "base-warm-up" in said and "exited with 5" in said
