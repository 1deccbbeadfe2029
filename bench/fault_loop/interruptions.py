"""Ends in the middle, forks, files that change while they are read, and full disks."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
from unstarve.errors import UnstarveError

from fault_loop.made_data import (
    batch_hash,
    check,
    load,
    make_folder,
    open_loader,
    pack,
    run_epoch,
    run_unstarve,
    small_disk,
    start_child,
    violated,
)

PROMPTLY_S = 10.0  # on a machine with much else to do; a hang lasts for ever


def load_for_ever(source: Path, ends: str) -> None:
    """A consumer in the middle of an epoch: it waits for a signal, or leaves by itself."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    loader = open_loader(source, train=True, shuffle=True)
    batches = iter(loader)
    next(batches)
    print("ready", flush=True)
    if ends == "exit":
        return
    while True:
        for _ in loader:
            pass


def end_in_the_middle(scratch: Path) -> str:
    source = make_folder(scratch / "ends", 60)
    ways = {"exit": None, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
    slowest = 0.0
    for name, number in ways.items():
        for _ in range(5):
            child = start_child("load", source, name, stderr=subprocess.PIPE)
            assert child.stdout is not None
            child.stdout.readline()
            begun = time.monotonic()
            if number is not None:
                child.send_signal(number)
            try:
                _, errors = child.communicate(timeout=PROMPTLY_S)
            except subprocess.TimeoutExpired:
                child.kill()
                violated(f"{name} in the middle of an epoch: the process hangs")
            slowest = max(slowest, time.monotonic() - begun)
            wanted = {"exit": (0,), "SIGTERM": (-15,), "SIGINT": (-2, 1, 130)}[name]
            check(child.returncode in wanted, f"{name}: ends with {child.returncode}: {errors}")
            check(name != "SIGINT" or "KeyboardInterrupt" in errors, f"SIGINT: {errors}")
    return f"15 ends in the middle of an epoch (exit, SIGTERM, Ctrl-C): the slowest {slowest:.2f} s"


def fork_after_creation(scratch: Path) -> str:
    source = make_folder(scratch / "forks", 30)
    wanted = [batch_hash(*batch) for batch in open_loader(source)]
    for batches_before in (0, 1, 3):
        loader = open_loader(source)
        batches = iter(loader) if batches_before else None
        got = [batch_hash(*next(batches)) for _ in range(batches_before)] if batches else []
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            try:
                next(iter(loader))
            except UnstarveError:
                own = [batch_hash(*batch) for batch in open_loader(source)]
                os._exit(0 if own == wanted else 3)
            os._exit(0 if not batches_before else 4)
        _, status = os.waitpid(child, 0)
        check(os.waitstatus_to_exitcode(status) == 0, f"a forked child ends with {status}")
        got += [batch_hash(*batch) for batch in (batches if batches else loader)]
        check(got == wanted, "a fork changed the parent's batches")
    return "3 forks of a process with a loader: the child is told, and both go on"


def files_that_change(scratch: Path, program: Path, seconds: float, draw: random.Random) -> str:
    """Files shrink, vanish and come back while epochs run: right pixels, or an error by name."""
    made = make_folder(scratch / "changes", 24)
    shards = pack(program, made, scratch / "changing-shards")
    wanted = run_epoch(open_loader(made))
    epochs = failed = loaded = 0
    for source in (made, shards):
        paths = sorted(path for path in source.rglob("*") if path.suffix in (".jpg", ".ush"))
        sound = {path: path.read_bytes() for path in paths}
        stop = threading.Event()

        def disturb(paths: list[Path], sound: dict[Path, bytes], stop: threading.Event) -> None:
            while not stop.is_set():
                path = draw.choice(paths)
                if draw.random() < 0.5:
                    os.truncate(path, draw.randrange(len(sound[path])))
                else:
                    path.unlink()
                stop.wait(0.0005)
                half = path.with_suffix(".half")
                half.write_bytes(sound[path])
                half.replace(path)

        thread = threading.Thread(target=disturb, args=(paths, sound, stop))
        thread.start()
        try:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                try:
                    epoch = run_epoch(open_loader(source))
                except UnstarveError:
                    continue  # it could not be opened
                if len(epoch.images) + len(epoch.failures) != len(wanted.images):
                    continue  # a file was away while the folder was listed
                epochs += 1
                good = [i for i in range(len(wanted.images)) if i not in epoch.failures]
                same = all(np.array_equal(epoch.images[at], wanted.images[i])
                           for at, i in enumerate(good))  # fmt: skip
                check(same, f"{source}: other pixels as files change")
                failed += len(epoch.failures)
                loaded += len(good)
        finally:
            stop.set()
            thread.join()
    return (
        f"{epochs} epochs as files shrink and vanish: {failed} samples failed, {loaded} are right"
    )


def full_disk(scratch: Path, program: Path) -> str:
    """pack stops by name and goes on when there is room; a list that cannot be kept is no error."""
    made = make_folder(scratch / "full-made", 60)
    wanted = {
        p.name: p.read_bytes() for p in pack(program, made, scratch / "full-wanted").iterdir()
    }
    target = scratch / "full"
    with small_disk(target, 128 << 10) as mounted:
        limit = None if mounted else limit_file_size
        shards = target / "set"
        command = [str(program), "pack", str(made), str(shards), "--shard-bytes", "12000"]
        if not mounted:
            command[-1] = str(1 << 20)
        stopped = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
        check(stopped.returncode == 1, f"a full disk ends pack with {stopped.returncode}")
        check(str(shards) in stopped.stderr, f"a full disk is not named: {stopped.stderr}")
        refused = load(shards)
        check(isinstance(refused, str), "an unfinished set can be loaded")
        if mounted:
            roomy = scratch / "roomy"
            shutil.copytree(shards, roomy)
            done = run_unstarve(program, *command[1:3], roomy, *command[4:])
            check(done.returncode == 0, f"pack does not go on: {done.stderr}")
            same = {path.name: path.read_bytes() for path in roomy.iterdir()} == wanted
            check(same, "packing went on to other bytes")
    way = "a full file system" if mounted else "a limit on file sizes (nothing may be mounted here)"
    return f"pack on {way}: an error by name, and it goes on to the same bytes"


def limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))
