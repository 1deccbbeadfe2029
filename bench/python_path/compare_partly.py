#!/usr/bin/env python3
"""unstarve.DataLoader against torch's where only the first part of each sample is native.

Both run the same ImageFolder, transforms, collate function and number of workers in the same
process, in turn. Before anything is timed their batches are compared with crops that are not
random. Shown are medians over the repeats, with the extremes: images per CPU second (user and
system time of the process and its workers, their start and end included), and the ratio of the two
loaders within each repeat.

    PYTHONPATH=build/release/python python bench/python_path/compare_partly.py FOLDER
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils import data
from torch.utils.data import default_collate
from torchvision import datasets, transforms
from torchvision.transforms import v2
from unstarve import DataLoader

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
# One of 255, behind Normalize. Pillow's resize and torchvision's on tensors, which the engine's
# pixels are within 1 of, are 2 apart in some values of a million.
ONE = 1.01 / 255 / min(STD)
FURTHER_RATIO_MAX = 1e-5
BATCH = 64


MIXTURE = v2.RandomChoice([v2.MixUp(num_classes=1000), v2.CutMix(num_classes=1000)])
GIVEN: list[int] = []


def mixed(samples: list[Any]) -> Any:
    """As torchvision's documentation has it."""
    return MIXTURE(*default_collate(samples))


def blended(samples: list[Any]) -> Any:
    """A mixture that draws nothing."""
    images, labels = default_collate(samples)
    return images.lerp_(images.flip(0), 0.1), labels


def own_collate(samples: list[Any]) -> Any:
    """Unknown to the engine: it tells others what it does."""
    GIVEN[:] = [len(samples)]
    return blended(samples)


class Case(NamedTuple):
    name: str
    #: Behind the crop and the flip.
    rest: list[Any]
    collate: Callable[[list[Any]], Any] | None = None
    library: Any = transforms
    engine: str = "partly"


class OwnPerspective(transforms.RandomPerspective):  # type: ignore[misc]
    """Unknown to the engine, as every subclass."""


class OwnPerspectiveV2(v2.RandomPerspective):  # type: ignore[misc]
    """The same of the other library."""


TO_FLOAT = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
CASES = [
    Case("OwnPerspective, ToTensor, Normalize", [OwnPerspective(), *TO_FLOAT]),
    Case(
        "v2: ToImage, OwnPerspective, ToDtype, Normalize",
        [
            v2.ToImage(),
            OwnPerspectiveV2(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ],
        library=v2,
    ),
    Case("ToTensor, Normalize, own collate_fn", TO_FLOAT, own_collate),
]


#: All of these is the engine's.
V2_TO_FLOAT = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
NATIVE_CASES = [
    Case(f"{type(part).__name__}, native", [v2.ToImage(), part, *V2_TO_FLOAT], None, v2, "native")
    for part in (
        v2.RandomPerspective(p=1.0),
        v2.AugMix(),
        v2.ElasticTransform(),
        v2.JPEG((30, 95)),
        v2.Pad(8, padding_mode="reflect"),
    )
] + [
    Case(
        "GaussianNoise, native",
        [v2.ToImage(), V2_TO_FLOAT[0], v2.GaussianNoise(), V2_TO_FLOAT[1]],
        None,
        v2,
        "native",
    ),
    Case(
        "MixUp or CutMix in collate_fn, native", [v2.ToImage(), *V2_TO_FLOAT], mixed, v2, "native"
    ),
]
RANDOM = (
    *(OwnPerspective, OwnPerspectiveV2, v2.RandomPerspective, v2.AugMix, v2.JPEG),
    *(v2.ElasticTransform, v2.GaussianNoise),
)


def is_random(transform: Any) -> bool:
    return isinstance(transform, RANDOM)


def untouched(image: Any) -> Any:
    """Unknown to the engine, as OwnPerspective is: it does more than call others."""
    (image,) = [image]
    return image


def cpu_s() -> float:
    """Of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def check(case: Case, dataset: Any, workers: int) -> None:
    """Raises if a batch differs from torch's, or if nothing of it is native."""
    rest = [untouched if is_random(part) else part for part in case.rest]
    dataset.transform = case.library.Compose(
        [case.library.Resize(256), case.library.CenterCrop(224), *rest]
    )
    collate = blended if case.collate is mixed else case.collate
    options = {"batch_size": BATCH, "num_workers": workers, "collate_fn": collate}
    loader = DataLoader(dataset, **options)
    if loader.explain().engine not in ("native", "partly"):
        raise SystemExit(f"{case.name}: {loader.explain()}")
    for ours, theirs in zip(loader, data.DataLoader(dataset, **options), strict=True):
        apart = (ours[0] - theirs[0]).abs()
        further = float((apart > ONE).double().mean())
        if further > FURTHER_RATIO_MAX or float(apart.max()) > 2 * ONE:
            raise SystemExit(f"{case.name}: {float(apart.max())} from torch's pixels")
        if not torch.equal(ours[1], theirs[1]):
            raise SystemExit(f"{case.name}: other labels than torch's")


def images_per_cpu_s(case: Case, dataset: Any, workers: int, kind: Any) -> float:
    before, images = cpu_s(), 0
    options = {"batch_size": BATCH, "num_workers": workers, "collate_fn": case.collate}
    for batch, _ in kind(dataset, shuffle=True, **options):
        images += len(batch)
    return images / (cpu_s() - before)


def compare(case: Case, dataset: Any, workers: int, repeats: int) -> dict[str, Any]:
    check(case, dataset, workers)
    dataset.transform = case.library.Compose(
        [case.library.RandomResizedCrop(224), case.library.RandomHorizontalFlip(), *case.rest]
    )
    explained = DataLoader(dataset, batch_size=BATCH, collate_fn=case.collate).explain()
    if explained.engine != case.engine:
        raise SystemExit(f"{case.name}: {explained}")
    runs: dict[Any, list[float]] = {DataLoader: [], data.DataLoader: []}
    for repeat in range(repeats):
        for kind in sorted(runs, key=lambda kind: (kind is DataLoader) == bool(repeat % 2)):
            runs[kind].append(images_per_cpu_s(case, dataset, workers, kind))
    ours, theirs = runs[DataLoader], runs[data.DataLoader]
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return {
        "case": case.name,
        "workers": workers,
        "repeats": repeats,
        "unstarve_per_cpu_s": statistics.median(ours),
        "torch_per_cpu_s": statistics.median(theirs),
        "cpu_ratio": statistics.median(ratios),
        "cpu_ratio_min": ratios[0],
        "cpu_ratio_max": ratios[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a sub-folder of JPEGs per class")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--images", type=int, default=1000, help="per epoch, files repeated")
    parser.add_argument("--native", action="store_true", help="augmentations that are native")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    dataset = datasets.ImageFolder(str(options.folder))
    files = dataset.samples
    dataset.samples = [files[number % len(files)] for number in range(options.images)]
    print(f"torch {torch.__version__}, {options.images} images, medians of {options.repeats}")
    results = []
    for case in NATIVE_CASES if options.native else CASES:
        for workers in options.workers:
            row = compare(case, dataset, workers, options.repeats)
            results.append(row)
            print(
                f"{case.name:46}{workers:2} workers{row['unstarve_per_cpu_s']:7.0f}"
                f" ({row['torch_per_cpu_s']:5.0f}) per CPU-s, ratio {row['cpu_ratio']:.2f}"
                f" [{row['cpu_ratio_min']:.2f}..{row['cpu_ratio_max']:.2f}]",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
