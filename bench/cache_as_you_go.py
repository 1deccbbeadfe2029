#!/usr/bin/env python3
"""What does the loader's cache cost in the first epoch, and what does it give in the later ones?

Each repeat runs three epochs over a folder of JPEGs twice: without a cache, and with one in a
folder that is empty before. The two take turns at going first. Before anything is timed, the
batches of all epochs are compared, byte for byte. Nothing but the loading takes place, so the
threads never wait for a consumer. Shown are medians over the repeats: wall and CPU time of each
epoch, how much faster the second epoch is than the first, and what the first costs in CPU time
against the first without a cache. One repeat that does not count goes before; with --copies, a
small folder is read that many times in each epoch, under other names.

    PYTHONPATH=build/release/python python bench/cache_as_you_go.py FOLDER --json result.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from unstarve import ImageLoader

EPOCHS = 3


def make_loader(options: argparse.Namespace, cache_dir: str | None) -> ImageLoader:
    return ImageLoader(
        options.folder,
        options.batch_size,
        threads=options.threads,
        prefetch=8,
        output="numpy",
        cache_dir=cache_dir,
    )


def fingerprints(loader: ImageLoader) -> list[str]:
    """One digest of all batches for each epoch."""
    digests = []
    for _ in range(EPOCHS):
        digest = hashlib.blake2b()
        for images, labels in loader:
            digest.update(images.tobytes())
            digest.update(labels.tobytes())
        digests.append(digest.hexdigest())
    return digests


def check_equal(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=options.cache_parent) as folder:
        cached = make_loader(options, folder)
        if fingerprints(cached) != fingerprints(make_loader(options, None)):
            raise SystemExit("the cache changed the data: nothing is timed")
        print("batches of all epochs are the same with and without the cache")
        for line in cached.explain():
            print(f"  {line}")


def timed_epochs(loader: ImageLoader) -> list[dict[str, float]]:
    """Wall and CPU seconds of each epoch; CPU is that of the whole process."""
    epochs = []
    for _ in range(EPOCHS):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in loader:
            pass
        epochs.append({"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu})
    return epochs


def run_with_cache(options: argparse.Namespace) -> tuple[list[dict[str, float]], dict[str, int]]:
    with tempfile.TemporaryDirectory(dir=options.cache_parent) as folder:
        loader = make_loader(options, folder)
        return timed_epochs(loader), loader.stats()


def make_copies(folder: Path, copies: int, target: Path) -> Path:
    """Copies of every file under other names; links would change the files' times."""
    for source in sorted(path for path in folder.rglob("*") if path.is_file()):
        for number in range(copies):
            place = target / source.relative_to(folder).with_stem(f"{source.stem}-{number}")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)
    return target


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The first repeat fills caches and pools, and is left out."""
    repeats = []
    for number in range(options.repeats + 1):
        repeat: dict[str, Any] = {}
        for name in ("with", "without") if number % 2 else ("without", "with"):
            if name == "with":
                repeat["with"], repeat["stats"] = run_with_cache(options)
            else:
                repeat["without"] = timed_epochs(make_loader(options, None))
        repeats.append(repeat)
    return repeats[1:]


def median_of(repeats: list[dict[str, Any]], kind: str, epoch: int, what: str) -> float:
    return float(statistics.median(repeat[kind][epoch][what] for repeat in repeats))


def summarise(repeats: list[dict[str, Any]], images: int) -> dict[str, Any]:
    rows = []
    for kind in ("without", "with"):
        for epoch in range(EPOCHS):
            wall, cpu = (median_of(repeats, kind, epoch, what) for what in ("wall_s", "cpu_s"))
            rows.append(
                {
                    "cache": kind,
                    "epoch": epoch + 1,
                    "wall_s": wall,
                    "cpu_s": cpu,
                    "images_per_s": images / wall,
                    "cpu_us_per_image": cpu / images * 1e6,
                }
            )
    ratios = {
        "second_over_first_speed": [
            r["with"][0]["wall_s"] / r["with"][1]["wall_s"] for r in repeats
        ],
        "second_over_first_cpu": [r["with"][0]["cpu_s"] / r["with"][1]["cpu_s"] for r in repeats],
        "first_cpu_with_over_without": [
            r["with"][0]["cpu_s"] / r["without"][0]["cpu_s"] for r in repeats
        ],
        "second_speed_with_over_without": [
            r["without"][1]["wall_s"] / r["with"][1]["wall_s"] for r in repeats
        ],
    }
    return {
        "epochs": rows,
        "ratios": {
            name: {
                "median": statistics.median(values),
                "least": min(values),
                "most": max(values),
            }
            for name, values in ratios.items()
        },
    }


def show(summary: dict[str, Any]) -> None:
    for row in summary["epochs"]:
        print(
            f"{row['cache']:>8} cache, epoch {row['epoch']}: {row['wall_s']:.3f} s, "
            f"{row['images_per_s']:.0f} images/s, CPU {row['cpu_us_per_image']:.0f} us an image"
        )
    for name, value in summary["ratios"].items():
        print(f"{name}: {value['median']:.2f} ({value['least']:.2f} to {value['most']:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--copies", type=int, default=1, help="of each file of FOLDER")
    parser.add_argument(
        "--cache-parent", help="where the caches lie; by default the temporary folder"
    )
    parser.add_argument("--json", type=Path, help="write everything here")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} CPUs")
    with tempfile.TemporaryDirectory(dir=options.cache_parent) as copies:
        if options.copies > 1:
            options.folder = make_copies(options.folder, options.copies, Path(copies))
        check_equal(options)
        repeats = measure(options)
        summary = summarise(repeats, make_loader(options, None).sample_count)
    show(summary)
    if options.json:
        options.json.write_text(
            json.dumps({"threads": options.threads, **summary, "repeats": repeats}, indent=1)
        )


if __name__ == "__main__":
    main()
