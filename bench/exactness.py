#!/usr/bin/env python3
"""Shows that a loader's data depends on (seed, epoch, index) alone.

    python bench/exactness.py FOLDER [--source SHARDS]

Hashes every image and label of three epochs: with 1 to 16 threads; resumed, from a state that went
through JSON, at random points, with another number of threads; and split over 1, 2, 3 and 8 ranks,
also with the world's size changed in the middle of an epoch. Prints what was compared and ends with
exit code 1 at the first difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import unstarve

EPOCHS = 3
BATCH = 16


def loader(source: Path, threads: int, **options: Any) -> Any:
    return unstarve.ImageLoader(source, BATCH, seed=7, threads=threads, output="numpy", **options)


def sample_hashes(images: Any, labels: Any) -> list[bytes]:
    return [
        hashlib.blake2b(np.ascontiguousarray(image).tobytes() + label.tobytes()).digest()
        for image, label in zip(images, labels, strict=True)
    ]


def epoch_hashes(feed: Any, epoch: int) -> list[bytes]:
    feed.set_epoch(epoch)
    return [digest for batch in feed for digest in sample_hashes(*batch)]


def check(same: bool, what: str) -> None:
    if not same:
        raise SystemExit(f"DIFFERENT: {what}")


def check_threads(source: Path, wanted: list[list[bytes]], most: int) -> None:
    for threads in range(1, most + 1):
        feed = loader(source, threads)
        for epoch in range(EPOCHS):
            check(epoch_hashes(feed, epoch) == wanted[epoch], f"{threads} threads, epoch {epoch}")
    print(f"  {most} numbers of threads x {EPOCHS} epochs: identical")


def check_resume(source: Path, wanted: list[list[bytes]], points: int, draw: random.Random) -> None:
    everything = [digest for epoch in wanted for digest in epoch]
    batches_per_epoch = -(-len(wanted[0]) // BATCH)
    state_bytes = 0
    for _ in range(points):
        stop = draw.randrange(1, EPOCHS * batches_per_epoch)
        feed = loader(source, draw.randint(1, 4))
        epoch, inside = divmod(stop, batches_per_epoch)
        feed.set_epoch(epoch)
        batches = iter(feed)
        seen = epoch * len(wanted[0])
        for _ in range(inside):
            seen += len(next(batches)[1])
        text = json.dumps(feed.state_dict())
        state_bytes = max(state_bytes, len(text))
        del feed, batches
        resumed = loader(source, draw.randint(1, 16))
        resumed.load_state_dict(json.loads(text))
        rest = []
        for _ in range(epoch, EPOCHS):
            rest += [digest for batch in resumed for digest in sample_hashes(*batch)]
        check(rest == everything[seen:], f"resume after batch {stop}, state {text}")
    print(f"  {points} resumes at random points: identical; the state takes {state_bytes} bytes")


def interleave(parts: list[list[bytes]]) -> list[bytes]:
    """The global order: rank r has every len(parts)-th sample."""
    return [digest for row in zip(*parts, strict=True) for digest in row]


def check_ranks(source: Path, wanted: list[list[bytes]]) -> None:
    for world in (1, 2, 3, 8):
        for epoch in range(EPOCHS):
            parts = []
            lengths = set()
            for rank in range(world):
                feed = loader(source, 2, rank=rank, world_size=world)
                lengths.add(len(feed))
                parts.append(epoch_hashes(feed, epoch))
            check(len(lengths) == 1, f"{world} ranks disagree on the number of batches")
            together = interleave(parts)
            padding = len(together) - len(wanted[epoch])
            check(
                together == wanted[epoch] + wanted[epoch][:padding], f"{world} ranks, epoch {epoch}"
            )
    print(f"  world sizes 1, 2, 3, 8 x {EPOCHS} epochs: the ranks together have the same samples")


def check_elastic(source: Path, wanted: list[list[bytes]]) -> None:
    """From 2 ranks to 3 to 1 in the middle of an epoch."""
    seen: list[bytes] = []
    state: dict[str, Any] | None = None
    for world, batches in ((2, 2), (3, 1), (1, None)):
        parts: list[list[bytes]] = []
        for rank in range(world):
            feed = loader(source, 1 + rank, rank=rank, world_size=world)
            if state is None:
                feed.set_epoch(1)
            else:
                feed.load_state_dict(state)
            part: list[bytes] = []
            for number, batch in enumerate(feed, 1):
                part += sample_hashes(*batch)
                if number == batches:
                    break
            parts.append(part)
            after = feed.state_dict()
        state = after
        seen += interleave(parts)
    check(seen == wanted[1], "2 ranks, then 3, then 1")
    print("  2 ranks, then 3, then 1 within an epoch: every sample once, identical")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="JPEGs in class folders")
    parser.add_argument("--source", type=Path, help="shards of the same folder, compared with it")
    parser.add_argument("--threads", type=int, default=16, help="compare 1 to this many")
    parser.add_argument("--resumes", type=int, default=50)
    args = parser.parse_args()
    draw = random.Random(1)
    feed = loader(args.folder, 1)
    wanted = [epoch_hashes(feed, epoch) for epoch in range(EPOCHS)]
    for source in [args.folder, *([args.source] if args.source else [])]:
        print(f"{source}: {len(wanted[0])} samples, {EPOCHS} epochs")
        check_threads(source, wanted, args.threads)
        check_resume(source, wanted, args.resumes, draw)
        check_ranks(source, wanted)
        check_elastic(source, wanted)
    print("identical")
    return 0


if __name__ == "__main__":
    sys.exit(main())
