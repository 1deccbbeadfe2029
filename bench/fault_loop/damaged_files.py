"""Mutated JPEGs and tars. They carry no checksums, so what still decodes is compared with PIL."""

from __future__ import annotations

import io
import random
import re
import tarfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from unstarve.errors import UnstarveError

from fault_loop.made_data import (
    BATCH,
    SIZE,
    Epoch,
    check,
    load,
    made_jpeg,
    made_tar,
    open_loader,
    run_epoch,
)
from fault_loop.mutations import mutate
from fault_loop.watch import Watch

GROUP = 125  # files in a folder
SAMPLES_PER_TAR = 7


def decoded_by_pil(jpeg: bytes) -> Any:
    """Pixels as the loader gives them; None where PIL refuses or the size is another, which the
    loader scales with its own arithmetic."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(jpeg), formats=["JPEG"])
            pixels = np.asarray(image.convert("RGB"))
    except Exception:  # PIL's parsers of metadata raise all kinds
        return None
    return pixels.transpose(2, 0, 1) if pixels.shape == (SIZE, SIZE, 3) else None


class Tally:
    def __init__(self) -> None:
        self.files = self.refused = self.failed = self.compared = self.not_compared = 0

    def compare(self, epoch: Epoch, jpegs: list[bytes], labels: list[int], what: str) -> None:
        """Each sample failed by name, or is what PIL makes of the same bytes."""
        loaded = iter(zip(epoch.images, epoch.labels, strict=True))
        for index, jpeg in enumerate(jpegs):
            if index in epoch.failures:
                self.failed += 1
                continue
            image, label = next(loaded)
            check(label == labels[index], f"{what}: sample {index} has label {label}")
            wanted = decoded_by_pil(jpeg)
            if wanted is None:
                self.not_compared += 1
                continue
            self.compared += 1
            check(np.array_equal(image, wanted), f"{what}: sample {index} has other pixels")

    def text(self, kind: str) -> str:
        return (
            f"{self.files} mutated {kind}: {self.refused} refused, {self.failed} samples failed by "
            f"name, {self.compared} loaded as PIL decodes them, {self.not_compared} loaded where "
            "PIL refuses or the size is another"
        )


def check_policies(root: Path, epoch: Epoch, paths: list[Path]) -> None:
    """`raise` ends at the first bad batch and names a bad file; `replace` fills every place."""
    first_bad = min(epoch.failures, default=len(paths))
    batches = 0
    try:
        for _ in open_loader(root, on_error="raise"):
            batches += 1
        check(not epoch.failures, f"{root}: no error was raised")
    except UnstarveError as error:
        check(batches == first_bad // BATCH, f"{root}: raised after {batches} batches")
        bad = [str(paths[index]) for index in epoch.failures]
        check(any(name in str(error) for name in bad), f"{root}: names no bad file: {error}")
    if len(epoch.failures) == len(paths):
        return
    replaced = open_loader(root, on_error="replace")
    images = [image for batch, _ in replaced for image in batch]
    check(len(images) == len(paths), f"{root}: replaced to {len(images)} samples")
    sound = [images[index] for index in range(len(paths)) if index not in epoch.failures]
    same = all(map(np.array_equal, sound, epoch.images))
    check(same, f"{root}: on_error='replace' changed a sound sample")


def damage_jpegs(scratch: Path, count: int, draw: random.Random) -> str:
    tally, watch = Tally(), Watch(count)
    root = scratch / "jpegs"
    root.mkdir()
    while tally.files < count:
        files = []
        for index in range(min(GROUP, count - tally.files)):
            jpeg, how = mutate(made_jpeg(draw.randrange(64)), draw)
            path = root / f"{index:05}.jpg"
            path.write_bytes(jpeg)
            files.append((path, jpeg, how))
        paths = [path for path, _, _ in files]
        epoch = run_epoch(open_loader(root))
        for index, message in epoch.failures.items():
            check(str(paths[index]) in message, f"an error does not name {paths[index]}: {message}")
        what = f"group at {tally.files}"
        tally.files += len(files)
        tally.compare(epoch, [jpeg for _, jpeg, _ in files], [0] * len(files), what)
        check_policies(root, epoch, paths)
        for path in paths:
            path.unlink()
        watch.seen(tally.files)
    return f"{tally.text('JPEG files')}; {watch.text()}"


def listed_by_python(tar: bytes) -> tuple[list[bytes], list[int]] | None:
    """Images and labels as WebDataset groups them: neighbours of one name are a sample. None where
    Python's tarfile reads no tar."""
    groups: list[tuple[str, dict[str, bytes]]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(tar), mode="r:", errorlevel=2) as opened:
            for member in opened:
                if not member.isreg():
                    continue
                name, _, ending = member.name.partition(".")
                content = opened.extractfile(member)
                data = content.read() if content else b""
                if not groups or groups[-1][0] != name:
                    groups.append((name, {}))
                groups[-1][1][ending.lower()] = data
    except Exception:
        return None
    samples = [group for _, group in groups if "jpg" in group]
    labels = [int(group["cls"]) if re.fullmatch(rb"\d+", group.get("cls", b"")) else -1
              for group in samples]  # fmt: skip
    if all(label < 0 for label in labels):
        labels = [0] * len(labels)  # a tar without labels
    return [group["jpg"] for group in samples], labels


def damage_tars(scratch: Path, count: int, draw: random.Random) -> str:
    tally, watch = Tally(), Watch(count)
    originals = [made_tar(SAMPLES_PER_TAR, seed) for seed in range(0, 64, SAMPLES_PER_TAR)]
    path = scratch / "mutated.tar"
    unlisted = 0
    while tally.files < count:
        watch.seen(tally.files)
        tar, how = mutate(draw.choice(originals), draw)
        path.write_bytes(tar)
        what = f"tar {tally.files} ({how})"
        tally.files += 1
        epoch = load(path)
        if isinstance(epoch, str):
            tally.refused += 1
            check(str(path) in epoch, f"{what}: an error does not name it: {epoch}")
            continue
        for message in epoch.failures.values():
            check(str(path) in message, f"{what}: an error does not name it: {message}")
        listed = listed_by_python(tar)
        if listed is None:
            unlisted += 1
            continue
        jpegs, labels = listed
        # A tar that is cut off ends with a sample that fails and says so, whichever of its members
        # the cut lies in; Python lists it when that is not the image.
        ends_cut = any("cut off here" in message for message in epoch.failures.values())
        found = len(epoch.images) + len(epoch.failures)
        right = found == len(jpegs) or (ends_cut and found - 1 == len(jpegs))
        check(right, f"{what}: {found} samples, {len(jpegs)} lie in it")
        tally.compare(epoch, jpegs, labels, what)
    path.unlink()
    watch.seen(tally.files)
    return f"{tally.text('tars')}, {unlisted} that Python's tarfile cannot list; {watch.text()}"
