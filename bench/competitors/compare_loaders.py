#!/usr/bin/env python3
"""Compares unstarve's loader, on original files and on shards, with its peers on a folder of JPEGs.

Every loader does the same work in a process of its own: RandomResizedCrop(224, antialias) and
horizontal flip to uint8, batches of 64, files in the page cache. First all of them make the same
evaluation images, which are compared pixel by pixel; then a few epochs each in turn, again and
again. The figure is images per CPU second (user + system, workers included): medians and ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from loaders import LOADERS, OURS, PEERS, SHARDS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUFFIXES = {".jpg", ".jpeg"}
# Decoders and filters round differently; a mean above this is another image.
MEAN_DIFFERENCE_MAX = 2.0
# These cannot do the same: SPDL's scale filter is not antialiased in the same way; FFCV reads a
# lossy copy and resizes with INTER_AREA. Their rows say so.
UNLIKE = {"spdl": 6.0, "ffcv": 6.0}


@dataclass
class Setting:
    python: str
    root: Path  # class folders with JPEGs
    scratch: Path
    errors: IO[str]  # what the loaders print


class Worker:
    """A loader_worker.py process."""

    def __init__(self, name: str, setting: Setting, threads: int) -> None:
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "build/release/python"))
        self.name = name
        command = [setting.python, str(HERE / "loader_worker.py"), name, str(setting.root)]
        self._process = subprocess.Popen(
            [*command, str(setting.scratch), "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=setting.errors,
            text=True,
            env=environment,
        )
        self.read()

    def read(self) -> dict[str, Any]:
        stdout: IO[str] | None = self._process.stdout
        assert stdout is not None
        line = stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended early: see --log, or run loader_worker.py by hand")
        return dict(json.loads(line))

    def ask(self, command: str) -> dict[str, Any]:
        stdin: IO[str] | None = self._process.stdin
        assert stdin is not None
        stdin.write(command + "\n")
        stdin.flush()
        return self.read()

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def class_folder(source: Path, target: Path, copies: int) -> Path:
    """A view of `source` with one class folder, as every loader here wants it, and each file
    `copies` times, so that what a loader does once per epoch does not weigh on small samples."""
    (target / "all").mkdir(parents=True)
    files = [path for path in sorted(source.rglob("*")) if path.suffix.lower() in SUFFIXES]
    for copy in range(copies):
        for number, file in enumerate(files):
            (target / "all" / f"{copy}_{number:06d}.jpg").symlink_to(file.resolve())
    return target


def mean_difference(image: np.ndarray, reference: np.ndarray) -> float:
    """Of 255. The peers round the corner of the centre crop differently, so that the best of the
    shifts by up to one pixel counts."""
    inner = reference[:, 1:-1, 1:-1]
    height, width = inner.shape[1:]
    return min(
        float(np.abs(image[:, y : y + height, x : x + width] - inner).mean())
        for y in range(3)
        for x in range(3)
    )


def compare_results(workers: list[Worker], folder: Path) -> None:
    images = {}
    for worker in workers:
        images[worker.name] = np.load(worker.ask(f"evaluate {folder}")["written"])
    reference = images["torch_tv"].astype(np.int16)
    for name, pixels in images.items():
        if pixels.shape != reference.shape:
            raise SystemExit(f"{name} made {pixels.shape}, torch_tv {reference.shape}")
        differences = [
            mean_difference(image.astype(np.int16), wanted)
            for image, wanted in zip(pixels, reference, strict=True)
        ]
        print(
            f"  {name:13s} {len(pixels)} images; difference to torch_tv per image: mean "
            f"{statistics.mean(differences):.3f} of 255, largest {max(differences):.3f}"
        )
        if statistics.mean(differences) > UNLIKE.get(name, MEAN_DIFFERENCE_MAX):
            raise SystemExit(f"{name} makes other images: there is nothing to compare")


def machine() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} CPUs"
    return platform.processor()


def measure(workers: list[Worker], repeats: int) -> dict[str, list[dict[str, float]]]:
    for worker in workers:
        worker.ask("epoch")  # warm-up: threads, buffers, page cache
    results: dict[str, list[dict[str, float]]] = {worker.name: [] for worker in workers}
    for _ in range(repeats):
        for worker in workers:
            results[worker.name].append(worker.ask("epoch"))
    return results


def report(results: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    summary = {}
    for name, epochs in results.items():
        per_cpu = [epoch["images"] / epoch["cpu_s"] for epoch in epochs]
        per_wall = [epoch["images"] / epoch["wall_s"] for epoch in epochs]
        summary[name] = {
            "images_per_cpu_s": statistics.median(per_cpu),
            "images_per_cpu_s_min": min(per_cpu),
            "images_per_cpu_s_max": max(per_cpu),
            "images_per_s": statistics.median(per_wall),
        }
    peers = [name for name in summary if name not in OURS]
    best = max(peers, key=lambda name: summary[name]["images_per_cpu_s"])
    for name, figures in summary.items():
        print(
            f"  {name:13s} {figures['images_per_cpu_s']:7.0f} images per CPU second "
            f"[{figures['images_per_cpu_s_min']:.0f}..{figures['images_per_cpu_s_max']:.0f}]  "
            f"{figures['images_per_s']:7.0f} images/s  / best peer ({best}): "
            f"{figures['images_per_cpu_s'] / summary[best]['images_per_cpu_s']:.2f}"
            f"{'  (not the same work)' if name in UNLIKE else ''}"
        )
    return summary


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pack(root: Path, scratch: Path) -> None:
    """Writes the shards that the loaders named `shards` read."""
    program = ROOT / "build/release/src/cli/unstarve"
    subprocess.run([program, "pack", root, scratch / SHARDS], check=True, stdout=subprocess.DEVNULL)
    ratio = folder_bytes(scratch / SHARDS) / folder_bytes(root)
    print(f"shards: {ratio:.3f} times the bytes of the originals")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--copies", type=int, default=5, help="of each file in an epoch")
    parser.add_argument(
        "--python", default=sys.executable, help="interpreter with requirements.txt installed"
    )
    parser.add_argument("--loaders", nargs="+", default=["unstarve", "shards", *PEERS])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="what they print")
    args = parser.parse_args()
    if unknown := set(args.loaders) - set(LOADERS):
        parser.error(f"unknown loaders {sorted(unknown)}: take some of {sorted(LOADERS)}")
    print(machine())
    everything = {}
    with tempfile.TemporaryDirectory() as temporary, args.log.open("w") as errors:
        scratch = Path(temporary)
        root = class_folder(args.folder.resolve(), scratch / "view", args.copies)
        setting = Setting(args.python, root, scratch, errors)
        if any(name.startswith(SHARDS) for name in args.loaders):
            pack(root, scratch)
        for threads in args.threads:
            print(f"{threads} thread(s) or worker(s), {args.repeats} interleaved epochs each")
            workers = [Worker(name, setting, threads) for name in args.loaders]
            compare_results(workers, scratch)
            everything[str(threads)] = report(measure(workers, args.repeats))
            for worker in workers:
                worker.close()
    if args.json:
        args.json.write_text(json.dumps(everything, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
