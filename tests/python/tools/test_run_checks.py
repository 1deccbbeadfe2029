"""The gate is red where a check failed, and where one that had to run did not."""

from __future__ import annotations

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
    monkeypatch.setattr(
        Change, "of", lambda root, everything=False: Change(root, "0" * 40, frozenset({"a.py"}))
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
