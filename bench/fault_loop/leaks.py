"""What is left after many loaders and many errors: nothing."""

from __future__ import annotations

import gc
from pathlib import Path

from fault_loop.made_data import check, make_folder, open_loader
from fault_loop.watch import ALLOWED_BYTES, open_files, rss_bytes, threads


def _loader_life(root: Path, number: int) -> None:
    loader = open_loader(root, train=True, shuffle=True, threads=1 + number % 4)
    batches = iter(loader)
    for _ in range(number % 4):  # some end before they begin, some in the middle
        next(batches)


def construct_and_destroy(scratch: Path, count: int) -> str:
    root = make_folder(scratch / "lives", 30)
    for number in range(count // 4):
        _loader_life(root, number)
    gc.collect()
    before = rss_bytes(), open_files(), threads()
    for number in range(count):
        _loader_life(root, number)
    gc.collect()
    grown = rss_bytes() - before[0]
    check(open_files() == before[1], f"{open_files() - before[1]} files are left open")
    check(threads() == before[2], f"{threads() - before[2]} threads are left")
    check(grown < ALLOWED_BYTES, f"{count} loaders leave {grown} bytes")
    return f"{count} loaders made and dropped: {grown >> 10} KiB more, no file, no thread"


def many_errors(scratch: Path, count: int) -> str:
    root = make_folder(scratch / "broken", 40)
    for path in root.rglob("*.jpg"):
        path.write_bytes(path.read_bytes()[:-200])
    loader = open_loader(root, train=True, on_error="raise")

    def errors(wanted: int) -> int:
        failed = 0
        while failed < wanted:
            try:
                for _ in loader:
                    pass
            except Exception:
                failed += 1
        return int(loader.stats()["failed"])

    failed = errors(count // 2)  # past what the list of failures keeps
    before = rss_bytes()
    failed = errors(count) - failed
    grown = rss_bytes() - before
    check(grown < ALLOWED_BYTES, f"{failed} errors leave {grown} bytes")
    check(len(loader.errors()) <= 1000, "the list of failures grows without bound")
    return f"{failed} samples that fail: {grown >> 10} KiB more"
