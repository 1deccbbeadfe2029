"""SIGKILL at random moments: what is left behind can be gone on from, with the same result."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from fault_loop.made_data import (
    batch_hash,
    check,
    make_folder,
    open_loader,
    pack,
    run_epoch,
    run_unstarve,
    start_child,
)
from fault_loop.watch import still_moving

SHARD_BYTES = 200_000  # so that a set has several
TRAINING = {"train": True, "shuffle": True, "seed": 11, "on_error": "raise"}


def kill_after(child: subprocess.Popen[str], seconds: float) -> bool:
    """False when it had ended before."""
    still_moving()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
    return child.wait() == -signal.SIGKILL


def train_for_ever(source: Path, log: Path) -> None:
    """A job that keeps its state after each batch and goes on from it when it is started again."""
    print("ready", flush=True)
    loader = open_loader(source, **TRAINING)
    state = log.with_suffix(".state")
    if state.exists():
        loader.load_state_dict(json.loads(state.read_text()))
    with log.open("a", buffering=1) as lines:
        while True:
            for batch in loader:
                now = loader.state_dict()
                lines.write(f"{now['epoch']} {now['batches']} {batch_hash(*batch)}\n")
                half = state.with_suffix(".half")
                half.write_text(json.dumps(now))
                half.replace(state)


def uninterrupted(source: Path, count: int) -> list[str]:
    """The first `count` lines of such a job's log."""
    loader = open_loader(source, **TRAINING)
    lines: list[str] = []
    while len(lines) < count:
        for batch in loader:
            now = loader.state_dict()
            lines.append(f"{now['epoch']} {now['batches']} {batch_hash(*batch)}")
    return lines[:count]


def kill_training(scratch: Path, program: Path, kills: int, draw: random.Random) -> str:
    made = make_folder(scratch / "kill-made", 64)
    shards = pack(program, made, scratch / "kill-shards", 40_000)
    batches = 0
    begun = time.monotonic()
    run_epoch(open_loader(made))
    seconds = time.monotonic() - begun
    for source in (made, shards):
        log = scratch / f"{source.name}.log"
        done = 0
        while done < kills // 2:
            child = start_child("train", source, log)
            assert child.stdout is not None
            check(child.stdout.readline() == "ready\n", "the training job does not start")
            check(
                kill_after(child, draw.uniform(0, 3 * seconds)), "the training job ended by itself"
            )
            done += 1
        lines = log.read_text().splitlines() if log.exists() else []
        if lines and not log.read_text().endswith("\n"):
            lines.pop()  # it was killed as it wrote this one
        # A batch whose state was not kept is loaded once more.
        once = [line for i, line in enumerate(lines) if i == 0 or line != lines[i - 1]]
        check(once == uninterrupted(source, len(once)), f"{source}: other batches after a kill")
        batches += len(once)
    return f"{kills // 2 * 2} kills of a training loop: {batches} batches, as without any"


def list_folder(source: Path) -> None:
    """Lists a folder that is large enough for its list to be kept."""
    print("ready", flush=True)
    open_loader(source)


def kill_listing(scratch: Path, kills: int, draw: random.Random) -> str:
    """The kept list of a folder is whole or absent."""
    root = make_folder(scratch / "one", 1)
    many = scratch / "many"
    (many / "class0").mkdir(parents=True)
    picture = next(root.rglob("*.jpg"))
    for i in range(4200):
        (many / "class0" / f"{i:05}.jpg").hardlink_to(picture)
    old = time.time() - 100  # a folder that changed just now is not kept
    os.utime(many / "class0", (old, old))
    os.utime(many, (old, old))
    cache = scratch / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(cache)
    begun = time.monotonic()
    open_loader(many)
    seconds = time.monotonic() - begun
    check(any(cache.rglob("*.*")), "the folder's list is not kept")
    found = 0
    for _ in range(kills):
        shutil.rmtree(cache, ignore_errors=True)
        child = start_child("list", many, env=environment)
        assert child.stdout is not None
        child.stdout.readline()
        kill_after(child, draw.uniform(0, 1.5 * seconds))
        kept = [path for path in cache.rglob("*") if path.is_file()]
        found += bool(kept)
        loader = open_loader(many)
        check(loader.sample_count == 4200, f"{loader.sample_count} files after a killed listing")
    os.environ.pop("XDG_CACHE_HOME")
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before
    return (
        f"{kills} kills while a folder is listed and its list kept: {found} left a file, all good"
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def kill_packing(scratch: Path, program: Path, kills: int, draw: random.Random) -> str:
    made = make_folder(scratch / "pack-made", 120, size=160)
    begun = time.monotonic()
    wanted = contents(pack(program, made, scratch / "pack-wanted", SHARD_BYTES))
    seconds = time.monotonic() - begun
    target = scratch / "pack-killed"
    command = [str(program), "pack", str(made), str(target), "--shard-bytes", str(SHARD_BYTES)]
    done = finished = 0
    while done < kills:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        done += kill_after(child, draw.uniform(0, 1.2 * seconds))
        if child.returncode == 0:
            check(contents(target) == wanted, f"after {done} kills the shards are others")
            finished += 1
            shutil.rmtree(target)
        else:
            check(child.returncode == -signal.SIGKILL, f"pack ends with {child.returncode}")
    pack(program, made, target, SHARD_BYTES)
    check(contents(target) == wanted, "the shards of a killed job are others")
    back = scratch / "pack-back"
    unpacked = run_unstarve(program, "unpack", target, back)
    check(unpacked.returncode == 0, f"unpack: {unpacked.stderr}")
    original, again = run_epoch(open_loader(made)), run_epoch(open_loader(back))
    same = all((a == b).all() for a, b in zip(original.images, again.images, strict=True))
    check(same, "unpacked files have other pixels")
    return (
        f"{kills} kills of pack: {finished + 1} jobs came to their end, with the bytes of one that "
        "was not killed; unpacked, the same pixels"
    )
