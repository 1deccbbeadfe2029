"""The check of commits' messages fails on what it is there to catch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import check_commits
import pytest

GOOD = "feed: a loader is read once\n\nIt was read twice, which took 3 ms.\n"


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (GOOD, ""),
        ("feed: a loader is read once\n", "no body that says why"),
        ("feed: a loader is read once\n\nSigned-off-by: A B <a@b.c>\n", "no body that says why"),
        ("feed: " + "x" * 55 + "\n\nWhy.\n", "the subject has 61 characters; at most 60"),
        ("feed: a loader.\n\nWhy.\n", "the subject ends with a full stop"),
        ("feed: a loader\nWhy.\n", "no empty line behind the subject"),
        ("feed: a loader\n\n" + "word " * 15 + "\n", "a line of 75 characters; at most 72"),
        ("feed: a loader\n\nhttps://example.com/" + "x" * 80 + "\n", ""),
    ],
)
def test_a_message_is_judged(message: str, complaint: str) -> None:
    assert check_commits.complaints(message) == ([complaint] if complaint else [])


def test_commits_since_everything_passed_are_looked_at(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        person = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *person, *words],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    run("init", "-q")
    for subject in ("first", "second", "third"):
        run("commit", "-q", "--allow-empty", "-m", subject)
    assert [one.message for one in check_commits.commits(tmp_path)] == ["third"]
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/passed").write_text(f"commits {run('rev-parse', 'HEAD~2')}\n")
    assert [one.message for one in check_commits.commits(tmp_path)] == ["third", "second"]
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/check_commits.py").touch()
    run("add", "tools")
    run("commit", "-q", "-m", "the check")
    run("commit", "-q", "--allow-empty", "-m", "fourth")
    assert [one.message for one in check_commits.commits(tmp_path)] == ["fourth"]
