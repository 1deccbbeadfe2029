#!/usr/bin/env python3
"""Does to the loader and to `unstarve pack` what disks, people and schedulers do.

    python bench/faults.py --unstarve build/release/src/cli/unstarve [--count 10000] [--kills 100]
        [--seed 0] [--only jpegs,tars,shards,copies,train,list,pack,cache,ends,forks,changes,full,
        cachefull,leaks]

Each part prints what it did. Ends with exit code 1 at the first violation: a crash, a hang, a leak,
an error that names no file, or a batch that is silently another. README.md in `fault_loop` says
what lies where.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from fault_loop import (
    cache_kills,
    damaged_cache,
    damaged_files,
    damaged_shards,
    interruptions,
    kills,
    leaks,
)
from fault_loop.made_data import ViolationError
from fault_loop.watch import no_shared_memory_left, still_moving, take_shared_memory_of_its_own


def run_child(what: str, *arguments: str) -> None:
    source = Path(arguments[0])
    if what == "train":
        kills.train_for_ever(source, Path(arguments[1]))
    elif what == "list":
        kills.list_folder(source)
    elif what == "cache":
        cache_kills.cache_for_ever(source, Path(arguments[1]), *map(int, arguments[2:]))
    else:
        interruptions.load_for_ever(source, arguments[1])


def parts_of(args: argparse.Namespace, scratch: Path) -> dict[str, Callable[[], str]]:
    def draw(part: str) -> random.Random:
        return random.Random(f"{part} {args.seed}")

    program = args.unstarve
    return {
        "jpegs": lambda: damaged_files.damage_jpegs(scratch, args.count, draw("jpegs")),
        "tars": lambda: damaged_files.damage_tars(scratch, args.count, draw("tars")),
        "shards": lambda: damaged_shards.damage_shards(
            scratch, program, args.count, draw("shards")
        ),
        "copies": lambda: damaged_cache.damage_cache(scratch, args.count, draw("copies")),
        "train": lambda: kills.kill_training(scratch, program, args.kills, draw("train")),
        "list": lambda: kills.kill_listing(scratch, args.kills, draw("list")),
        "pack": lambda: kills.kill_packing(scratch, program, args.kills, draw("pack")),
        "cache": lambda: cache_kills.kill_caching(scratch, args.kills, draw("cache")),
        "ends": lambda: interruptions.end_in_the_middle(scratch),
        "forks": lambda: interruptions.fork_after_creation(scratch),
        "changes": lambda: interruptions.files_that_change(
            scratch, program, args.seconds, draw("changes")
        ),
        "full": lambda: interruptions.full_disk(scratch, program),
        "cachefull": lambda: cache_kills.full_cache_disk(scratch, args.disks, draw("cachefull")),
        "leaks": lambda: (
            leaks.construct_and_destroy(scratch, args.loaders)
            + "\n  "
            + leaks.many_errors(scratch, 10 * args.loaders)
        ),
    }


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        run_child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unstarve", type=Path, required=True, help="the command line program")
    parser.add_argument("--count", type=int, default=10_000, help="mutated files of each kind")
    parser.add_argument("--kills", type=int, default=100, help="of each kind of job")
    parser.add_argument("--seconds", type=float, default=10, help="in which files change")
    parser.add_argument("--disks", type=int, default=20, help="for caches, that are full")
    parser.add_argument("--loaders", type=int, default=200, help="that are made and dropped")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="parts, separated by commas")
    args = parser.parse_args()
    alone = take_shared_memory_of_its_own()
    if not alone:
        print("/dev/shm is shared with other programs: it is not looked at")
    only = set(filter(None, args.only.split(",")))
    for name in parts_of(args, Path()):
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="unstarve-faults-") as scratch:
            still_moving()
            begun = time.monotonic()
            try:
                with no_shared_memory_left() if alone else nullcontext():
                    done = parts_of(args, Path(scratch))[name]()
                print(f"{name}: {done}", end="")
            except ViolationError as violation:
                print(f"VIOLATION in {name} (seed {args.seed}): {violation}")
                return 1
            finally:
                faulthandler.cancel_dump_traceback_later()
            print(f"  [{time.monotonic() - begun:.1f} s]", flush=True)
    print("no violation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
