"""What loading costs in memory: our threads against torch's worker processes.

    PYTHONPATH=build/release/python python bench/memory/memory.py PHOTOS --count 10000000

PHOTOS is a folder with a few JPEGs. A folder with --count hard links to them, in 1000 classes, is
the data set (or --data, such a folder that was kept). Each loader shuffles it and loads batches of
224x224 images in a process of its own; while it does, the proportional set size (PSS) of that
process and of all that it started is added up: a page that several share counts once in all.

torchvision's ImageFolder is given the list that it would make, instead of the time to make it. Its
workers get memory of their own for each path that they look up, as counting references copies the
page: --visits lets each look up so many more than those of the images that are loaded.
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

Told = dict[str, dict[str, int]]  # at each point of a run: bytes of each kind

CLASSES = 1000
BATCH = 64
KINDS = ("Pss", "Pss_Anon", "Pss_File", "Pss_Shmem")

# Each run loads what it needs, then tells its PSS after a growing number of batches.
TELL = f"""
import json, os, sys
import torch
root = sys.argv[1]
threads, batches, count, visits = (int(number) for number in sys.argv[2:])

def family(process):
    found = [process]
    for thread in os.listdir(f"/proc/{{process}}/task"):
        with open(f"/proc/{{process}}/task/{{thread}}/children") as children:
            for child in children.read().split():
                found += family(int(child))
    return found

def memory():
    total = {{"processes": 0, "Pss": 0, "Pss_Anon": 0, "Pss_File": 0, "Pss_Shmem": 0}}
    for process in family(os.getpid()):
        total["processes"] += 1
        for line in open(f"/proc/{{process}}/smaps_rollup"):
            name = line.split(":")[0]
            if name in total:
                total[name] += int(line.split()[1]) * 1024
    return total

def run(make):
    told = {{"imports": memory()}}
    loader = make()
    told["open"] = memory()
    batch = iter(loader)
    for number in range(1, batches + 1):
        images, labels = next(batch)
        assert images.shape == ({BATCH}, 3, 224, 224), images.shape
        if number in (batches // 4, batches):
            told[f"{{number}} batches"] = memory()
    print(json.dumps(told), flush=True)
    os._exit(0)  # workers and lists go at once
"""

UNSTARVE_RUN = (
    TELL
    + f"""
import unstarve
run(lambda: unstarve.ImageLoader(root, {BATCH}, threads=threads, seed=1))
"""
)

FOLDER = f"""
import random
from torchvision import datasets
from torchvision.transforms import v2
work = v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(),
                   v2.PILToTensor()])

def listed(directory, class_to_idx, *others, **more):
    return [(f"{{directory}}/{{name}}/{{name}}_{{i}}.JPEG", label)
            for name, label in class_to_idx.items() for i in range(label, count, {CLASSES})]

datasets.ImageFolder.make_dataset = staticmethod(listed)

def visit(worker):
    samples = torch.utils.data.get_worker_info().dataset.samples
    for other in range(visits):
        path, label = samples[random.randrange(count)]
"""

TORCH_RUN = (
    TELL
    + FOLDER
    + f"""
run(lambda: torch.utils.data.DataLoader(datasets.ImageFolder(root, work), {BATCH}, shuffle=True,
                                        num_workers=threads, worker_init_fn=visit))
"""
)

DROP_IN_RUN = (
    TELL
    + FOLDER
    + f"""
import unstarve
run(lambda: unstarve.DataLoader(datasets.ImageFolder(root, work), {BATCH}, shuffle=True,
                                num_workers=threads))
"""
)

RUNS = {
    "unstarve.ImageLoader": UNSTARVE_RUN,
    "unstarve.ImageLoader again": UNSTARVE_RUN,  # with the list that the first has kept
    "torch DataLoader": TORCH_RUN,
    "unstarve.DataLoader over ImageFolder": DROP_IN_RUN,
}


def make_links(photos: Path, folder: Path, count: int) -> Path:
    """Hard links: as many directory entries as files, without their bytes."""
    images = sorted(p for p in photos.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    # ext4 allows 65,000 links to one file.
    if count > 60_000 * len(images):
        raise SystemExit(f"{count} links need more than {len(images)} photos")
    copies = []
    for i, image in enumerate(images):  # a link needs the same file system
        copy = folder / f"image{i}"
        copy.write_bytes(image.read_bytes())
        copies.append(str(copy))
    data = folder / "data"
    for number in range(min(CLASSES, count)):
        name = f"n{number:08d}"
        (data / name).mkdir(parents=True)
        for i in range(number, count, CLASSES):
            os.link(copies[i % len(copies)], data / name / f"{name}_{i}.JPEG")
    return data


def measure(program: str, data: Path, options: argparse.Namespace, cache: Path) -> Told:
    """One process that loads and tells."""
    numbers = (options.threads, options.batches, options.count, options.visits)
    arguments = [str(data), *map(str, numbers)]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    told: Told = json.loads(done.stdout)
    return told


def show(results: dict[str, Told]) -> None:
    """PSS in MB at each point of each run."""
    print(f"{'':38} processes     PSS  anonymous    files   shared memory (MB)")
    for name, told in results.items():
        for point, memory in told.items():
            shown = [memory[kind] / 1e6 for kind in KINDS]
            label = f"{name}, {point}" if point == "imports" else f"    {point}"
            print(f"{label:44.44} {memory['processes']:3}", *(f"{mb:9.0f}" for mb in shown))


def main() -> int:
    """Makes the folder, runs all, prints a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--count", type=int, default=100_000, help="links")
    parser.add_argument("--threads", type=int, default=8, help="ours; torch: worker processes")
    parser.add_argument("--batches", type=int, default=40, help=f"of {BATCH} images, to be loaded")
    parser.add_argument("--visits", type=int, default=0, help="paths that each worker looks up")
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made")
    parser.add_argument("--data", type=Path, help="--count links that exist")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    parser.add_argument("--only", choices=RUNS, action="append")
    options = parser.parse_args()
    results: dict[str, Told] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        data = options.data or make_links(options.photos, Path(temporary), options.count)
        time.sleep(3)  # a folder that changed less than two seconds before is listed again
        for name in options.only or RUNS:
            results[name] = measure(RUNS[name], data, options, Path(temporary) / "cache")
    show(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
