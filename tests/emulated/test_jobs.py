"""Training loops as people write them, each unchanged, on an emulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from emulation import PYTHON, Emulation

JOBS = Path(__file__).parent / "jobs"


@pytest.mark.parametrize("job", sorted(path.stem for path in JOBS.glob("*.py")))
def test_a_job_runs_to_its_end(job: str, emulated: Callable[..., Emulation]) -> None:
    done = emulated().run(PYTHON, JOBS / f"{job}.py", timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    assert said["device"].startswith("cuda"), done.stdout
    assert int(said["steps"].split()[0]) > 0, done.stdout
