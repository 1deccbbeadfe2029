"""The part of a data set's samples that is made before the first random step of its transform."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from unstarve.sample_cache.compositions import Call, Marker, Place, place_of
from unstarve.sample_cache.generators import Watch, others
from unstarve.sample_cache.graph import Graph
from unstarve.sample_cache.making import DRAWS, Made, Maker
from unstarve.sample_cache.noticing import READS_UNNOTICED, noticing
from unstarve.sample_cache.record import are_equal, is_alike, restored, to_parts

#: Samples by which the first random step is found. One that draws seldom stops the cache later.
_TRIED = 4
_NO_PART = "does not hand on what its transform gives as it is"

Path = tuple[Any, ...]


class Unfinished(NamedTuple):
    """A sample up to that step."""

    call: Call  # of the next step
    rest: Any  # the sample, with None in the place of what the transform gives
    #: Where that is, numbers and keys from outside to inside, and which of the dict that the
    #: transform gives; None: all that it gives.
    places: list[tuple[Path, str | None]]


def has_steps(dataset: Any) -> bool:
    """Whether its transform does one step after the other."""
    place = place_of(dataset)
    return place is not None and bool(place.composition.steps)


def count_of_first(dataset: Any) -> int:
    """How many steps come before the first that draws random numbers; -1: none does. Makes
    samples."""
    place = place_of(dataset)
    if place is None:
        return -1
    composition = place.composition
    watch = Watch(Graph(dataset).generators)
    counts = [len(composition.steps)]

    def run(*arguments: Any, **named: Any) -> Any:
        looks: list[Any] = []
        stops: list[int] = []  # where the rest may begin

        def note(call: Call) -> None:
            looks.append(watch.look() if looks else watch.look_anew())
            if looks[-1] == looks[0] and composition.may_begin_with(call):
                stops.append(len(looks) - 1)

        steps = [part for step in composition.steps for part in (Marker(note), step)]
        result = composition.run([*steps, Marker(note)], Call(arguments, named))
        counts.append(max(stops, default=-1))
        return result

    for index in range(min(_TRIED, len(dataset))):
        with others(), _Instead(place, run):
            dataset[index]
    count = min(counts)
    is_all = count == len(composition.steps)
    return -1 if is_all and not composition.draws_itself() else count


class FirstPartMaker(Maker):
    """Keeps what comes before `count` steps are done, and does the others each time. While it makes
    a sample it stands in the place of the transform, so that all else is the data set's own."""

    def __init__(self, dataset: Any, graph: Graph, count: int) -> None:
        super().__init__(dataset, graph)
        place = place_of(dataset)
        assert place is not None  # as when the steps were counted
        self._place, self._composition = place, place.composition
        steps = self._composition.steps
        self._first, self._rest = steps[:count], steps[count:]
        self._kept: list[Call] = []  # of the sample that is made: what goes into the rest
        #: At the generators: when the transform is called, before its first step, behind the first
        #: part, at the end.
        self._looks: list[Any] = []
        self._obstacle = ""
        self._result: Any = None

    def make(self, index: int) -> Made:
        self.is_asking = False
        row = self._graph.row(index)
        before = self._watch.look_anew()
        with noticing() as noticed:
            sample = self._run(index, self._all)
        if len(self._kept) != 1 or len(self._looks) != 4:
            return Made(sample, obstacle=_NO_PART)
        called, begun, parted, ended = self._looks
        if called != before or parted != begun or ended != self._watch.look():
            return Made(sample, obstacle=DRAWS)
        if not self._graph.is_unchanged() or self._graph.row(index) != row:
            return Made(sample, obstacle="changes the data set, or what it refers to")
        if noticed.obstacle == READS_UNNOTICED:
            return Made(sample)  # as Maker's, but the rest is done once, as in the job without us
        if self._obstacle or noticed.obstacle:
            return Made(sample, obstacle=self._obstacle or noticed.obstacle)
        return self._packed_part(sample, noticed.marks)

    def is_made_again(self, index: int, sample: Any) -> bool:
        with others(self._graph.generators):
            try:
                made = self._run(index, self._only_first)
                again = self._unfinished(made)
            except Exception:
                return False
        return again is not None and are_equal(to_parts(again), to_parts(sample))

    def kept_of(self, sample: Any) -> Any:
        return self._unfinished(sample)

    def finish(self, kept: Any) -> Any:
        call, sample, places = kept
        result = self._composition.run(self._rest, Call(*call))
        for path, key in places:
            sample = _replaced(sample, tuple(path), result if key is None else result[key])
        return sample

    def _run(self, index: int, instead: Callable[..., Any]) -> Any:
        self._kept.clear()
        self._looks.clear()
        self._obstacle = ""
        with _Instead(self._place, instead):
            return self._ask(index)

    def _all(self, *arguments: Any, **named: Any) -> Any:
        self._look()
        steps = [Marker(self._look), *self._first, Marker(self._part), *self._rest]
        self._result = self._composition.run(steps, Call(arguments, named))
        self._look()
        return self._result

    def _only_first(self, *arguments: Any, **named: Any) -> Any:
        steps = [*self._first, Marker(self._keep)]
        self._result = self._composition.run(steps, Call(arguments, named))
        return self._result

    def _look(self, _: Call | None = None) -> None:
        self._looks.append(self._watch.look())

    def _part(self, call: Call) -> None:
        self._look()
        self._keep(call)

    def _keep(self, call: Call) -> None:
        """A copy: the rest may write into it."""
        if self._is_of_the_data_set(call):
            self._obstacle = "gives views of what the data set holds in memory already"
        try:
            copied = restored(to_parts(call))
        except Exception as error:
            self._obstacle = f"gives what cannot be kept ({type(error).__name__})"
            copied = call
        if not self._obstacle and not self._composition.may_begin_with(copied):
            self._obstacle = "gives what its transform does not take"
        if not self._obstacle and not is_alike(call, copied):
            kinds = [type(value).__name__ for value in (*call.arguments, *call.named.values())]
            self._obstacle = f"gives what comes back as another type ({', '.join(kinds)})"
        self._kept.append(copied)

    def _unfinished(self, sample: Any) -> Unfinished | None:
        places = _places_of(self._result, sample)
        if not places or len(self._kept) != 1:
            return None
        rest = sample
        try:
            for path, _ in places:
                rest = _replaced(rest, path, None)
        except Exception:  # a class of the job's own that is made in another way
            return None
        return Unfinished(self._kept[0], rest, places)

    def _packed_part(self, sample: Any, files: Any) -> Made:
        part = self._unfinished(sample)
        if part is None:
            return Made(sample, obstacle=_NO_PART)
        made = self._packed(part, files)
        return Made(sample, made.parts, made.obstacle)


class _Instead:
    """`instead` in the place of the data set's transform."""

    def __init__(self, place: Place, instead: Callable[..., Any]) -> None:
        self._attributes, self._name = place.attributes, place.name
        self._instead = instead

    def __enter__(self) -> None:
        self._own = self._attributes[self._name]
        self._attributes[self._name] = self._instead

    def __exit__(self, *_: object) -> None:
        # What the data set puts there itself stays.
        if self._attributes.get(self._name) is self._instead:
            self._attributes[self._name] = self._own


def _places_of(result: Any, sample: Any) -> list[tuple[Path, str | None]]:
    """Of what a transform gave, or of the parts of the dict that it gave; none where that cannot be
    said."""
    whole = list(_paths_to(result, sample, ()))
    if whole or not isinstance(result, dict):
        return [(whole[0], None)] if len(whole) == 1 else []
    found: list[tuple[Path, str | None]] = []
    for key, part in result.items():
        paths = list(_paths_to(part, sample, ()))
        # Small numbers and words are one object wherever they stand.
        if len(paths) > 1 or isinstance(part, (int, float, str, bytes, type(None))):
            return []
        found += [(path, key) for path in paths]
    return found


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


__all__ = ["FirstPartMaker", "Unfinished", "count_of_first", "has_steps"]
