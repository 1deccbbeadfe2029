"""What a job is told in confidence is in no file of its run, and its run is its owner's."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from command_line import UNSTARVE, environment

SECRETS = ("tok-1234567890", "hf_abcdefghij", "pa55w0rd-in-url", "s3cr3t-of-hydra")
JOB = """
import os, sys, torch
w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w])
for step in range(5):
    (w * 1).sum().backward()
    optimizer.step()
raise ValueError("401 for " + sys.argv[2] + " and " + os.environ["HF_TOKEN"] + " at " + sys.argv[3])
"""


def test_a_token_is_in_no_file_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JOB)
    job = [sys.executable, "train.py", "--api-key", SECRETS[0]]
    job += [f"https://me:{SECRETS[2]}@host/x", f"logger.secret={SECRETS[3]}"]
    done = subprocess.run(
        [str(UNSTARVE), "run", "--out", "r", "--json", "d.json", "--", *job],
        cwd=tmp_path,
        env={**environment(), "HF_TOKEN": SECRETS[1]},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "ValueError" in done.stderr
    files = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert {"run.sqlite", "report.html"} <= {path.name for path in files}
    files.append(tmp_path / "d.json")
    for path in files:
        held = path.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in held], path
    report = subprocess.run(
        [str(UNSTARVE), "report", "r", "--verbose"], cwd=tmp_path, capture_output=True, text=True
    )
    assert not [secret for secret in SECRETS if secret in report.stdout + report.stderr]
    assert "***" in report.stdout


def test_a_run_is_its_owners(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(UNSTARVE), "run", "--", "true"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        umask=0o022,
    )
    assert done.returncode == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert stat.S_IMODE((run / "run.sqlite").stat().st_mode) == 0o600
