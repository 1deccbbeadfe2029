"""Device memory is counted as on a real GPU; nothing of it is resident on the host."""

from __future__ import annotations

import resource
import sys

import torch
from checks import check, raises, sometimes
from work import host_ms, measure_pass, work

backend = sys.argv[1] if len(sys.argv) > 1 else "native"
one = measure_pass()
GIB = 1 << 30
free, total = torch.cuda.mem_get_info()
check("there is as much memory as the profile says", 75 * GIB < total < 82 * GIB, total)
check("a context takes some of it", 0 < total - free - GIB < 2 * GIB, total - free)

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
large = torch.empty(10 * GIB, dtype=torch.uint8, device="cuda")
now = torch.cuda.mem_get_info()[0]
check("an allocation is taken from the free memory", free - now >= 10 * GIB, free - now)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
check("it takes no memory of the host", grown < 200_000, grown)
check("the allocator counts it", torch.cuda.memory_allocated() >= 10 * GIB)
large.zero_()
del large
torch.cuda.synchronize()
torch.cuda.empty_cache()
check("empty_cache gives it back", torch.cuda.mem_get_info()[0] > free - GIB)

check(
    "more than there is raises OutOfMemoryError",
    raises(
        torch.cuda.OutOfMemoryError,
        lambda: torch.empty(200 * GIB, dtype=torch.uint8, device="cuda"),
    ),
)
check("after it the device works", torch.ones(4, device="cuda").shape == (4,))
hoard: list[torch.Tensor] = []


def fill() -> None:
    while True:
        hoard.append(torch.empty(8 * GIB, dtype=torch.uint8, device="cuda"))


check("memory ends after some allocations", raises(torch.cuda.OutOfMemoryError, fill))
check("of the size that there was", 8 <= len(hoard) <= 9, len(hoard))
hoard.clear()
torch.cuda.synchronize()
torch.cuda.empty_cache()
check(
    "freed memory can be allocated again",
    len([torch.empty(70 * GIB, dtype=torch.uint8, device="cuda")]) == 1,
)
torch.cuda.synchronize()
torch.cuda.empty_cache()

blocks = [torch.empty(20 << 20, dtype=torch.uint8, device="cuda") for _ in range(50)]
check("addresses do not overlap", len({block.data_ptr() // (20 << 20) for block in blocks}) >= 49)
del blocks
torch.cuda.reset_peak_memory_stats()
peak = torch.empty(GIB, dtype=torch.uint8, device="cuda")
del peak
check("the allocator's peak is kept", torch.cuda.max_memory_allocated() >= GIB)

BLOCK = 64 << 20
address = torch.empty(BLOCK, dtype=torch.uint8, device="cuda").data_ptr()
reused = torch.empty(BLOCK, dtype=torch.uint8, device="cuda").data_ptr() == address
check("a freed block is used again", reused or backend != "native")
side = torch.cuda.Stream()


def is_kept_for_its_stream() -> bool:
    held = torch.empty(BLOCK, dtype=torch.uint8, device="cuda")
    held.record_stream(side)
    with torch.cuda.stream(side):
        work(60)
    address = held.data_ptr()
    del held
    fresh = torch.empty(BLOCK, dtype=torch.uint8, device="cuda")
    return bool(fresh.data_ptr() != address)


check("not while a recorded stream uses it", sometimes(is_kept_for_its_stream))
torch.cuda.synchronize()

if backend == "native":
    large_again = torch.empty(GIB, dtype=torch.uint8, device="cuda")
    del large_again
    waited = host_ms(lambda: work(20), torch.cuda.empty_cache)
    check("giving memory back waits for the device", waited > 19 * one, (waited, one))
    snapshot = torch.cuda.memory_snapshot()
    check("a snapshot lists the segments", sum(s["total_size"] for s in snapshot) >= GIB)
    torch.cuda.memory._record_memory_history(max_entries=1000)
    torch.empty(1 << 20, device="cuda")
    history = torch.cuda.memory._snapshot()
    check("the allocator's history is recorded", len(history["device_traces"][0]) > 0)
    torch.cuda.memory._record_memory_history(enabled=None)

torch.cuda.set_per_process_memory_fraction(0.25)
check(
    "a fraction of the memory is a bound",
    raises(
        torch.cuda.OutOfMemoryError, lambda: torch.empty(40 * GIB, dtype=torch.uint8, device="cuda")
    )
    or backend != "native",
)
