"""Collate functions of scripts: those that go on from torch's default collation, and others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils import data
from torch.utils.data import default_collate
from torchvision import transforms as v1
from torchvision.transforms import functional, v2

CLASSES = 2
MIXUP, CUTMIX = v2.MixUp(num_classes=CLASSES), v2.CutMix(alpha=0.7, num_classes=CLASSES)
EITHER = v2.RandomChoice([CUTMIX, MIXUP])
EITHER_OF_PYTHON = v1.RandomChoice([CUTMIX, MIXUP], p=[1, 2])
SOMETIMES = v2.Compose([v2.RandomApply([MIXUP], p=0.5), v2.RandomErasing(p=0.5)])


def mixed_in_turn(batch: Any) -> Any:
    return MIXUP(*default_collate(batch))


def either(batch: Any) -> Any:
    return EITHER(*data.default_collate(batch))


def either_of_python(batch: Any) -> Any:
    return EITHER_OF_PYTHON(*default_collate(batch))


def blended(batch: Any) -> Any:
    """In place, as the slots' next batches must not notice."""
    images, labels = default_collate(batch)
    return images.lerp_(images.flip(0), 0.1), labels


def named_again(batch: Any) -> Any:
    batch = default_collate(batch)
    images, labels = batch
    assert images.ndim == 4, "images"
    return {"image": images * 2, "label": labels, "count": len(images)}


class RandomMixUp(torch.nn.Module):  # type: ignore[misc]
    """After torchvision's references."""

    def __init__(self, p: float = 0.5, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.alpha, self.inplace = p, alpha, inplace

    def forward(self, batch: Any, target: Any) -> Any:
        if batch.ndim != 4:
            raise ValueError(f"Batch ndim should be 4. Got {batch.ndim}")
        if not self.inplace:
            batch = batch.clone()
            target = target.clone()
        if target.ndim == 1:
            target = torch.nn.functional.one_hot(target, num_classes=CLASSES).to(dtype=batch.dtype)
        if torch.rand(1).item() >= self.p:
            return batch, target
        share = float(torch._sample_dirichlet(torch.tensor([self.alpha, self.alpha]))[0])
        batch_rolled, target_rolled = batch.roll(1, 0), target.roll(1, 0)
        batch_rolled.mul_(1.0 - share)
        batch.mul_(share).add_(batch_rolled)
        target.mul_(share).add_(target_rolled.mul_(1.0 - share))
        return batch, target


class RandomCutMix(RandomMixUp):
    """After torchvision's references."""

    def forward(self, batch: Any, target: Any) -> Any:
        batch, rolled = batch.clone(), batch.roll(1, 0)
        if torch.rand(1).item() >= self.p:
            return batch, target
        _, _, width = functional.get_dimensions(batch)
        x, half = torch.randint(width, (1,)), int(0.5 * math.sqrt(0.5) * width)
        left, right = int(torch.clamp(x - half, min=0)), int(torch.clamp(x + half, max=width))
        batch[:, :, :, left:right] = rolled[:, :, :, left:right]
        return batch, target


REFERENCE = v2.RandomChoice([RandomMixUp(p=1.0), RandomCutMix()])


def of_references(batch: Any) -> Any:
    return REFERENCE(*default_collate(batch))


def columns(width: int, share: float) -> Any:
    cut = int(width * np.sqrt(1.0 - share))
    begin = np.random.randint(width)
    return begin, min(begin + cut, width)


def by_numpy(batch: Any) -> Any:
    images, labels = torch.utils.data.default_collate(batch)
    share = np.random.beta(1.0, 1.0)
    order = torch.randperm(images.size(0))
    left, right = columns(images.shape[3], share)
    images[:, :, :, left:right] = images[order, :, :, left:right]
    if random.random() < 0.3:
        images = torch.nn.functional.interpolate(images, size=random.choice((8, 12)))
    return images, labels, labels[order], share


class Collator:
    def __init__(self) -> None:
        self.mix = MIXUP

    def __call__(self, batch: Any) -> Any:
        images, labels = default_collate(batch)
        return self._mixed(images, labels)

    def method(self, batch: Any) -> Any:
        return self.mix(*default_collate(batch))

    def _mixed(self, images: Any, labels: Any) -> Any:
        return self.mix(images, labels)


def make_nested() -> Any:
    mix = v2.CutMix(num_classes=CLASSES)

    def collate_fn(batch: Any) -> Any:
        return mix(*default_collate(batch))

    return collate_fn


def sometimes(batch: Any) -> Any:
    images, labels = default_collate(batch)
    images, labels = SOMETIMES(images, labels)
    return images, labels


GOING_ON: list[Callable[[Any], Any]] = [
    *(mixed_in_turn, either, either_of_python, blended, named_again, of_references, by_numpy),
    *(Collator(), Collator().method, make_nested(), lambda batch: MIXUP(*default_collate(batch))),
    sometimes,
]

seen: list[Any] = []
counted = 0


def counts(batch: Any) -> Any:
    global counted
    counted += 1
    return default_collate(batch)


def tells(batch: Any) -> Any:
    seen.append(1)
    return default_collate(batch)


def looks_at_samples(batch: Any) -> Any:
    return default_collate(batch), len(batch)


def leaves_some_out(batch: Any) -> Any:
    return default_collate([sample for sample in batch if sample is not None])


def stacks_itself(batch: Any) -> Any:
    return torch.stack([sample[0] for sample in batch])


def collates_twice(batch: Any) -> Any:
    return default_collate(batch) + default_collate(batch)


def collates_in_a_loop(batch: Any) -> Any:
    for _ in range(2):
        images, _ = default_collate(batch)
    return images


def seeds(batch: Any) -> Any:
    torch.manual_seed(1)
    return default_collate(batch)


def asks_for_its_worker(batch: Any) -> Any:
    return default_collate(batch), data.get_worker_info()


def prints(batch: Any) -> Any:
    print("a batch")
    return default_collate(batch)


def keeps(batch: Any, kept: Any = seen) -> Any:
    kept += default_collate(batch)
    return kept


class Remembering:
    last: Any = None

    def __call__(self, batch: Any) -> Any:
        self.last = default_collate(batch)
        return self.last


class OwnMixUp(v2.MixUp):  # type: ignore[misc]
    """May do anything."""


OWN, BY_GETTER = OwnMixUp(num_classes=CLASSES), v2.MixUp(labels_getter=lambda batch: seen[0])
HOOKED = v2.MixUp(num_classes=CLASSES)
HOOKED.register_forward_hook(lambda *_: None)


def by_a_subclass(batch: Any) -> Any:
    return OWN(*default_collate(batch))


def by_a_getter(batch: Any) -> Any:
    return BY_GETTER(*default_collate(batch))


def by_a_hooked_one(batch: Any) -> Any:
    return HOOKED(*default_collate(batch))


OTHERS: list[Callable[[Any], Any]] = [
    *(counts, tells, looks_at_samples, leaves_some_out, stacks_itself, collates_twice),
    *(collates_in_a_loop, seeds, asks_for_its_worker, prints, keeps, Remembering()),
    *(by_a_subclass, by_a_getter, by_a_hooked_one),
]
