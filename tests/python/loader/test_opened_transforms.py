"""What advice calls the engine's is the engine's: the list in C++ and the tables of lowering."""

from __future__ import annotations

import re
from pathlib import Path

from unstarve.lowering import augment, colours, geometry, presets, reader, values

ROOT = Path(__file__).resolve().parents[3]


def test_transforms_of_the_list_are_known_to_the_lowering() -> None:
    source = (ROOT / "src/diagnose/signals/fetch_work.cpp").read_text()
    listed = re.findall(r'^    "(\w+)",$', source, re.MULTILINE)
    assert len(listed) > 20
    #: Of an image beside masks and boxes (engine/late_tensors.py).
    known = {"RandomIoUCrop", "RandomPhotometricDistort", "RandomShortestSize", "ScaleJitter"}
    for module in (augment, colours, geometry, presets, reader, values):
        text = Path(str(module.__file__)).read_text()
        known |= set(re.findall(r'"([A-Z]\w+)"', text))
    assert set(listed) <= known
