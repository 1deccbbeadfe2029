"""The faults that tools/plant_faults.py plants fit the code as it is, and leave no module out."""

from __future__ import annotations

from pathlib import Path

import plant_faults
import pytest
import run_checks
from plant_faults import Fault

ROOT = Path(__file__).resolve().parents[3]
FAULTS = plant_faults.all_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_can_be_planted_and_names_checks_that_there_are(fault: Fault) -> None:
    assert fault.problem(ROOT) == ""
    assert fault.seen_by
    for check in fault.seen_by:
        kind, _, name = check.partition(" ")
        if kind == "pytest":
            assert (ROOT / name).is_file()
        elif kind == "check":
            assert name in [known.name for known in run_checks.CHECKS]
        else:
            assert kind in plant_faults.PRESETS


def test_every_module_has_one() -> None:
    folders = [path for path in (ROOT / "src").iterdir() if path.is_dir()]
    package = ROOT / "python" / "unstarve"
    folders += [path for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"]
    names = {folder.relative_to(ROOT).as_posix() for folder in folders}
    assert {
        name for name in names if not any(f.file.startswith(f"{name}/") for f in FAULTS)
    } == set()
    assert len(FAULTS) >= 40


def test_a_text_that_is_there_twice_cannot_be_planted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    for old, why in (("x = 1", "2 times"), ("y", "0 times"), ("x = 1\nx", "nothing")):
        fault = Fault("one", "a.py", old, old, "", ())
        assert why in fault.problem(tmp_path)
