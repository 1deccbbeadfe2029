"""As `hidden.py`, by what a script changes between two passes, and by what lies outside of Python:
files, folders, programs."""

from __future__ import annotations

import contextlib
import ctypes
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hidden import COUNT, Hidden
from PIL import Image


class ByRowChangedBetween(Hidden):
    def change(self) -> None:
        self.base[41] *= 2


class ByLabelsChangedBetween(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.labels = list(range(10 * COUNT))

    def extra(self, index: int) -> Any:
        return self.labels[10 * index]

    def change(self) -> None:
        self.labels[410] = -1


class ByTableChangedBetween(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.table = {number: [float(number)] for number in range(10 * COUNT)}

    def extra(self, index: int) -> Any:
        return self.table[10 * index][0]

    def change(self) -> None:
        self.table[410] = [-1.0]


class ByFile(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for i in range(COUNT):
            (folder / f"{i}.txt").write_text("1.0")

    def extra(self, index: int) -> Any:
        return float((self.folder / f"{index}.txt").read_text())

    def change(self) -> None:
        (self.folder / "41.txt").write_text("2.0")


class ByFileReplaced(ByFile):
    def change(self) -> None:
        (self.folder / "new").write_text("2.0")
        (self.folder / "new").replace(self.folder / "41.txt")


class ByArrayFile(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for i in range(COUNT):
            np.save(folder / f"{i}.npy", np.ones(512, dtype=np.float32))

    def extra(self, index: int) -> Any:
        return torch.from_numpy(np.load(self.folder / f"{index}.npy"))

    def change(self) -> None:
        np.save(self.folder / "41.npy", np.full(512, 2, dtype=np.float32))


LIBC = ctypes.CDLL(None)


class ByCompiledReader(ByArrayFile):
    """Python hears nothing of the file that it opens."""

    def extra(self, index: int) -> Any:
        raw = ctypes.create_string_buffer(128 + 2048)
        file = LIBC.open(str(self.folder / f"{index}.npy").encode(), 0)
        LIBC.read(file, raw, len(raw))
        LIBC.close(file)
        return torch.from_numpy(np.frombuffer(bytearray(raw.raw[128:]), dtype=np.float32))


class ByMappedFile(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        np.ones((COUNT, 512), dtype=np.float32).tofile(folder / "all.bin")
        self.all: Any = np.memmap(
            folder / "all.bin", dtype=np.float32, mode="r", shape=(COUNT, 512)
        )

    def extra(self, index: int) -> Any:
        return torch.from_numpy(np.array(self.all[index]))

    def change(self) -> None:
        time.sleep(0.01)
        with (self.folder / "all.bin").open("r+b") as file:
            file.seek(41 * 512 * 4)
            file.write(np.full(512, 2, dtype=np.float32).tobytes())


class ByOpenFile(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        np.ones((COUNT, 512), dtype=np.float32).tofile(folder / "all.bin")
        self.file = (folder / "all.bin").open("rb", buffering=0)

    def extra(self, index: int) -> Any:
        self.file.seek(index * 2048)
        return torch.from_numpy(np.frombuffer(bytearray(self.file.read(2048)), np.float32))

    def change(self) -> None:
        with (self.folder / "all.bin").open("r+b") as file:
            file.seek(41 * 512 * 4)
            file.write(np.full(512, 2, dtype=np.float32).tobytes())


class ByPlaceInAFile(ByOpenFile):
    def extra(self, index: int) -> Any:
        if self.file.tell() > 100_000:
            self.file.seek(0)
        return float(self.file.tell()) + len(self.file.read(2048))


class ByPicture(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for i in range(COUNT):
            Image.new("L", (16, 32), 7).save(folder / f"{i}.png")

    def extra(self, index: int) -> Any:
        with Image.open(self.folder / f"{index}.png") as image:
            return torch.from_numpy(np.array(image, dtype=np.float32).reshape(512))

    def change(self) -> None:
        Image.new("L", (16, 32), 9).save(self.folder / "41.png")


class ByDatabase(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with contextlib.closing(sqlite3.connect(folder / "all.db")) as base:
            base.execute("CREATE TABLE scale (value REAL)")
            base.execute("INSERT INTO scale VALUES (1.0)")
            base.commit()

    def extra(self, index: int) -> Any:
        with contextlib.closing(sqlite3.connect(self.folder / "all.db")) as base:
            return base.execute("SELECT value FROM scale").fetchone()[0]

    def change(self) -> None:
        with contextlib.closing(sqlite3.connect(self.folder / "all.db")) as base:
            base.execute("UPDATE scale SET value = value + 1")
            base.commit()


class ByFolder(Hidden):
    def extra(self, index: int) -> Any:
        return 1.0 + len(list(self.folder.iterdir()))

    def change(self) -> None:
        (self.folder / f"{time.time_ns()}").touch()


class ByProgram(Hidden):
    def extra(self, index: int) -> Any:
        command = [sys.executable, "-I", "-S", "-c", "import time; print(time.time())"]
        if index != 41:
            return 1.0
        return float(subprocess.run(command, capture_output=True, text=True).stdout)
