"""Makes samples, and says of each whether another making would give the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from unstarve.sample_cache.generators import Watch, others
from unstarve.sample_cache.graph import Graph
from unstarve.sample_cache.noticing import READS_UNNOTICED, FileMark, noticing
from unstarve.sample_cache.record import Parts, are_equal, is_alike, restored, to_parts

#: The obstacle of a sample that may be split into a part without, and the rest.
DRAWS = "draws random numbers"


class Made(NamedTuple):
    sample: Any
    #: Of the sample and of what its files are known by.
    parts: Parts | None = None
    #: Why it may not be kept.
    obstacle: str = ""


class Maker:
    """Of one data set. What it raises while a sample is made, it raises here too."""

    def __init__(self, dataset: Any, graph: Graph) -> None:
        self._dataset = dataset
        self._graph = graph
        self._watch = Watch(graph.generators)
        self._known_types: set[Any] = set()  # of samples that come back as they were
        #: While the data set makes a sample. An error that comes out of here then is its own, and
        #: ours at other times.
        self.is_asking = False

    def digest(self) -> int:
        """Of the data set's large arrays and lists."""
        return self._graph.digest()

    def make(self, index: int) -> Made:
        self.is_asking = False
        made = self._make(index)
        # A library reads of the machine once, when it is first used, and not for a second sample.
        return self._make(index) if made.obstacle == READS_UNNOTICED else made

    def _make(self, index: int) -> Made:
        row = self._graph.row(index)
        before = self._watch.look_anew()
        with noticing() as noticed:
            sample = self._ask(index)
        if self._watch.look() != before:
            return Made(sample, obstacle=DRAWS)
        if not self._graph.is_unchanged() or self._graph.row(index) != row:
            return Made(sample, obstacle="changes the data set, or what it refers to")
        if noticed.obstacle:
            return Made(sample, obstacle=noticed.obstacle)
        return self._packed(sample, noticed.marks)

    def _ask(self, index: int) -> Any:
        self.is_asking = True
        sample = self._dataset[index]
        self.is_asking = False
        return sample

    def kept_of(self, sample: Any) -> Any:
        """What is kept of a sample that was just made."""
        return sample

    def finish(self, kept: Any) -> Any:
        """The sample of what was kept."""
        return kept

    def is_made_again(self, index: int, sample: Any) -> bool:
        """Whether another making, with generators in other states, gives the same to the bit.
        `sample`: as it is kept."""
        with others(self._graph.generators):
            try:
                again = to_parts(self._dataset[index])
            except Exception:
                return False
        return are_equal(again, to_parts(sample))

    def _packed(self, sample: Any, files: tuple[FileMark, ...]) -> Made:
        if self._is_of_the_data_set(sample):
            return Made(sample, obstacle="gives views of what the data set holds in memory already")
        try:
            parts = to_parts((sample, files))
            if self._comes_back(sample, parts):
                return Made(sample, parts)
        except Exception as error:
            return Made(sample, obstacle=f"gives what cannot be kept ({type(error).__name__})")
        return Made(sample, obstacle=f"gives what comes back as another type ({_types(sample)})")

    def _is_of_the_data_set(self, sample: Any) -> bool:
        return any(self._graph.holds(start, end) for start, end in _memory_of(sample))

    def _comes_back(self, sample: Any, parts: Parts) -> bool:
        types = _types_of(sample)
        if types not in self._known_types:
            if not is_alike(sample, restored(parts)[0]):
                return False
            self._known_types.add(types)
        return True


def _memory_of(sample: Any) -> Iterator[tuple[int, int]]:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if torch is not None and isinstance(sample, torch.Tensor):
        if sample.layout is torch.strided and sample.device.type == "cpu":
            start = sample.data_ptr()
            yield start, start + sample.numel() * sample.element_size()
    elif numpy is not None and isinstance(sample, numpy.ndarray):
        start = sample.__array_interface__["data"][0]
        yield start, start + sample.nbytes
    elif isinstance(sample, dict):
        for part in sample.values():
            yield from _memory_of(part)
    elif isinstance(sample, (list, tuple)):
        for part in sample:
            yield from _memory_of(part)


def _types_of(sample: Any) -> Any:
    """Of its parts too, as something to compare."""
    if isinstance(sample, dict):
        return type(sample), *map(_types_of, sample.values())
    if isinstance(sample, (list, tuple)):
        return type(sample), *map(_types_of, sample)
    return type(sample)


def _types(sample: Any) -> str:
    if isinstance(sample, (list, tuple)):
        return ", ".join(_types(part) for part in sample)
    if isinstance(sample, dict):
        return ", ".join(_types(part) for part in sample.values())
    return f"{type(sample).__module__}.{type(sample).__qualname__}"


__all__ = ["DRAWS", "Made", "Maker"]
