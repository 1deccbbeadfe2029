#!/usr/bin/env python3
"""What `unstarve.cached()` costs in the first pass and saves in the second, by kind of data.

Prints for each kind: milliseconds that torch takes for a sample; the CPU time of the first pass
with the cache as a multiple of torch's; how many times as fast the second pass is. Medians of
interleaved repeats, in one process without workers. The samples of all passes are compared to the
bit before anything is printed. With `--peers` other libraries that keep samples (`peers.py`) keep
the same ones, where they are installed:

    .venv/bin/pip install --target DIR monai litdata datasets
    PYTHONPATH=build/release/python .venv/bin/python bench/sample_cache/sample_cache.py
    PYTHONPATH=build/release/python:DIR .venv/bin/python bench/sample_cache/sample_cache.py --peers
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import unstarve
from peers import installed_peers
from PIL import Image
from torch.utils.data import DataLoader, Dataset

PHOTOS = Path(__file__).resolve().parents[2] / "tests/data/photos"


class Text(Dataset):  # type: ignore[misc]
    """Documents by a tokenizer of the `tokenizers` library, as transformers calls it."""

    def __init__(self, count: int) -> None:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast

        draw = random.Random(1)
        words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(3000)]
        self.texts = [" ".join(draw.choices(words, k=1500)) for _ in range(count)]
        model = Tokenizer(models.BPE(unk_token="[UNK]"))
        model.pre_tokenizer = pre_tokenizers.Whitespace()
        special = ["[UNK]", "[PAD]"]
        model.train_from_iterator(
            self.texts[:50], trainers.BpeTrainer(vocab_size=2000, special_tokens=special)
        )
        self.tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=model, unk_token="[UNK]", pad_token="[PAD]"
        )

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> Any:
        encoded = self.tokenizer(
            self.texts[index], truncation=True, padding="max_length", max_length=512
        )
        return {name: torch.tensor(values) for name, values in encoded.items()}


class Spectrograms(Dataset):  # type: ignore[misc]
    """Of two seconds of sound each."""

    def __init__(self, count: int) -> None:
        self.waves = np.random.default_rng(1).standard_normal((count, 32000), dtype=np.float32)
        self.window = torch.hann_window(1024)
        self.bank = torch.rand(513, 64, generator=torch.Generator().manual_seed(1))

    def __len__(self) -> int:
        return len(self.waves)

    def __getitem__(self, index: int) -> Any:
        wave = torch.from_numpy(self.waves[index] / np.abs(self.waves[index]).max())
        power = torch.stft(wave, 1024, 256, window=self.window, return_complex=True).abs() ** 2
        return torch.log(power.T @ self.bank + 1e-6), index % 10


class Windows(Dataset):  # type: ignore[misc]
    """Of a series of 16 channels, with features by NumPy."""

    def __init__(self, count: int) -> None:
        self.series: Any = np.random.default_rng(1).standard_normal((count + 1000, 16))

    def __len__(self) -> int:
        return len(self.series) - 1000

    def __getitem__(self, index: int) -> Any:
        window = self.series[index : index + 1000]
        window = (window - window.mean(0)) / window.std(0)
        kernel = np.ones(50) / 50
        smooth = [np.convolve(window[:, k], kernel, "same") for k in range(window.shape[1])]
        ranks = np.argsort(np.argsort(window, 0), 0) / len(window)
        joined = np.concatenate([window, np.stack(smooth, 1), ranks], 1)
        return torch.from_numpy(joined.astype(np.float32)), float(window[-1, 0])


class Masks(Dataset):  # type: ignore[misc]
    """Photographs with a mask for each pixel."""

    def __init__(self, count: int) -> None:
        photos = sorted(PHOTOS.glob("*.jpg"))
        self.paths = [photos[i % len(photos)] for i in range(count)]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        with Image.open(self.paths[index]) as image:
            pixels = np.asarray(image.convert("RGB").resize((224, 224)), dtype=np.float32) / 255
        mask = (pixels.mean(2) > 0.5).astype(np.int64)
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy()), torch.from_numpy(mask)


class Detection(Masks):
    """Photographs with boxes, by torchvision v2."""

    def __init__(self, count: int) -> None:
        from torchvision.transforms import v2

        super().__init__(count)
        draw = random.Random(1)
        self.boxes = [
            [[draw.random() * 99 for _ in range(4)] for _ in range(5)] for _ in self.paths
        ]
        self.transform = v2.Compose(
            [v2.Resize((256, 256)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
        )

    def __getitem__(self, index: int) -> Any:
        from torchvision import tv_tensors

        with Image.open(self.paths[index]) as image:
            picture = image.convert("RGB")
        size = (picture.height, picture.width)
        boxes = tv_tensors.BoundingBoxes(
            torch.tensor(self.boxes[index]), format="XYXY", canvas_size=size
        )
        return self.transform(picture, {"boxes": boxes, "labels": torch.arange(5)})


KINDS: list[tuple[str, Callable[[int], Any], int]] = [
    ("text", Text, 300),
    ("spectrograms", Spectrograms, 300),
    ("windows", Windows, 300),
    ("masks", Masks, 200),
    ("detection", Detection, 200),
]


def cpu_s() -> float:
    """Of this process and of those that it had."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def one_pass(dataset: Any) -> tuple[float, float, list[Any]]:
    """Wall seconds, CPU seconds, samples."""
    begun, cpu = time.perf_counter(), cpu_s()
    samples = list(DataLoader(dataset, batch_size=None))
    return time.perf_counter() - begun, cpu_s() - cpu, samples


def are_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return bool(one.dtype == other.dtype and torch.equal(one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(are_same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(are_same, one, other))
    return bool(one == other)


Keep = Callable[[Any, Path], Any]


def ours(dataset: Any, folder: Path) -> Any:
    return unstarve.cached(dataset, folder=str(folder))


def two_passes(make: Callable[[], Any], keep: Keep, expected: list[Any]) -> tuple[float, float]:
    """CPU seconds until the first pass has ended, with what comes before it; wall seconds of the
    second. NaN where the samples are not those of the data set."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = make()
        begun = cpu_s()
        kept = keep(dataset, Path(folder))
        made = one_pass(kept)[2]
        first_cpu = cpu_s() - begun
        second_s, _, served = one_pass(kept)
        if not are_same(made, expected) or not are_same(served, expected):
            return math.nan, math.nan
        if keep is ours and f"{len(expected)} were served" not in kept.explain():
            raise SystemExit(kept.explain())
    return first_cpu, second_s


def measure(
    name: str, make: Callable[[int], Any], count: int, repeats: int, keepers: dict[str, Keep]
) -> None:
    plain = make(count)
    one_pass(plain)
    torch_ms: list[float] = []
    first: dict[str, list[float]] = {keeper: [] for keeper in keepers}
    second: dict[str, list[float]] = {keeper: [] for keeper in keepers}
    for _ in range(repeats):
        plain_s, plain_cpu, expected = one_pass(plain)
        torch_ms.append(1e3 * plain_s / count)
        for keeper, keep in keepers.items():
            cpu, wall = two_passes(lambda: make(count), keep, expected)
            first[keeper].append(cpu / plain_cpu)
            second[keeper].append(plain_s / wall)
    median = statistics.median
    for keeper in keepers:
        if math.isnan(median(second[keeper])):
            print(f"{name:14}{keeper:26}gives other samples")
            continue
        print(
            f"{name:14}{keeper:26}{median(torch_ms):8.2f} ms{median(first[keeper]):10.2f}x"
            f"{median(second[keeper]):12.1f}x   (first {min(first[keeper]):.2f} to "
            f"{max(first[keeper]):.2f}, second {min(second[keeper]):.1f} to "
            f"{max(second[keeper]):.1f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--times", type=int, default=1, help="so many times as many samples")
    parser.add_argument("--peers", action="store_true", help="other libraries as well")
    parser.add_argument("--only", nargs="*", default=[name for name, _, _ in KINDS])
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    keepers: dict[str, Keep] = {"unstarve.cached": ours}
    if options.peers:
        keepers.update(installed_peers())
    print("kind          kept by                     torch    first pass  second pass faster")
    for name, make, count in KINDS:
        if name in options.only:
            measure(name, make, options.times * count, options.repeats, keepers)


if __name__ == "__main__":
    main()
