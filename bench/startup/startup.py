"""Time from nothing to the first batch of a large folder, and what its list costs in memory.

    python bench/startup/startup.py PHOTOS --unstarve build/release/src/cli/unstarve

PHOTOS is a folder with a few JPEGs. A temporary folder with --count hard links to them, in 1000
classes, is what is loaded: by `unstarve bench` twice with an empty list cache, and by torchvision's
ImageFolder with torch's DataLoader. Each run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLASSES = 1000
BATCH = 64

TORCH_RUN = f"""
import json, sys, time
begun = time.monotonic()
import torch
from torchvision import datasets
from torchvision.transforms import v2
imported = time.monotonic()
work = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(),
                   v2.PILToTensor()])
data = datasets.ImageFolder(sys.argv[1], work)
listed = time.monotonic()
loader = torch.utils.data.DataLoader(data, {BATCH}, shuffle=True, num_workers=2)
next(iter(loader))
print(json.dumps({{"import_s": imported - begun, "list_s": listed - imported,
                   "first_batch_s": time.monotonic() - imported, "samples": len(data)}}))
"""


def make_links(photos: Path, folder: Path, count: int) -> None:
    """Hard links: as many directory entries as files, without their bytes."""
    images = sorted(p for p in photos.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    if not images:
        raise SystemExit(f"{photos} holds no JPEG")
    copies = []
    for i, image in enumerate(images):  # a link needs the same file system
        copy = folder / f"image{i}"
        copy.write_bytes(image.read_bytes())
        copies.append(str(copy))
    data = folder / "data"
    for number in range(min(CLASSES, count)):
        (data / f"n{number:08d}").mkdir(parents=True)
    # ext4 allows 65,000 links to one file.
    if count > 60_000 * len(copies):
        raise SystemExit(f"{count} links need more than {len(copies)} photos")
    for i in range(count):
        name = f"n{i % CLASSES:08d}"
        os.link(copies[i % len(copies)], data / name / f"{name}_{i}.JPEG")


def run_unstarve(binary: str, data: Path, cache: Path) -> dict[str, float]:
    """One process that loads the first batch and stops."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [binary, "bench", str(data), "--first-batch", "--json", "--threads", "2"]
    begun = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    measured = json.loads(done.stdout)
    return {
        "first_batch_s": measured["first_batch_s"],
        "process_s": time.monotonic() - begun,
        "peak_rss_bytes": measured["peak_rss_bytes"],
    }


def run_torch(data: Path) -> dict[str, float]:
    """The same with torchvision's folder and two workers."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", TORCH_RUN, str(data)], capture_output=True, check=True, text=True
    )
    result: dict[str, float] = json.loads(done.stdout)
    result["process_s"] = time.monotonic() - begun
    return result


def main() -> int:
    """Makes the folder, runs all, prints a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--unstarve", default="unstarve", help="the program")
    parser.add_argument("--count", type=int, default=100_000, help="links; ImageNet: 1280000")
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made")
    parser.add_argument("--settle", type=float, default=3.0, help="s between making and listing")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        make_links(options.photos, Path(temporary), options.count)
        data = Path(temporary) / "data"
        cache = Path(temporary) / "cache"
        # A folder that changed less than two seconds before it was listed is listed again.
        time.sleep(options.settle)
        results["unstarve, first run"] = run_unstarve(options.unstarve, data, cache)
        results["unstarve, second run"] = run_unstarve(options.unstarve, data, cache)
        results["torch ImageFolder"] = run_torch(data)
        results["torch ImageFolder, again"] = run_torch(data)
        results["unstarve, third run"] = run_unstarve(options.unstarve, data, cache)
        kept = sum(file.stat().st_size for file in cache.rglob("*.folder"))
    if options.json:
        print(json.dumps({"samples": options.count, "list_bytes": kept, "runs": results}, indent=2))
        return 0
    print(f"{options.count} files in {CLASSES} folders; the kept list has {kept} bytes")
    print(f"{'':28} first batch    whole process")
    for name, run in results.items():
        print(f"{name:28} {run['first_batch_s']:9.2f} s  {run['process_s']:13.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
