"""What a test left behind: processes, threads, descriptors, entries of /dev/shm.

A look (`things`) takes some 0.2 ms. Two looks tell what was made between them and is still there.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

#: For what is about to end: a worker that reads the end of its pipe, a thread that was told to.
MOMENT_S = 2.0
#: For an entry of /dev/shm that nobody uses, while tests run beside this one: theirs may be about
#: killing its owner, and go on to whoever removes it.
MOMENT_OF_OTHERS_S = 30.0
LOOK_AGAIN_S = 0.01

SHARED_MEMORY = "/dev/shm"

PROCESS, THREAD, DESCRIPTOR, SHARED = "process", "thread", "descriptor", "shared memory"

PR_SET_CHILD_SUBREAPER = 36


#: From the narrowest on.
SCOPES = ("function", "class", "module", "package", "session")


@dataclass(frozen=True)
class Thing:
    kind: str
    number: int
    #: Tells it from a later one of the same number.
    name: str


@dataclass(eq=False)
class Watch:
    scope: int
    before: frozenset[Thing]


#: Those that are under way, the widest first.
_watches: list[Watch] = []

#: Processes that start others of their own when they like, as a browser does: they end these too.
_start_at_will: set[int] = set()

#: Of the limit of the test that runs (tests/time_limits.py), which is one for its fixtures too.
limit_threads: set[Thing] = set()


def adopt_orphans() -> None:
    """What a child of ours started is ours once that child has ended, not the system's."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def things() -> frozenset[Thing]:
    return frozenset([*processes(os.getpid()), *threads(), *descriptors(), *shared_memory()])


def processes(parent: int) -> Iterator[Thing]:
    """All below one: a thread's children are those that it started."""
    for children in _children(parent):
        for pid in map(int, children.split()):
            state, started = _state_and_start(pid)
            if state not in ("Z", "X", ""):
                yield Thing(PROCESS, pid, started)
            yield from processes(pid)


def threads() -> Iterator[Thing]:
    for task in Path("/proc/self/task").iterdir():
        yield Thing(THREAD, int(task.name), "")


def descriptors() -> Iterator[Thing]:
    for link in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # the one that has listed them is closed
            yield Thing(DESCRIPTOR, int(link.name), str(link.readlink()))


def shared_memory() -> Iterator[Thing]:
    with suppress(FileNotFoundError), os.scandir(SHARED_MEMORY) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    yield Thing(SHARED, entry.inode(), entry.path)


def watched(scope: str, who: str) -> Iterator[None]:
    """Of a fixture of that scope: fails where something is left at its end, and ends it."""
    if scope != "function":
        start_what_lasts()
    watch = Watch(SCOPES.index(scope), things())
    _watches.append(watch)
    try:
        yield
    finally:
        _watches.remove(watch)
        reap_orphans(watch.before)
        if left := left_since(watch.before):
            said = "".join(f"\n  {words(thing)}" for thing in left)
            end(left)
            for wider in _watches:  # it has been said
                wider.before |= things()
            pytest.fail(f"{who} left behind:{said}", pytrace=False)


def start_what_lasts() -> None:
    """What libraries start at their first use, wherever that is, and keep for good."""
    resource_tracker.ensure_running()
    with suppress(ImportError):
        importlib.import_module("numpy")
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.ones(1 << 20).sum()


@contextmanager
def made_for(scope: str) -> Iterator[None]:
    """What a fixture of this scope makes may outlive what is narrower, within which it starts."""
    narrower = [watch for watch in _watches if watch.scope < SCOPES.index(scope)]
    before = things() if narrower else frozenset()
    yield
    if narrower:
        made = things() - before
        for watch in narrower:
            watch.before |= made


@contextmanager
def starting_at_will() -> Iterator[None]:
    """The processes that are started in here may start others at any time, and end these."""
    before = set(processes(os.getpid()))
    yield
    _start_at_will.update(made.number for made in set(processes(os.getpid())) - before)


def left_since(before: frozenset[Thing]) -> list[Thing]:
    """What has come since then and stays, after a moment to end in."""
    left = _new_since(before)
    if not left:
        return []
    # Whether objects in cycles have been collected by now is luck otherwise. A caught exception is
    # such a cycle: its traceback has the frame, and that the exception.
    gc.collect()
    begun = time.monotonic()
    # Another process makes entries of shared memory all the time, each for a moment.
    while (left := _still_there(left, before)) and time.monotonic() < begun + _moment_for(left):
        # torch tells a worker to end that takes over 5 s, as it may on a busy machine, and does not
        # wait for it: multiprocessing then keeps its pipe until somebody asks.
        multiprocessing.active_children()
        time.sleep(LOOK_AGAIN_S)
    return sorted(left, key=lambda thing: (thing.kind, thing.number))


def _still_there(left: list[Thing], before: frozenset[Thing]) -> list[Thing]:
    now = set(_new_since(before))
    return [thing for thing in left if thing in now]


def _moment_for(left: list[Thing]) -> float:
    beside_others = "PYTEST_XDIST_WORKER" in os.environ
    of_others = beside_others and all(thing.kind == SHARED for thing in left)
    return MOMENT_OF_OTHERS_S if of_others else MOMENT_S


def words(thing: Thing) -> str:
    """As a report has it, while the thing is there."""
    if thing.kind == PROCESS:
        line = _read(Path(f"/proc/{thing.number}/cmdline")).replace("\0", " ").strip()
        return f"process {thing.number}: {line or '?'}"
    if thing.kind == THREAD:
        return f"thread {thing.number}: {_thread_name(thing.number)}"
    return f"{thing.kind} {thing.number}: {thing.name}"


def end(left: list[Thing]) -> None:
    """Ends all but threads, which nobody can end from outside."""
    # torch's handler raises where a worker of it was killed. It is not to, in here.
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kill({thing.number for thing in left if thing.kind == PROCESS})
    signal.signal(signal.SIGCHLD, handler)
    with Path(os.devnull).open("rb") as nothing:
        for thing in left:
            if thing.kind == DESCRIPTOR and thing in set(descriptors()):
                # Its owner may close the number later: until then nobody else can have it.
                os.dup2(nothing.fileno(), thing.number, inheritable=False)
    for thing in left:
        if thing.kind == SHARED:
            shutil.rmtree(thing.name, ignore_errors=True)
            Path(thing.name).unlink(missing_ok=True)


def kill(pids: set[int]) -> None:
    """And what they have started since; returns when all are gone."""
    deadline = time.monotonic() + MOMENT_S
    while pids and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(LOOK_AGAIN_S)
        pids |= {thing.number for pid in pids for thing in processes(pid)}
        pids = {pid for pid in pids if _state_and_start(pid)[0]}


def reap_orphans(before: frozenset[Thing]) -> None:
    """Takes leave of processes that have ended and for which nobody else waits."""
    # multiprocessing's go first: what another has waited for is there for good to it.
    multiprocessing.active_children()
    known = {thing.number for thing in before if thing.kind == PROCESS}
    for children in _children(os.getpid()):
        for pid in {*map(int, children.split())} - known:
            if _state_and_start(pid)[0] == "Z":
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def _new_since(before: frozenset[Thing]) -> list[Thing]:
    of_others = {thing for pid in _start_at_will for thing in processes(pid)}
    new = list(things() - before - limit_threads - of_others)
    if not any(thing.kind == SHARED for thing in new):
        return new
    held = _held_by_others()
    return [thing for thing in new if thing.kind != SHARED or held.isdisjoint(_marks(thing))]


def _marks(entry: Thing) -> tuple[str, str]:
    """By which a list of what a process holds may name it. A semaphore gets its name after it has
    been mapped by another; of a folder only what lies in it is held."""
    return f"inode {entry.number}", entry.name


def _held_by_others() -> set[str]:
    """Marks of what has open or mapped whoever is not below this process: another test, say."""
    ours = {os.getpid(), *(thing.number for thing in processes(os.getpid()))}
    marks: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) in ours:
            continue
        for line in _read(process / "maps").splitlines():
            if SHARED_MEMORY in line:
                fields = line.split(maxsplit=5)
                marks |= {f"inode {fields[4]}", _entry_of(fields[5])}
        with suppress(OSError):
            for link in (process / "fd").iterdir():
                with suppress(OSError):
                    target = str(link.readlink())
                    if target.startswith(SHARED_MEMORY):
                        marks |= {f"inode {link.stat().st_ino}", _entry_of(target)}
    return marks


def _entry_of(path: str) -> str:
    return "/".join(path.split("/")[:4])


def _thread_name(tid: int) -> str:
    named = {thread.native_id: thread.name for thread in threading.enumerate()}
    return named.get(tid) or _read(Path(f"/proc/self/task/{tid}/comm")).strip()


def _state_and_start(pid: int) -> tuple[str, str]:
    """Of a process: its state's letter and when it started, or nothing where it is gone."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return (fields[0], fields[19]) if fields else ("", "")


def _children(pid: int) -> Iterator[str]:
    """The lists of all threads of a process."""
    with suppress(OSError):  # it has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield _read(task / "children")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has just ended
        return ""
