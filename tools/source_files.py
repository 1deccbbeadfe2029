"""Which files belong to the project, as the checks see them."""

from __future__ import annotations

import subprocess
from pathlib import Path


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
