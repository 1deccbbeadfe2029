"""Data sets whose samples are not the same each time, by all the ways that we know of.

`change()` is what happens between two passes, if it is not the making itself that differs.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import multiprocessing
import os
import random
import secrets
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, get_worker_info

COUNT = 60
EPOCH_OF_ALL: Any = multiprocessing.Value("d", 1.0)
SCALE = 1.0
OFFSETS = [0.0, 1.0]


class Hidden(Dataset):  # type: ignore[misc]
    """`folder` is the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base: Any = np.arange(COUNT * 512, dtype=np.float32).reshape(COUNT, 512)

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        return torch.from_numpy(self.base[index] + 1) * self.extra(index)

    def extra(self, index: int) -> Any:
        return 1.0

    def change(self) -> None:
        """Between two passes."""


class ByRandom(Hidden):
    def extra(self, index: int) -> Any:
        return random.random()


class ByNumpy(Hidden):
    def extra(self, index: int) -> Any:
        return np.random.rand()


class ByNumpyNormal(Hidden):
    def extra(self, index: int) -> Any:
        return np.random.normal()


class ByTorch(Hidden):
    def extra(self, index: int) -> Any:
        return torch.rand(())


class ByDropout(Hidden):
    def extra(self, index: int) -> Any:
        return torch.nn.functional.dropout(torch.ones(512), 0.5)


class OfOneSampleOnly(Hidden):
    def extra(self, index: int) -> Any:
        return random.random() if index == 37 else 1.0


class OfFewByTheirValue(Hidden):
    def extra(self, index: int) -> Any:
        return np.random.rand() if self.base[index].sum() > 15_000_000 else 1.0


class ByOwnRandom(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.source = random.Random(1)

    def extra(self, index: int) -> Any:
        return self.source.random()


class ByOwnGenerator(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.source = np.random.default_rng(1)

    def extra(self, index: int) -> Any:
        return self.source.random()


class ByOwnRandomState(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.parts = {"noise": [np.random.RandomState(1)]}

    def extra(self, index: int) -> Any:
        return self.parts["noise"][0].rand()


class ByOwnTorchGenerator(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.source = torch.Generator()

    def extra(self, index: int) -> Any:
        return torch.rand((), generator=self.source)


class ByOwnOfOneSample(ByOwnGenerator):
    def extra(self, index: int) -> Any:
        return self.source.random() if index == 41 else 1.0


class ByGeneratorMadeThere(Hidden):
    def extra(self, index: int) -> Any:
        return np.random.default_rng().random() if index == 41 else 1.0


class BySystemRandom(Hidden):
    def extra(self, index: int) -> Any:
        return secrets.randbelow(1000) if index == 41 else 1.0


class ByClock(Hidden):
    def extra(self, index: int) -> Any:
        return time.time() if index == 41 else 1.0


class ByClockImportedThere(Hidden):
    def extra(self, index: int) -> Any:
        import time as clock

        return clock.perf_counter() if index == 41 else 1.0


class ByClockOfThatName(Hidden):
    def extra(self, index: int) -> Any:
        from time import monotonic as now

        return now() if index == 41 else 1.0


class ByClockItHolds(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.now = time.time

    def extra(self, index: int) -> Any:
        return self.now() if index == 41 else 1.0


class ByModuleItHolds(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.clock = time

    def extra(self, index: int) -> Any:
        return self.clock.time() if index == 41 else 1.0


class ByModuleAround(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        clock = time

        def factor(index: int) -> float:
            return clock.perf_counter() if index == 41 else 1.0

        self.factor = factor

    def extra(self, index: int) -> Any:
        return self.factor(index)


class ByDate(Hidden):
    def extra(self, index: int) -> Any:
        return datetime.datetime.now().microsecond if index == 41 else 1.0


class ByProcess(Hidden):
    def extra(self, index: int) -> Any:
        return os.getpid() if index == 41 else 1.0


class ByThread(Hidden):
    def extra(self, index: int) -> Any:
        return threading.get_ident() if index == 41 else 1.0


class ByWorker(Hidden):
    def extra(self, index: int) -> Any:
        worker = get_worker_info()
        return 0.0 if worker is None else 1.0 + worker.id


class ByNumberThatIsNew(Hidden):
    def extra(self, index: int) -> Any:
        return uuid.uuid4().int % 1000 if index == 41 else 1.0


class BySystemsBytes(Hidden):
    def extra(self, index: int) -> Any:
        return os.urandom(1)[0] if index == 41 else 1.0


class ByAddress(Hidden):
    def extra(self, index: int) -> Any:
        return id(object()) if index == 41 else 1.0


class ByHashOfText(Hidden):
    def extra(self, index: int) -> Any:
        return hash(f"{index}") % 1000 if index == 41 else 1.0


class ByVariableOfTheSystem(Hidden):
    def extra(self, index: int) -> Any:
        return float(os.environ.get("UNSTARVE_TEST_SCALE", "1"))

    def change(self) -> None:
        os.environ["UNSTARVE_TEST_SCALE"] = "3"


class ByGlobal(Hidden):
    def extra(self, index: int) -> Any:
        return SCALE

    def change(self) -> None:
        global SCALE
        SCALE += 1


class ByGlobalList(Hidden):
    def extra(self, index: int) -> Any:
        return OFFSETS[1]

    def change(self) -> None:
        OFFSETS[1] += 1


class ByEpoch(Hidden):
    epoch = 0

    def extra(self, index: int) -> Any:
        return 1.0 + self.epoch

    def change(self) -> None:
        self.epoch += 1


class ByAttributeOfTheClass(Hidden):
    power = 1.0

    def extra(self, index: int) -> Any:
        return self.power

    def change(self) -> None:
        type(self).power += 1


class ByPartOfAPart(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.settings = {"augment": {"strength": [1.0]}}

    def extra(self, index: int) -> Any:
        return self.settings["augment"]["strength"][0]

    def change(self) -> None:
        self.settings["augment"]["strength"][0] += 1


class ByClosure(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        strength = 1.0

        def factor() -> float:
            return strength

        def raised() -> None:
            nonlocal strength
            strength += 1

        self.factor, self.raised = factor, raised

    def extra(self, index: int) -> Any:
        return self.factor()

    def change(self) -> None:
        self.raised()


class ByDefaultArgument(Hidden):
    def extra(self, index: int, kept: list[float] = [1.0]) -> Any:  # noqa: B006
        return kept[0]

    def change(self) -> None:
        type(self).extra.__defaults__[0][0] += 1  # type: ignore[index]


class ByNumberOfCalls(Hidden):
    calls = 0

    def extra(self, index: int) -> Any:
        self.calls += 1
        return 2.0 if self.calls % 7 == 0 else 1.0


class ByCount(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.count = itertools.count()

    def extra(self, index: int) -> Any:
        return 1.0 + next(self.count)


class ByCountOfOneSample(ByCount):
    def extra(self, index: int) -> Any:
        return 1.0 + next(self.count) if index == 41 else 1.0


def numbers() -> Any:
    number = 0.0
    while True:
        number += 1
        yield number


class ByGeneratorFunction(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.numbers = numbers()

    def extra(self, index: int) -> Any:
        return next(self.numbers) if index == 41 else 1.0


class ByLazyCache(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.seen: dict[int, float] = {}

    def extra(self, index: int) -> Any:
        return self.seen.setdefault(index % 8, float(len(self.seen)) + index)


class ByFunctionsCache(Hidden):
    @functools.lru_cache(maxsize=4)  # noqa: B019
    def noise(self, key: int) -> float:
        return random.random()

    def extra(self, index: int) -> Any:
        return self.noise(index)


class ByChangeInPlace(Hidden):
    def extra(self, index: int) -> Any:
        self.base[index] *= 1.5
        return 1.0


class ByChangeOfOneRow(Hidden):
    def extra(self, index: int) -> Any:
        if index == 41:
            self.base[index] *= 1.5
        return 1.0


class ByChangeOfOthersRows(Hidden):
    def extra(self, index: int) -> Any:
        self.base[(index * 7 + 3) % COUNT] *= 1.5
        return 1.0


class ByTensorInPlace(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.weights = torch.ones(COUNT, 512)

    def extra(self, index: int) -> Any:
        return self.weights[index].add_(1).clone()


class BySharedTensor(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.epoch = torch.ones(1).share_memory_()

    def extra(self, index: int) -> Any:
        return float(self.epoch)

    def change(self) -> None:
        self.epoch.numpy()[0] += 1  # as another process would


class ByLargeSharedTensor(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.scales = torch.ones(COUNT, 512).share_memory_()

    def extra(self, index: int) -> Any:
        return self.scales[index].clone()

    def change(self) -> None:
        self.scales.numpy()[41] += 1  # as another process would


class BySharedValue(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.epoch = EPOCH_OF_ALL
        self.epoch.value = 1.0

    def extra(self, index: int) -> Any:
        return self.epoch.value

    def change(self) -> None:
        self.epoch.value += 1


class Noise:
    """A transform of its own."""

    def __init__(self) -> None:
        self.source = np.random.Generator(np.random.PCG64(3))

    def __call__(self, value: float) -> float:
        return float(value + self.source.normal())


class ByOwnTransform(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.transforms = [float, Noise()]

    def extra(self, index: int) -> Any:
        value: Any = 1.0
        transform: Any
        for transform in self.transforms:
            value = transform(value)
        return value


class ByLambda(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.transform: Any = lambda x: x * time.monotonic() if x > 40 else x

    def extra(self, index: int) -> Any:
        return self.transform(index)


def stretched(x: float, by: Any) -> float:
    return x * float(by.uniform(1, 2)) if x > 40 else x


class ByPartial(Hidden):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.transform = functools.partial(stretched, by=random.Random(4))

    def extra(self, index: int) -> Any:
        return self.transform(index)


class ByTorchvision(Hidden):
    def __init__(self, folder: Path) -> None:
        from torchvision import transforms

        super().__init__(folder)
        self.transform = transforms.RandomApply([torch.nn.Threshold(0.5, 20.0)], 0.3)

    def extra(self, index: int) -> Any:
        return self.transform(torch.ones(512) * 0.1)
