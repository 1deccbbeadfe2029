"""What a newcomer types: versions, misspelt commands, odd numbers, another Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import environment, unstarve


def test_the_version_is_told_to_whoever_asks() -> None:
    asked, command = unstarve("--version"), unstarve("version")
    assert (asked.returncode, asked.stdout) == (0, command.stdout)
    assert asked.stdout.startswith("unstarve ")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["reprot", "x"], "there is no command 'reprot'; did you mean 'report'?"),
        (["frobnicate"], "there is no command 'frobnicate'\n"),
        ([], "a command is needed"),
    ],
)
def test_a_wrong_command_is_named_and_the_right_ones_are_listed(
    typed: list[str], says: str
) -> None:
    done = unstarve(*typed)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "commands: demo, run, attach, emulate, rehearse, tune, diagnose, compare" in done.stderr


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (
            ["run", "--emulat", "a100", "--", "true"],
            "unstarve run: there is no option '--emulat'; did you mean '--emulate'?\n",
        ),
        (["tune", "--budget=3", "--", "true"], "unstarve tune: there is no option '--budget'\n"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, typed: list[str], says: str) -> None:
    done = unstarve(*typed, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == says + f"`unstarve {typed[0]} --help` lists them\n"
    assert list(tmp_path.iterdir()) == []


def test_a_script_by_itself_is_told_how_it_starts(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('hello')")
    done = unstarve("run", "--", "train.py", cwd=tmp_path)
    assert done.returncode != 0
    assert "an interpreter starts: python train.py" in done.stderr


def test_what_fails_before_torch_is_imported_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import a_module_that_is_not_there")
    done = unstarve("run", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert "The job failed before any Python of it imported torch" in said
    assert "No PyTorch seen" not in said


@pytest.mark.parametrize("number", ["abc", "1e400", "-5", "nan", "inf", "", "1e9", "3x"])
def test_a_number_out_of_bounds_gets_one_line_with_the_bounds(tmp_path: Path, number: str) -> None:
    done = unstarve("run", "--fix", "--trial-seconds", number, "--", "true", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = [line for line in done.stderr.splitlines() if "--trial-seconds" in line]
    assert line.endswith(f"takes a number from 0 to 86400, not '{number}'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", ["0", "65", "many"])
def test_so_does_a_number_of_gpus(number: str) -> None:
    done = unstarve("emulate", "--gpus", number, "--", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--gpus: takes a number from 1 to 64, not '{number}'" in done.stderr


def python_that_doctor_looks_at(*arguments: str, path: str) -> dict[str, Any]:
    done = unstarve("doctor", "--json", *arguments, env={**environment(), "PATH": path})
    assert done.returncode == 0
    (check,) = [c for c in json.loads(done.stdout)["checks"] if c["what"] == "Python"]
    found: dict[str, Any] = check
    return found


def test_doctor_looks_at_the_python_of_the_job(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name in ((first, "python3"), (second, "python")):
        folder.mkdir()
        (folder / name).symlink_to(sys.executable)
    launcher = second / "launch"
    launcher.write_text(f"#!{second}/python\nraise SystemExit('never started')\n")
    launcher.chmod(0o755)
    path = f"{first}:{second}:/usr/bin:/bin"
    for arguments, expected, why in [
        ([], f"{first}/python3", "the first on PATH"),
        (["--", "python", "train.py"], f"{second}/python", "the job's command"),
        (["--", "launch", "train.py"], f"{second}/python", f"the first line of {launcher}"),
        (["--", "sh", "train.sh"], f"{first}/python3", "is no Python"),
        (["--python", f"{second}/python"], f"{second}/python", "named by --python"),
    ]:
        check = python_that_doctor_looks_at(*arguments, path=path)
        assert check["works"], check
        assert check["found"].startswith(expected + " 3."), check
        assert why in check["found"], check
    for arguments in (["--python", "none"], ["--", "none", "train.py"]):
        check = python_that_doctor_looks_at(*arguments, path=path)
        assert not check["works"]
        assert "'none'" in check["found"]
    assert "no python" in python_that_doctor_looks_at(path=str(tmp_path))["found"]


def test_a_job_that_does_not_train_is_told_why_there_are_no_steps(tmp_path: Path) -> None:
    loads = "from torch.utils.data import DataLoader\nlist(DataLoader([1, 2]))"
    for name, job, why in (
        ("shell", ["true"], "No PyTorch seen in this job"),
        ("torch", [sys.executable, "-c", "import torch"], "no optimizer stepped and no DataLoader"),
        ("loads", [sys.executable, "-c", loads], "no optimizer stepped: each batch of the loader"),
    ):
        done = unstarve("run", "--out", str(tmp_path / name), "--", *job)
        assert done.returncode == 0, done.stderr
        assert why in " ".join(done.stderr.split())
        assert "Change" not in done.stderr, "nothing follows from so few steps"
