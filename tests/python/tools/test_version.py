"""The version stands in three files, and is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import unstarve

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CMakeLists.txt", r"^project\(unstarve VERSION (\S+) "),
        ("pyproject.toml", r'^version = "(\S+)"$'),
        ("CHANGELOG.md", r"^## (\S+) \("),
    ],
)
def test_the_version_is_the_packages(file: str, pattern: str) -> None:
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == unstarve.__version__
