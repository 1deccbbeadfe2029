"""The snippets of docs/loader.md, run one after the other as a reader with a GPU would."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from command_line import EMULATED, PHOTOS, ROOT, unstarve


def test_the_snippets_run(tmp_path: Path) -> None:
    for i, photo in enumerate(sorted(PHOTOS.glob("*.jpg"))[:14]):
        target = tmp_path / "data" / "train" / f"class{i % 2}" / photo.name
        target.parent.mkdir(exist_ok=True, parents=True)
        target.symlink_to(photo)
    page = (ROOT / "docs" / "loader.md").read_text()
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 7
    script = tmp_path / "page.py"
    checked = 'assert loader.explain().engine == "native"\n'
    script.write_text("\n".join([*snippets, checked]))
    done = unstarve("emulate", EMULATED[1], "--", sys.executable, str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
