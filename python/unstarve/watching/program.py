"""The program that the package comes with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def find_program() -> str:
    """The program of this environment, which need not be on PATH."""
    named = os.environ.get("UNSTARVE_PROGRAM")
    beside = Path(sys.executable).parent / "unstarve"
    found = named or (str(beside) if os.access(beside, os.X_OK) else shutil.which("unstarve"))
    if not found:
        raise FileNotFoundError("there is no program `unstarve` beside this Python and on PATH")
    return found
