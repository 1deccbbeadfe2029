"""What a data set reads while it makes a sample is noticed, by compiled code of libraries too."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from unstarve.sample_cache import noticing as module
from unstarve.sample_cache.noticing import noticing


class SoundFile:
    """In the place of soundfile's, which opens files without a word to Python."""

    def __init__(self, file: Any, mode: str = "r") -> None:
        self.file = file


def make_fid(name: Any, mode: str | None = None) -> str:
    return f"{name} {mode}"


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, files = types.ModuleType("soundfile"), types.ModuleType("h5py._hl.files")
    sound.SoundFile = SoundFile  # type: ignore[attr-defined]
    files.make_fid = make_fid  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "soundfile", sound)
    monkeypatch.setitem(sys.modules, "h5py._hl.files", files)
    monkeypatch.setattr(module, "_known_readers", module._Readers())  # it looks for more modules


def test_a_method_tells_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.touch()
    before = SoundFile.__init__
    with noticing() as noticed:
        sound = SoundFile(str(path))
        named = SoundFile(file=path, mode="r")
    assert (sound.file, named.file) == (str(path), path)
    assert (noticed.paths, noticed.obstacle) == ({str(path)}, "")
    assert SoundFile.__init__ is before


def test_who_opens_to_write_is_an_obstacle(tmp_path: Path) -> None:
    with noticing() as noticed:
        assert sys.modules["h5py._hl.files"].make_fid(tmp_path / "a.h5", "a").endswith("a.h5 a")
    assert "writes to" in noticed.obstacle
    path = tmp_path / "b.h5"
    path.touch()
    with noticing() as noticed:
        sys.modules["h5py._hl.files"].make_fid(path)
    assert (noticed.paths, noticed.obstacle) == ({str(path)}, "")


def test_a_folder_is_known_by_its_time(tmp_path: Path) -> None:
    with noticing() as noticed:
        list(tmp_path.iterdir())
        list(os.scandir(tmp_path))
    assert (noticed.paths, noticed.obstacle) == ({str(tmp_path)}, "")
    (mark,) = noticed.marks
    (tmp_path / "another").touch()
    with noticing() as noticed:
        os.listdir(tmp_path)  # noqa: PTH208
    assert noticed.marks != (mark,)
    folder = os.open(tmp_path, os.O_RDONLY)
    with noticing() as noticed:
        os.listdir(folder)  # noqa: PTH208
    os.close(folder)
    assert "lists a folder" in noticed.obstacle
