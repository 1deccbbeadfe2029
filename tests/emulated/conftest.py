"""The fixture that all tests of the emulated GPU rely on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from emulation import Emulation, prepare


@pytest.fixture
def emulated(tmp_path: Path) -> Callable[..., Emulation]:
    """Makes an emulated machine: `emulated("h100", gpus=2).python(script)`.

    Its environment is for subprocesses; this process sees no GPU. `run_dir`: a folder that gets
    the rings of a watched run.
    """
    made = 0

    def make(gpu: str = "a100", gpus: int = 1, run_dir: Path | None = None) -> Emulation:
        nonlocal made
        made += 1
        return prepare(tmp_path / f"machine-{made}", gpu, gpus, run_dir)

    return make
