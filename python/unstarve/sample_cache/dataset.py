"""`unstarve.cached()`: a data set whose samples are made once and kept, if that is proven to change
nothing."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils.data import Dataset, IterableDataset

from unstarve.errors import InvalidArgumentError, UnstarveError
from unstarve.sample_cache.compositions import place_of
from unstarve.sample_cache.first_part import FirstPartMaker
from unstarve.sample_cache.graph import Graph
from unstarve.sample_cache.identity import CannotNameError, content_of, name_of
from unstarve.sample_cache.making import DRAWS, Maker
from unstarve.sample_cache.noticing import FileMark, held_files, mark_of
from unstarve.sample_cache.proof import Proof, first_random_step, makes_batches, prove
from unstarve.sample_cache.record import from_record

_SHARE_OF_FREE = 0.5
_OWN = "unstarve-samples-"  # how the names of our folders begin
#: One of so many samples is made a second time while it is kept, and while it is served.
_CHECKED = 32
#: Bytes of a data set that are looked at to find whether it is one that was cached before.
_LOOKED_AT_MOST = 64 << 20
#: Of this process, by what is kept in them.
_FOLDERS: dict[tuple[str, str, int], str] = {}


def cached(
    dataset: Any, *, folder: str | os.PathLike[str] | None = None, max_bytes: int | None = None
) -> CachedDataset:
    """The data set, whose samples are kept in files the first time that they are made.

    Nothing is kept unless it is proven that making a sample again would give the same to the bit:
    no random numbers are drawn, nothing that the data set refers to changes, no clock is read, and
    the files that are read are as they were. `explain()` says what is kept, or why nothing is.

    `dataset`: map-style; its attributes are this object's too. `folder`: where the files lie, for
    this run, its ranks and later ones, as long as code, data and libraries are the same; without,
    they lie below the system's folder for temporary files until the process ends. `max_bytes`: of
    all samples; else half of what is free there. What does not fit is made each time.

    Errors: InvalidArgumentError for a stream, which has no samples by number.
    """
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise InvalidArgumentError(
            f"{type(dataset).__name__} is a stream: cached() keeps samples by number, of a data "
            "set with __len__ and __getitem__"
        )
    return CachedDataset(dataset, folder, max_bytes)


class CachedDataset(Dataset):  # type: ignore[misc]
    """See cached()."""

    def __init__(self, dataset: Any, folder: Any, max_bytes: int | None) -> None:
        keeper = _Keeper(dataset)
        keeper.begin(folder, max_bytes)
        self.__dict__["_unstarve_dataset"] = dataset
        self.__dict__["_unstarve_keeper"] = keeper
        if keeper.why_not:
            warnings.warn(f"unstarve.cached keeps nothing: {keeper.why_not}", stacklevel=3)

    def __len__(self) -> int:
        return len(self._unstarve_dataset)

    def __getitem__(self, index: Any) -> Any:
        return self._unstarve_keeper.sample(index)

    def __getattr__(self, name: str) -> Any:
        # torch fetches by __getitems__ where there is one: samples come one by one here.
        if name in ("__getitems__", "_unstarve_dataset", "_unstarve_keeper"):
            raise AttributeError(name)
        return getattr(self._unstarve_dataset, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._unstarve_dataset, name, value)

    def explain(self) -> str:
        """What is kept, or why nothing is: one sentence or two."""
        return str(self._unstarve_keeper.explain())


class _Shared(NamedTuple):
    """With what a copy of the data set in another process goes on."""

    content: str  # see content_of()
    folder: str
    max_bytes: int
    held: list[FileMark]
    proven: int
    steps: int  # of the transform, that are kept; -1: all of the sample is


class _Keeper:
    """Decides for each sample whether it is served, and kept. Used by one thread of each process;
    workers go on with their parent's."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._store: Any = None
        self._served = 0
        self._made = 0
        self._proven = 0
        self._held: list[FileMark] = []
        self._asked: set[int] = set()  # since all of the data set was looked at
        self._looked_by = 0  # the process
        self._is_whole = False
        self._for_now = ""
        self._steps = -1  # of the transform, that are kept, where that is not all
        self._cannot_write = False
        self.why_not = "" if len(dataset) else "the data set is empty"
        if self.why_not:
            return
        self._graph = Graph(dataset)
        self.why_not = self._graph.obstacle
        self._maker = Maker(dataset, self._graph)

    def begin(self, folder: Any, max_bytes: int | None) -> None:
        if self.why_not:
            return
        proof = prove(self._dataset, self._maker)
        if DRAWS in proof.obstacle and not makes_batches(self._dataset):
            proof = self._prove_first_part() or proof
        self.why_not, self._proven = proof.obstacle, proof.samples
        if self.why_not:
            return
        base = Path(folder or tempfile.gettempdir()).expanduser().absolute()
        base.mkdir(parents=True, exist_ok=True)
        self._held = held_files(but=f"{base}/{_OWN}")
        own = self._named_folder(base) if folder else self._folder_of_an_earlier_one(base)
        if own is None:
            own = _folder_for_now(base)
        self._open(own, max_bytes or int(_SHARE_OF_FREE * shutil.disk_usage(base).free))

    def join(self, shared: _Shared | None) -> None:
        """As a copy of a data set, which is as that one was when it was looked at."""
        if shared is None:
            self.why_not = self.why_not or "it is a copy of one of which nothing is kept"
        if shared is None or self.why_not:
            return
        if self._content() != shared.content:
            self.why_not = "in this process it is another data set than where it comes from"
            return
        self._held, self._proven = shared.held, shared.proven
        if shared.steps >= 0:
            self._keep_first(shared.steps)
        self._open(shared.folder, shared.max_bytes)

    def __reduce__(self) -> Any:
        return _joined, (self._dataset, self._shared())

    def _shared(self) -> _Shared | None:
        if self._store is None or not self._graph.is_unchanged_throughout():
            return None
        content = self._content()
        if not content:
            return None
        steps = self._steps
        return _Shared(content, self._folder, self._max_bytes, self._held, self._proven, steps)

    def _content(self) -> str:
        """Empty where it has no name."""
        try:
            return content_of(self._dataset, self._graph)
        except CannotNameError:
            return ""

    def _prove_first_part(self) -> Proof | None:
        """Of what comes before the first random step of its transform."""
        steps = first_random_step(self._dataset)
        if steps < 0:
            return None
        self._keep_first(steps)
        return prove(self._dataset, self._maker)

    def _keep_first(self, steps: int) -> None:
        self._maker = FirstPartMaker(self._dataset, self._graph, steps)
        self._steps = steps

    def _open(self, folder: str, max_bytes: int) -> None:
        from unstarve._native import SampleStore

        self._folder, self._max_bytes = folder, max_bytes
        self._store = SampleStore(folder, len(self._dataset), max_bytes)

    def _folder_of_an_earlier_one(self, base: Path) -> str | None:
        """Where this process keeps the samples of the same data set: many scripts make theirs anew
        in each epoch. None where that could only be told by looking at much."""
        try:
            name = name_of(self._dataset, self._graph, self._held, _LOOKED_AT_MOST)
        except CannotNameError:
            return None
        key = (str(base), name, self._steps)
        known = _FOLDERS.get(key)
        if known is None or not Path(known).is_dir():
            known = _FOLDERS[key] = _folder_for_now(base)
        return known

    def _named_folder(self, base: Path) -> str | None:
        """Where a run that would make the same samples keeps them; none where that has no name."""
        try:
            name = name_of(self._dataset, self._graph, self._held)
        except CannotNameError as error:
            self._for_now = f"; for this run alone, since {error}"
            return None
        part = f"-{self._steps}" if self._steps >= 0 else ""
        return str(base / f"{_OWN}{name}{part}")

    def sample(self, index: Any) -> Any:
        if self._store is None or type(index) is not int or index < 0 or self._store.revoked:
            return self._dataset[index]
        if not self._is_as_it_was(index):
            return self._dataset[index]  # another data set than the one that was looked at
        record = self._store.read(index, _arithmetic())
        if record is not None:
            sample, files = from_record(_as_array(record))
            if _are_as_they_were(files):
                return self._serve(index, sample)
        return self._make(index)

    def _is_as_it_was(self, index: int) -> bool:
        """What is large is looked at as a whole once in each pass over the data and process: a
        sample that is asked for again begins another pass."""
        owner = os.getpid()
        if index in self._asked or owner != self._looked_by:
            self._asked.clear()
            self._looked_by = owner
            self._is_whole = self._graph.is_unchanged_throughout()
        self._asked.add(index)
        return self._is_whole and self._graph.is_unchanged() and _are_as_they_were(self._held)

    def _serve(self, index: int, sample: Any) -> Any:
        self._served += 1
        self._store.count_served()
        if self._served % _CHECKED == 0 and not self._maker.is_made_again(index, sample):
            self._stop(f"sample {index} came out otherwise than it was kept")
            return self._dataset[index]
        return self._maker.finish(sample)

    def _make(self, index: int) -> Any:
        try:
            made = self._maker.make(index)
        except Exception as error:
            if self._maker.is_asking:
                raise
            self._stop(f"unstarve cannot watch it ({type(error).__name__}: {error})")
            return self._dataset[index]
        if made.obstacle:
            self._stop(f"making sample {index} {made.obstacle}")
        if made.parts is None:
            return made.sample
        self._made += 1
        kept = self._maker.kept_of(made.sample)
        if self._made % _CHECKED == 1 and not self._maker.is_made_again(index, kept):
            self._stop(f"sample {index} came out otherwise when it was made again")
            return made.sample
        self._keep(index, made.parts)
        return made.sample

    def _keep(self, index: int, parts: Any) -> None:
        import numpy

        if self._cannot_write:
            return
        try:
            self._store.write(
                index, _arithmetic(), [numpy.frombuffer(part, numpy.uint8) for part in parts]
            )
        except UnstarveError as error:  # a full disk, say: the job goes on without
            warnings.warn(f"unstarve.cached keeps no more samples: {error}", stacklevel=5)
            self._cannot_write = True

    def _stop(self, why: str) -> None:
        if not self._store.revoked:
            self._store.revoke()
            Path(self._folder, "why").write_text(why, encoding="utf-8")
            warnings.warn(f"unstarve.cached keeps nothing any more: {why}", stacklevel=5)

    def served(self) -> int:
        """Samples that came from the files, in all processes."""
        return 0 if self._store is None else int(self._store.counts()["served"])

    def explain(self) -> str:
        if self._store is None:
            return f"nothing is kept: {self.why_not}"
        if self._store.revoked:
            return f"nothing is kept: {_text_of(Path(self._folder, 'why'))}"
        counts = self._store.counts()
        return (
            f"{counts['kept']} of {len(self._dataset)} samples are kept "
            f"({counts['bytes'] / 1e6:.1f} MB in {self._folder}), {counts['served']} were served; "
            f"{self._proven} were made twice before, and one of {_CHECKED} since, to the same bit"
            f"{self._made_each_time()}{self._for_now}"
        )

    def _made_each_time(self) -> str:
        place = place_of(self._dataset)
        if self._steps < 0 or place is None:
            return ""
        of = len(place.composition.steps)
        if self._steps == of:
            return "; its transform draws a number each time, as before"
        return f"; of its transform the last {of - self._steps} of {of} steps are done each time"


def _joined(dataset: Any, shared: _Shared | None) -> _Keeper:
    keeper = _Keeper(dataset)
    keeper.join(shared)
    if keeper.why_not:
        warnings.warn(f"unstarve.cached keeps nothing: {keeper.why_not}", stacklevel=2)
    return keeper


def _arithmetic() -> int:
    """What sums of floats may hang on beside their terms: torch's threads, of which a worker has
    one."""
    return int(torch.get_num_threads())


def _as_array(record: Any) -> Any:
    import numpy

    return numpy.frombuffer(memoryview(record), dtype=numpy.uint8)


def _are_as_they_were(files: Any) -> bool:
    return all(mark_of(mark.path) == mark for mark in files)


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else "it was told to stop"


def _folder_for_now(base: Path) -> str:
    """One that goes when the process ends."""
    folder = tempfile.mkdtemp(prefix=_OWN, dir=base)
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["CachedDataset", "cached"]
