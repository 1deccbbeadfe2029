"""Which positions of a stream are behind: ranges of numbers, sorted and apart.

Where batches may come out of order, what the consumer has is not the beginning of the stream
alone. The ranges say what; the rest, in its order, is what a resumed epoch still has to give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Range = tuple[int, int]  # the first position, and the one behind the last


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Sorted, without empty ones; what touches is one."""
    found: list[Range] = []
    for begin, end in sorted(ranges):
        if begin >= end:
            continue
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def rest_to_whole(done: Sequence[Range], begin: int, end: int) -> list[Range]:
    """Where the positions begin..end of the rest lie in the whole stream."""
    found = []
    for gap_begin, gap_end in done:
        if begin < gap_begin:
            found.append((begin, min(end, gap_begin)))
            begin = gap_begin
        # What is left of begin..end lies behind this range.
        if end <= gap_begin:
            return found
        begin, end = max(begin, gap_begin) + gap_end - gap_begin, end + gap_end - gap_begin
    return [*found, (begin, end)]


def left_out(items: Iterator[Any], done: Iterable[Range], noted: list[Any]) -> Iterator[Any]:
    """What is not done of `items`, of which the first has position 0; the rest is noted."""
    position = 0
    for begin, end in done:
        for _ in range(begin - position):
            try:
                yield next(items)
            except StopIteration:
                return
        for _, item in zip(range(begin, end), items, strict=False):
            noted.append(item)
        position = end
    yield from items


__all__ = ["Range", "left_out", "merged", "rest_to_whole"]
