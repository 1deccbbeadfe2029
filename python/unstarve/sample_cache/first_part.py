"""The part of a data set's samples that is made before the first random step of its transform."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from torch.utils.data import Subset

from unstarve.sample_cache.generators import Watch, others
from unstarve.sample_cache.graph import Graph
from unstarve.sample_cache.making import DRAWS, Made, Maker
from unstarve.sample_cache.noticing import READS_UNNOTICED, noticing
from unstarve.sample_cache.record import are_equal, is_alike, restored, to_parts

#: Classes that do nothing but one step after the other, by module and name.
_IN_TURN = frozenset(
    [
        ("torchvision.transforms.transforms", "Compose"),
        ("torchvision.transforms.v2._container", "Compose"),
        ("torch.nn.modules.container", "Sequential"),
    ]
)
#: Samples by which the first random step is found. One that draws seldom stops the cache later.
_TRIED = 4
_NO_PART = "does not hand on what its transform gives as it is"

Path = tuple[Any, ...]


class Unfinished(NamedTuple):
    """A sample up to that step."""

    value: Any  # that the next step is given
    rest: Any  # the sample, with None in the place of what the transform gives
    path: Path  # of that place: numbers and keys, from outside to inside


def _holder(dataset: Any) -> Any:
    """Of the transform: what a Subset is of."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return dataset


def steps_of(dataset: Any) -> list[Any]:
    """The steps of its transform; none where it has none that does one after the other."""
    transform: Any = getattr(_holder(dataset), "__dict__", {}).get("transform")
    kind = type(transform)
    if (kind.__module__, kind.__name__) not in _IN_TURN or getattr(transform, "_forward_hooks", {}):
        return []
    listed = getattr(transform, "transforms", None)
    return list(listed) if isinstance(listed, list) else list(transform.children())


def count_of_first(dataset: Any) -> int:
    """How many steps come before the first that draws random numbers. Makes samples."""
    steps = steps_of(dataset)
    watch = Watch(Graph(dataset).generators)
    counts = [len(steps)]

    def run(value: Any) -> Any:
        for number, step in enumerate(steps):
            before = watch.look_anew()
            value = step(value)
            if watch.look() != before:
                counts.append(number)
        return value

    for index in range(min(_TRIED, len(dataset))):
        with others(), _Instead(dataset, run):
            dataset[index]
    return min(counts)


class FirstPartMaker(Maker):
    """Keeps what comes before `count` steps are done, and does the others each time. While it makes
    a sample it stands in the place of the transform, so that all else is the data set's own."""

    def __init__(self, dataset: Any, graph: Graph, count: int) -> None:
        super().__init__(dataset, graph)
        steps = steps_of(dataset)
        self._first, self._rest = steps[:count], steps[count:]
        self._kept: list[Any] = []  # of the sample that is made: what goes into the rest
        self._looks: list[Any] = []  # at the generators: after the first part, after the rest
        self._obstacle = ""
        self._result: Any = None

    def make(self, index: int) -> Made:
        self.is_asking = False
        row = self._graph.row(index)
        before = self._watch.look_anew()
        with noticing() as noticed:
            sample = self._run(index, self._all)
        if len(self._kept) != 1:
            return Made(sample, obstacle=_NO_PART)
        if self._looks[0] != before or self._looks[1] != self._watch.look():
            return Made(sample, obstacle=DRAWS)
        if not self._graph.is_unchanged() or self._graph.row(index) != row:
            return Made(sample, obstacle="changes the data set, or what it refers to")
        if noticed.obstacle == READS_UNNOTICED:
            return Made(sample)  # as Maker's, but the rest is done once, as in the job without us
        if self._obstacle or noticed.obstacle:
            return Made(sample, obstacle=self._obstacle or noticed.obstacle)
        return self._packed_part(sample, noticed.marks)

    def is_made_again(self, index: int, sample: Any) -> bool:
        with others():
            try:
                made = self._run(index, self._only_first)
                again = self._unfinished(made)
            except Exception:
                return False
        return again is not None and are_equal(to_parts(again), to_parts(sample))

    def kept_of(self, sample: Any) -> Any:
        return self._unfinished(sample)

    def finish(self, kept: Any) -> Any:
        value, rest, path = kept
        return _replaced(rest, tuple(path), self._do(self._rest, value))

    def _run(self, index: int, instead: Callable[[Any], Any]) -> Any:
        self._kept.clear()
        self._looks.clear()
        self._obstacle = ""
        with _Instead(self._dataset, instead):
            return self._ask(index)

    def _all(self, value: Any) -> Any:
        value = self._do(self._first, value)
        self._looks.append(self._watch.look())
        self._keep(value)
        self._result = self._do(self._rest, value)
        self._looks.append(self._watch.look())
        return self._result

    def _only_first(self, value: Any) -> Any:
        self._result = self._do(self._first, value)
        self._keep(self._result)
        return self._result

    def _do(self, steps: Sequence[Any], value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    def _keep(self, value: Any) -> None:
        """A copy: the rest may write into it."""
        if self._is_of_the_data_set(value):
            self._obstacle = "gives views of what the data set holds in memory already"
        try:
            copied = restored(to_parts(value))
        except Exception as error:
            self._obstacle = f"gives what cannot be kept ({type(error).__name__})"
            copied = None
        if not self._obstacle and not is_alike(value, copied):
            self._obstacle = f"gives what comes back as another type ({type(value).__name__})"
        self._kept.append(copied)

    def _unfinished(self, sample: Any) -> Unfinished | None:
        paths = list(_paths_to(self._result, sample, ()))
        if len(paths) != 1 or len(self._kept) != 1:
            return None
        try:
            rest = _replaced(sample, paths[0], None)
        except Exception:  # a class of the job's own that is made in another way
            return None
        return Unfinished(self._kept[0], rest, paths[0])

    def _packed_part(self, sample: Any, files: Any) -> Made:
        part = self._unfinished(sample)
        if part is None:
            return Made(sample, obstacle=_NO_PART)
        made = self._packed(part, files)
        return Made(sample, made.parts, made.obstacle)


class _Instead:
    """`instead` in the place of the data set's transform."""

    def __init__(self, dataset: Any, instead: Callable[[Any], Any]) -> None:
        self._attributes = _holder(dataset).__dict__
        self._instead = instead

    def __enter__(self) -> None:
        self._own = self._attributes["transform"]
        self._attributes["transform"] = self._instead

    def __exit__(self, *_: object) -> None:
        # What the data set puts there itself stays.
        if self._attributes.get("transform") is self._instead:
            self._attributes["transform"] = self._own


def _paths_to(item: Any, sample: Any, path: Path) -> Iterator[Path]:
    if sample is item:
        yield path
    elif isinstance(sample, dict):
        for key, value in sample.items():
            yield from _paths_to(item, value, (*path, key))
    elif isinstance(sample, (list, tuple)):
        for number, value in enumerate(sample):
            yield from _paths_to(item, value, (*path, number))


def _replaced(sample: Any, path: Path, value: Any) -> Any:
    """A copy of all that is around the place, with `value` there."""
    if not path:
        return value
    first, *behind = path
    inner = _replaced(sample[first], tuple(behind), value)
    if isinstance(sample, tuple):
        values = [*sample[:first], inner, *sample[first + 1 :]]
        return type(sample)(*values) if hasattr(sample, "_fields") else type(sample)(values)
    copied = copy.copy(sample)
    copied[first] = inner
    return copied


__all__ = ["FirstPartMaker", "Unfinished", "count_of_first", "steps_of"]
