"""The planted regressions can be planted."""

from __future__ import annotations

import sys

import pytest
from command_line import ROOT

sys.path.insert(0, str(ROOT / "tests/regressions"))
from planting import Plant, plants


@pytest.mark.parametrize("plant", plants(), ids=lambda plant: plant.name)
def test_a_plant_changes_a_script_that_still_compiles(plant: Plant) -> None:
    before, after = plant.before(), plant.after()
    compile(before, plant.script, "exec")
    compile(after, plant.script, "exec")
    assert (before == after) == (plant.kind == "same" and not plant.edits)
    assert bool(plant.moved) == (plant.kind == "slower")


def test_there_are_as_many_of_each_kind_as_are_stated() -> None:
    kinds = [plant.kind for plant in plants()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"slower": 24, "same": 8, "trade": 8}
