"""Which files belong to the project, as the checks see them."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePath

# A room's helpers for tests, its own and those of others, lie in a folder of this name.
TESTING = "testing"


def is_test(path: PurePath) -> bool:
    """Whether a C++ source is compiled into test programs only."""
    return path.stem.endswith("_test") or TESTING in path.parent.parts


def project_files(root: Path) -> list[Path]:
    """Every file that git tracks or would track, sorted; deleted ones are left out."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (root / name for name in set(listed.split("\0")) if name)
    return sorted(path for path in paths if path.is_file())
