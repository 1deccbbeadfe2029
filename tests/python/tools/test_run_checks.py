"""The gate is red where a check failed, and where one that had to run did not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import run_checks
import run_clang_tidy
from affected import Change
from run_checks import Check


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs go into the test's folder; files have changed since a commit."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setattr(run_checks, "ROOT", tmp_path)
    monkeypatch.setattr(run_checks, "LOGS", tmp_path / "logs")
    monkeypatch.setenv("PATH", os.environ["PATH"])  # main() puts the project's own before it
    monkeypatch.setattr(
        Change, "of", lambda root, check: Change(root, "0" * 40, frozenset({"a.py"}))
    )


def main_of(monkeypatch: pytest.MonkeyPatch, *checks: Check, options: tuple[str, ...] = ()) -> int:
    monkeypatch.setattr(run_checks, "CHECKS", checks)
    monkeypatch.setattr(sys, "argv", ["run_checks.py", *options])
    return run_checks.main()


PASSES = Check("passes", "nothing", lambda _: [["true"]])
FAILS = Check("fails", "nothing", lambda _: [["sh", "-c", "echo why it failed; exit 3"], ["true"]])
CANNOT = Check("cannot", "nothing", lambda _: [["./no-such-program"]])
UNTOUCHED = Check("untouched", "other files", lambda _: [["false"]], run_checks.where("src/*"))
NIGHTLY = Check("nightly", "everything", lambda _: [["false"]], run_checks.nightly_alone)
CONCERNED = Check("concerned", "such files", lambda _: [["false"]], run_checks.where("*.py"))


def test_what_passes_is_green(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_of(monkeypatch, PASSES, UNTOUCHED, NIGHTLY) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"
    assert "as was  untouched" in said and "as was  nightly" in said


@pytest.mark.parametrize("check", [FAILS, CANNOT, CONCERNED], ids=lambda check: str(check.name))
def test_what_fails_is_red_and_the_rest_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: Check
) -> None:
    assert main_of(monkeypatch, check, PASSES) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"


def test_what_had_no_time_is_red(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = Check("waits", "for ever", lambda _: [["sleep", "600"]])
    assert main_of(monkeypatch, waits, PASSES, options=("--minutes", "0.002")) == 1
    said = capsys.readouterr().out
    assert "no time waits" in said and "no time passes" in said
    assert said.splitlines()[-1] == "0 passed, 2 failed, 0 skipped"


def test_why_it_failed_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main_of(monkeypatch, FAILS)
    assert "why it failed" in capsys.readouterr().out


def test_clang_tidy_looks_at_what_has_changed(tmp_path: Path) -> None:
    (tmp_path / "src/base").mkdir(parents=True)
    (tmp_path / "src/base/one.h").write_text("int one();\n")
    (tmp_path / "src/base/one.cpp").write_text('#include "base/one.h"\nint one() { return 1; }\n')
    (tmp_path / "src/base/two.cpp").write_text("int two() { return 2; }\n")

    def told(*changed: str) -> list[str]:
        commands = run_checks.tidy_commands(Change(tmp_path, "0" * 40, frozenset(changed)))
        return commands[-1][2:] if commands else ["nothing"]

    assert told("python/a.py") == ["nothing"]
    assert told("src/base/one.h") == ["--of", "src/base/one.cpp"]
    assert told("src/base/two.cpp", "python/a.py") == ["--of", "src/base/two.cpp"]
    assert told(".clang-tidy") == told("src/cli/.clang-tidy") == [], "all"


def test_clang_tidy_finds_the_unit_of_a_source(tmp_path: Path) -> None:
    source, other, unit = (tmp_path / name for name in ("src/a.cpp", "src/b.cpp", "unit.cxx"))
    source.parent.mkdir()
    for file in (source, other):
        file.touch()
    unit.write_text(f'#include "{source}"\n')
    every = [run_clang_tidy.Source(path, "") for path in (unit, other)]
    assert run_clang_tidy.made_of({source}, every, tmp_path / "src") == every[:1]
    assert run_clang_tidy.made_of({other}, every, tmp_path / "src") == every[1:]


def commit_all(root: Path) -> str:
    (root / ".gitignore").write_text("/logs/\n")
    (root / ".ci").mkdir()
    person = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["add", "."], [*person, "commit", "-qm", "all of it"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    said = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True)
    return said.stdout.decode().strip()


def test_what_passed_on_everything_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = commit_all(tmp_path)
    (tmp_path / ".ci/passed").write_text(f"nightly {'1' * 40}\nfails {'2' * 40}\n")
    passes_too = Check("passes-too", "nothing", lambda _: [["true"]])
    checks = (PASSES, FAILS, passes_too, NIGHTLY)
    assert main_of(monkeypatch, *checks, options=("--only", "passes,fails,passes-too")) == 1
    expected = f"passes {commit}\nfails {'2' * 40}\npasses-too {commit}\nnightly {'1' * 40}\n"
    assert (tmp_path / ".ci/passed").read_text() == expected
    assert f"names {commit[:12]} for 2 checks" in capsys.readouterr().out


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_what_passed_on_files_of_no_commit_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    commit_all(tmp_path)
    edit = ["sh", "-c", "echo '/out/' >> .gitignore"]
    if when == "before":
        subprocess.run(edit, cwd=tmp_path, check=True)
    edits = Check("edits", "nothing", lambda _: [edit] if when == "meanwhile" else [["true"]])
    assert main_of(monkeypatch, edits, PASSES, options=("--nightly",)) == 0
    assert not (tmp_path / ".ci/passed").exists()


def test_a_change_alone_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_all(tmp_path)
    assert main_of(monkeypatch, PASSES) == 0
    assert not (tmp_path / ".ci/passed").exists()
