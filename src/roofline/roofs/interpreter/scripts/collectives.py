"""`python -c this RANK GPUS SECONDS STORE`: how fast NCCL's collectives are.

Each GPU has a process.

STORE is a file that is not there yet, by which the ranks find each other. Each prints a JSON object
a line: {"imported", "torch", "nccl"}, or {"error"}. The first rank also {"doing"} before what may
take long, {"kind", "size", "bytes", "in_row", "seconds": [...]}, and in the end {"done"}.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn

rank, world, seconds, path = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
# A rank that waits for another one never ends by itself: it goes with whoever started it
# (PR_SET_PDEATHSIG, SIGKILL).
ctypes.CDLL(None).prctl(1, 9)


def say(**known: Any) -> None:
    print(json.dumps(known), flush=True)


def fail(why: object) -> NoReturn:
    say(error=str(why).split("\n")[0][:300])
    os._exit(0)


try:
    import torch
    import torch.distributed as dist
except Exception as error:
    fail(f"{sys.executable} has no torch that can be imported ({error})")
who = f"torch {torch.__version__} of {sys.executable}"
if not dist.is_available() or not dist.is_nccl_available():
    fail(f"{who} has no NCCL")
if torch.cuda.device_count() < world:
    fail(f"{who} sees {torch.cuda.device_count()} of {world} GPUs")
say(imported=True, torch=torch.__version__, nccl=".".join(map(str, torch.cuda.nccl.version())))

torch.cuda.set_device(rank)
store = dist.FileStore(path, world)
MIB = 1 << 20
SIZES = [("1_mib", MIB), ("16_mib", 16 * MIB), ("256_mib", 256 * MIB)]
KINDS = ["all_reduce", "all_gather", "reduce_scatter", "send_recv"]
EACH = seconds / (1 + len(SIZES) * len(KINDS))


def exchange(kind: str, wanted: int) -> tuple[Callable[[], Any], int]:
    """What is repeated, and the bytes of the larger buffer: each rank has an equal part of it."""
    part = max(1, wanted // 4 // world)
    whole = torch.zeros(part * world, device="cuda")
    size = whole.numel() * 4
    if kind == "all_reduce":
        return lambda: dist.all_reduce(whole), size
    if kind == "send_recv":
        arriving = torch.zeros_like(whole)

        def pass_on() -> None:
            for work in dist.batch_isend_irecv(
                [
                    dist.P2POp(dist.isend, whole, (rank + 1) % world),
                    dist.P2POp(dist.irecv, arriving, (rank - 1) % world),
                ]
            ):
                work.wait()

        return pass_on, size
    own = torch.zeros(part, device="cuda")
    if kind == "all_gather":
        return lambda: dist.all_gather_into_tensor(whole, own), size
    return lambda: dist.reduce_scatter_tensor(own, whole), size


def time_of(start: Callable[[], Any], count: int) -> float:
    """Seconds of one of `count` in a row, behind one that brings the ranks together."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start()
    begin.record()
    for _ in range(count):
        start()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3 / count


def agreed(name: str, numbers: Callable[[], list[int]]) -> Any:
    """What the first rank says, for all: each must start as many exchanges as the others."""
    if rank == 0:
        store.set(name, json.dumps(numbers()))
    return json.loads(store.get(name))


def measure(kind: str, size: str, wanted: int) -> None:
    name = f"{kind}.{size}"
    if rank == 0:
        say(doing=name)
    start, moved = exchange(kind, wanted)
    for _ in range(2):  # the first one makes connections
        start()
    torch.cuda.synchronize()
    once = max(time_of(start, 1), 1e-7)

    def plan() -> list[int]:
        count = max(1, min(200, int(0.005 / once)))
        return [count, max(3, min(20, int(EACH / (once * (count + 1)))))]

    count, repeats = agreed(name, plan)
    times = [time_of(start, count) for _ in range(repeats)]
    if rank == 0:
        say(kind=kind, size=size, bytes=moved, in_row=count, seconds=times)


try:
    if rank == 0:
        say(doing="the first exchange")
    dist.init_process_group(
        "nccl", store=store, rank=rank, world_size=world, timeout=timedelta(hours=1)
    )
    measure("all_reduce", "latency", 8)
    for kind in KINDS:
        for size, wanted in SIZES:
            measure(kind, size, wanted)
            torch.cuda.empty_cache()
except Exception as error:
    fail(error)
if rank == 0:
    say(done=True)
# The others may not be through, and NCCL may not end well: whoever started the ranks ends them all.
time.sleep(60)
