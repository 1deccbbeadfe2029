"""Data sets that follow from a seed, and what a loader makes of them."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import unstarve
from PIL import Image, ImageFile
from unstarve.errors import UnstarveError

SIZE = 48  # of the made pictures and of what comes out, so that evaluation changes no pixel
BATCH = 5
ImageFile.MAXBLOCK = 1 << 20  # noise takes more room than PIL expects of a picture


class ViolationError(Exception):
    """The loader did what it must never do."""


def violated(what: str) -> NoReturn:
    raise ViolationError(what)


def check(holds: bool, what: str) -> None:
    if not holds:
        violated(what)


def made_pixels(seed: int, width: int = SIZE, height: int = SIZE) -> Any:
    """A smooth picture with some noise on it: enough detail that a wrong block shows."""
    draw = np.random.default_rng(seed)
    coarse = draw.integers(0, 256, (7, 7, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    noise = draw.integers(-20, 21, smooth.shape)
    return np.clip(smooth.astype(np.int64) + noise, 0, 255).astype(np.uint8)


def made_jpeg(seed: int, width: int = SIZE, height: int = SIZE) -> bytes:
    """One of the forms that JPEGs come in, in turn."""
    form = seed % 8
    image = Image.fromarray(made_pixels(seed, width, height))
    options: dict[str, Any] = {"quality": 80 + seed % 15, "subsampling": (2, 0, 1)[form % 3]}
    if form == 3:
        image = image.convert("L")
    elif form == 4:
        image = image.convert("CMYK")
    elif form == 5:
        options["progressive"] = True
    elif form == 6:
        options["restart_marker_blocks"] = 2
    elif form == 7:
        options["optimize"] = True
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def make_folder(root: Path, count: int, seed: int = 0, size: int = SIZE) -> Path:
    """`count` pictures in two classes. Their times are set: shards of equal folders are equal."""
    for i in range(count):
        path = root / f"class{i % 2}" / f"{i:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made_jpeg(seed + i, size, size))
        os.utime(path, ns=(10**18, 10**18))
    return root


def made_tar(count: int, seed: int = 0) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(count):
            for ending, content in (("jpg", made_jpeg(seed + i)), ("cls", b"%d" % (i % 10))):
                member = tarfile.TarInfo(f"{i:05}.{ending}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def run_unstarve(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


def pack(program: Path, source: Path, target: Path, shard_bytes: int = 12_000) -> Path:
    done = run_unstarve(program, "pack", source, target, "--shard-bytes", str(shard_bytes))
    check(done.returncode == 0, f"pack ends with {done.returncode}: {done.stderr}")
    return target


@dataclass
class Epoch:
    """What a loader with on_error="skip" made of an epoch in sequence."""

    images: list[Any]  # of the samples that were loaded
    labels: list[int]
    failures: dict[int, str]  # message by index


def open_loader(source: Path, **options: Any) -> Any:
    settings: dict[str, Any] = {
        "size": SIZE, "resize": SIZE, "train": False, "shuffle": False, "threads": 2,
        "prefetch": 2, "on_error": "skip", "output": "numpy",
    }  # fmt: skip
    return unstarve.ImageLoader(source, BATCH, **(settings | options))


def run_epoch(loader: Any) -> Epoch:
    epoch = Epoch([], [], {})
    for images, labels in loader:
        epoch.images += [np.ascontiguousarray(image) for image in images]
        epoch.labels += [int(label) for label in labels]
    epoch.failures = {failure.index: failure.message for failure in loader.errors()}
    check(
        len(epoch.images) + len(epoch.failures) == loader.sample_count,
        f"{len(epoch.images)} samples and {len(epoch.failures)} failures "
        f"are not {loader.sample_count}",
    )
    return epoch


def load(source: Path, **options: Any) -> Epoch | str:
    """An epoch, or why the source could not be opened."""
    try:
        loader = open_loader(source, **options)
    except UnstarveError as error:
        return str(error)
    return run_epoch(loader)


def batch_hash(images: Any, labels: Any) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(images).tobytes(), digest_size=16)
    digest.update(np.ascontiguousarray(labels).tobytes())
    return digest.hexdigest()


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[bool]:
    """A file system of this size; False where none may be mounted."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)],
        capture_output=True,
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def start_child(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """This program once more, as the one that things happen to."""
    script = Path(__file__).resolve().parents[1] / "faults.py"
    command = [sys.executable, str(script), "--child", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
