"""The fixture that all tests of the emulated GPU rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from emulation import WARM, Emulation, machine


@pytest.fixture(scope="session", autouse=True)
def pythons_with_torch() -> Iterator[None]:
    """One is there before the first test, so that it is no test's own."""
    with machine("a100") as emulation:
        WARM.prepare(emulation.environment, 1)
    yield
    WARM.close()


@pytest.fixture
def emulated() -> Iterator[Callable[..., Emulation]]:
    """Makes an emulated machine: `emulated("h100", gpus=2).python(script)`.

    Its environment is for subprocesses; this process sees no GPU. `run_dir`: a folder that gets
    the rings of a watched run.
    """
    with ExitStack() as machines:

        def make(gpu: str = "a100", gpus: int = 1, run_dir: Path | None = None) -> Emulation:
            return machines.enter_context(machine(gpu, "--gpus", str(gpus), run_dir=run_dir))

        yield make
