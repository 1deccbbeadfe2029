"""The snippets of docs/loader.md, run one after the other as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]


def test_the_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i, photo in enumerate(sorted((TESTS / "data" / "photos").glob("*.jpg"))[:14]):
        target = tmp_path / "data" / "train" / f"class{i % 2}" / photo.name
        target.parent.mkdir(exist_ok=True, parents=True)
        target.symlink_to(photo)
    monkeypatch.chdir(tmp_path)
    page = (TESTS.parent / "docs" / "loader.md").read_text()
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 6
    names: dict[str, Any] = {}
    for snippet in snippets:
        exec(compile(snippet, "docs/loader.md", "exec"), names)
    assert names["loader"].explain().engine == "native"
