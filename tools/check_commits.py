#!/usr/bin/env python3
"""Fails on a commit whose message does not say what and why.

A subject has at most 60 characters, one idea, and no full stop; a body behind an empty line says
why, in lines of at most 72 characters. Looks at the commits since the one that .ci/passed names,
and at none before this check; where a clone knows neither, at the last one. Merges say what git
says.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from affected import git, passed_commit

ROOT = Path(__file__).resolve().parent.parent
MOST_OF_SUBJECT = 60
MOST_OF_LINE = 72
TRAILERS = ("Co-authored-by:", "Signed-off-by:", "Reviewed-by:")


@dataclass(frozen=True)
class Commit:
    name: str
    message: str


def first_commit(root: Path) -> str | None:
    """The commit that this check came with."""
    added = git(root, "log", "--diff-filter=A", "--format=%H", "--", "tools/check_commits.py")
    return added.split()[-1] if added and added.split() else None


def commits(root: Path) -> list[Commit]:
    """Those to look at, the newest first."""
    known = [commit for commit in (passed_commit(root, "commits"), first_commit(root)) if commit]
    since = ["HEAD", *(f"^{commit}" for commit in known)] if known else ["-1"]
    log = git(root, "log", "--no-merges", "--format=%h%x00%B%x01", *since) or ""
    found = []
    for entry in log.split("\x01"):
        name, _, message = entry.strip().partition("\0")
        if name:
            found.append(Commit(name, message.rstrip()))
    return found


def complaints(message: str) -> list[str]:
    """What is wrong with it; empty: nothing."""
    subject, _, rest = message.partition("\n")
    body = [line for line in rest.split("\n") if not line.startswith(TRAILERS)]
    found = []
    if len(subject) > MOST_OF_SUBJECT:
        found.append(f"the subject has {len(subject)} characters; at most {MOST_OF_SUBJECT}")
    if subject.endswith("."):
        found.append("the subject ends with a full stop")
    if body and body[0].strip():
        found.append("no empty line behind the subject")
    if not any(line.strip() for line in body):
        found.append("no body that says why")
    found += [
        f"a line of {len(line)} characters; at most {MOST_OF_LINE}"
        for line in body
        if len(line) > MOST_OF_LINE and " " in line.strip()
    ]
    return found


def main() -> int:
    wrong = 0
    for commit in commits(ROOT):
        for complaint in complaints(commit.message):
            print(f"{commit.name} {commit.message.partition(chr(10))[0]}: {complaint}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
