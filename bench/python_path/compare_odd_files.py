#!/usr/bin/env python3
"""unstarve.DataLoader against torch's where some files are of another format than the rest.

Of the files of an ImageFolder of JPEGs, some are of one of --kinds and named .jpg. PPMs are such as
only Python can read. Both loaders run the same epochs in the same process, in turn; before anything
is timed their batches are compared with crops that are not random. Shown are medians over the
repeats, with the extremes, of the first epoch, in which the engine comes upon such files, and of a
later one, in which it knows them: seconds of each and the ratio of the two loaders within each
repeat, more than 1 where ours is faster.

    PYTHONPATH=build/release/python python bench/python_path/compare_odd_files.py FOLDER
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch.utils import data
from torchvision import datasets, transforms
from unstarve import DataLoader

BATCH = 32
#: As Pillow calls them. The engine decodes all but the last.
KINDS = ("JPEG", "GIF", "TIFF", "PPM")


def make_folder(photos: list[Path], scratch: Path, count: int, odd: int) -> None:
    """`count` files, `odd` of them, evenly spread, of the kind that the folder is named by."""
    (scratch / "only").mkdir(parents=True)
    for i in range(count):
        photo, path = photos[i % len(photos)], scratch / "only" / f"{i:05}.jpg"
        if (i + 1) * odd // count > i * odd // count:
            Image.open(photo).convert("RGB").save(path, format=scratch.name)
        else:
            path.symlink_to(photo.resolve())


def check(folder: Path, workers: int, by_python: int) -> None:
    """Raises if a batch differs from torch's, or if the engine does not do the rest."""
    window = transforms.Compose(
        [transforms.Resize(256), transforms.CenterCrop(224), transforms.PILToTensor()]
    )
    dataset = datasets.ImageFolder(str(folder), window)
    loader = DataLoader(dataset, BATCH, num_workers=workers)
    for ours, theirs in zip(loader, data.DataLoader(dataset, BATCH), strict=True):
        # Pillow's resize is 2 apart from torchvision's on tensors in some values of a million.
        if int((ours[0].int() - theirs[0].int()).abs().max()) > 2:
            raise SystemExit("other pixels than torch's")
    if loader.stats().get("samples_by_python") != by_python:
        raise SystemExit(f"not as expected: {loader.explain()}")


def epochs_s(loader: Any) -> tuple[float, float]:
    """Of the first epoch and of the third."""
    times = []
    for _ in range(3):
        begun = time.monotonic()
        for _ in loader:
            pass
        times.append(time.monotonic() - begun)
    return times[0], times[2]


def compare(folder: Path, workers: int, repeats: int) -> list[dict[str, Any]]:
    crops = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
        ]
    )
    dataset = datasets.ImageFolder(str(folder), crops)
    runs: dict[Any, list[tuple[float, float]]] = {DataLoader: [], data.DataLoader: []}
    for repeat in range(repeats):
        for kind in sorted(runs, key=lambda kind: (kind is DataLoader) == bool(repeat % 2)):
            runs[kind].append(epochs_s(kind(dataset, BATCH, shuffle=True, num_workers=workers)))
    rows = []
    for which, epoch in enumerate(("first", "later")):
        ours = [run[which] for run in runs[DataLoader]]
        theirs = [run[which] for run in runs[data.DataLoader]]
        ratios = sorted(b / a for a, b in zip(ours, theirs, strict=True))
        rows.append(
            {
                "kind": folder.name,
                "workers": workers,
                "epoch": epoch,
                "unstarve_s": statistics.median(ours),
                "torch_s": statistics.median(theirs),
                "ratio": statistics.median(ratios),
                "ratio_min": ratios[0],
                "ratio_max": ratios[-1],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of JPEGs, with or without sub-folders")
    parser.add_argument("--count", type=int, default=400, help="files")
    parser.add_argument("--odd", type=int, default=7, help="of them: others")
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    found = options.folder.rglob("*")
    photos = sorted(path for path in found if path.suffix.lower() in (".jpg", ".jpeg"))
    print(f"torch {torch.__version__}, {options.odd} others in {options.count} files")
    results = []
    with tempfile.TemporaryDirectory(prefix="unstarve-odd-") as scratch:
        for kind in options.kinds:
            make_folder(photos, Path(scratch) / kind, options.count, options.odd)
        for workers, kind in itertools.product(options.workers, options.kinds):
            folder = Path(scratch) / kind
            check(folder, workers, options.odd if kind == "PPM" else 0)
            for row in compare(folder, workers, options.repeats):
                results.append(row)
                print(
                    f"{kind}, {workers} workers, {row['epoch']} epoch: {row['unstarve_s']:.2f} s"
                    f" ({row['torch_s']:.2f}), ratio {row['ratio']:.2f}"
                    f" [{row['ratio_min']:.2f}..{row['ratio_max']:.2f}]",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
