"""Before anything is kept: some samples are made twice, in two processes of their own, in other
orders, with generators in other states. This process stays as it is."""

from __future__ import annotations

import hashlib
import os
import pickle
import select
import signal
import sys
import time
from typing import Any, NamedTuple

from torch.utils.data import Subset

from unstarve.sample_cache.code import spoken_name
from unstarve.sample_cache.first_part import count_of_first, has_steps
from unstarve.sample_cache.generators import others
from unstarve.sample_cache.libraries import is_known_file, is_known_module, is_ours
from unstarve.sample_cache.making import Maker
from unstarve.sample_cache.noticing import READS_UNNOTICED
from unstarve.sample_cache.record import are_equal, to_parts

_SAMPLES = 24
_SECONDS = 2.0  # for one process's samples, the first two aside
_MOST_SECONDS = 60.0

_CLOCKS_AND_THE_LIKE = frozenset(
    ["time.time", "time.time_ns", "posix.urandom", "posix.getpid", "_thread.get_ident"]
)


class Proof(NamedTuple):
    samples: int
    obstacle: str = ""


class _Answer(NamedTuple):
    digests: dict[int, str]
    obstacle: str = ""


def prove(dataset: Any, maker: Maker) -> Proof:
    count = len(dataset)
    indices = sorted({number * count // _SAMPLES for number in range(_SAMPLES)})
    # The ends and neighbours: what depends on the call before shows there.
    indices = list(dict.fromkeys([*indices, *range(min(4, count)), count - 1]))
    first = _in_a_child(lambda: _make(maker, indices, traced=True))
    if first.obstacle:
        return Proof(0, first.obstacle)
    again = list(reversed(list(first.digests)))
    second = _in_a_child(lambda: _make(maker, again, traced=False))
    if second.obstacle:
        return Proof(0, second.obstacle)
    differing = [
        index for index in first.digests if second.digests.get(index) != first.digests[index]
    ]
    if differing:
        return Proof(0, f"sample {differing[0]} came out otherwise when it was made again")
    if makes_batches(dataset):
        batches = _in_a_child(lambda: _Answer({}, _difference_of_batches(dataset, again)))
        if batches.obstacle:
            return Proof(0, batches.obstacle)
    return Proof(len(first.digests))


def makes_batches(dataset: Any) -> bool:
    """Whether torch asks it for the samples of a batch at once, which may depend on each other."""
    of_subset = getattr(Subset, "__getitems__", None)  # asks the data set within
    while of_subset is not None and getattr(type(dataset), "__getitems__", None) is of_subset:
        dataset = dataset.dataset
    return hasattr(dataset, "__getitems__")


def first_random_step(dataset: Any) -> int:
    """Its number among the steps of the data set's transform; -1 where nothing of it may be kept.
    Their number, where the transform draws itself before all of them."""
    if not has_steps(dataset):
        return -1
    found = _in_a_child(lambda: _Answer({0: str(count_of_first(dataset))}))
    return int(found.digests.get(0, -1))


def _make(maker: Maker, indices: list[int], traced: bool) -> _Answer:
    digests: dict[int, str] = {}
    held = maker.digest()
    end = time.monotonic() + _SECONDS
    calls = _Calls()
    for number, index in enumerate(indices):
        if traced and number >= 2 and time.monotonic() > end:
            break
        try:
            with others():
                if traced:
                    sys.setprofile(calls)
                try:
                    made = maker.make(index)
                    if made.parts is None and not made.obstacle:
                        made = maker.make(index)
                finally:
                    sys.setprofile(None)
        except Exception as error:
            if not maker.is_asking:
                return _Answer({}, f"unstarve cannot watch it ({type(error).__name__}: {error})")
            digests[index] = f"raises {type(error).__name__}"
            continue
        obstacle = made.obstacle or calls.obstacle
        if obstacle or made.parts is None:
            obstacle = obstacle or READS_UNNOTICED
            return _Answer({}, f"making sample {index} {obstacle}" if made.obstacle else obstacle)
        digests[index] = hashlib.blake2b(b"".join(made.parts), digest_size=16).hexdigest()
    if maker.digest() != held:
        return _Answer({}, "making samples changes what the data set holds")
    return _Answer(digests)


def _difference_of_batches(dataset: Any, indices: list[int]) -> str:
    """Between samples that are made in batches and those that are made alone; empty: none."""
    end = time.monotonic() + _SECONDS
    half = len(indices) // 2
    for group in (indices, indices[:1], indices[half:], [*indices[1::3], indices[0]]):
        with others():
            together = list(dataset.__getitems__(list(group)))
        if len(together) != len(group):
            return "it makes batches (__getitems__) of another length than was asked for"
        for index, sample in zip(group, together, strict=True):
            with others():
                alone = dataset[index]
            if not are_equal(to_parts(sample), to_parts(alone)):
                return f"sample {index} is another one in a batch (__getitems__) than alone"
        if time.monotonic() > end:
            break
    return ""


class _Calls:
    """Compiled functions that are called, by sys.setprofile()."""

    def __init__(self) -> None:
        self.obstacle = ""
        self._seen: set[int] = set()

    def __call__(self, frame: Any, event: str, function: Any) -> None:
        if event != "c_call" or id(function) in self._seen or self.obstacle:
            return
        self._seen.add(id(function))
        file = frame.f_code.co_filename
        if is_ours(file):
            return
        owner = getattr(function, "__self__", None)
        module = getattr(function, "__module__", None) or type(owner).__module__
        name = spoken_name(function)
        if module is not None and not is_known_module(module) and module != "builtins":
            self.obstacle = f"compiled code of {module} runs, of which nothing is known"
        elif name in _CLOCKS_AND_THE_LIKE and not is_known_file(file):
            self.obstacle = f"{frame.f_code.co_name} calls {name}"


def _in_a_child(work: Any) -> _Answer:
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run_child(work, writing)
    os.close(writing)
    try:
        return _answer_of(reading)
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _run_child(work: Any, writing: int) -> None:
    try:
        torch = sys.modules["torch"]
        torch.set_num_threads(1)  # threads of the parent's are not here
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        data = pickle.dumps(tuple(work()))
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _answer_of(reading: int) -> _Answer:
    data = b""
    end = time.monotonic() + _MOST_SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return _Answer({}, f"some samples took over {_MOST_SECONDS:.0f} s to make")
        more = os.read(reading, 1 << 16)
        if not more:
            break
        data += more
    if not data:
        return _Answer({}, "a process of its own could not make samples of it")
    return _Answer(*pickle.loads(data))


__all__ = ["Proof", "first_random_step", "makes_batches", "prove"]
