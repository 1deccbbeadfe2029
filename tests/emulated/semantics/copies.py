"""Page-locked memory is copied beside the host, other memory with its help."""

from __future__ import annotations

import torch
from checks import check, least, sometimes
from work import device_ms, host_ms, in_stream, join, measure_pass, work

one = measure_pass()
MIB = 1 << 20
pinned = torch.empty(256 * MIB, dtype=torch.uint8).pin_memory()
pageable = torch.ones(256 * MIB, dtype=torch.uint8)
device = torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
stream, side, other = torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()


def up() -> None:
    device.copy_(pinned, non_blocking=True)


check("pin_memory makes page-locked memory", pinned.is_pinned())
check("other memory is not page-locked", not pageable.is_pinned())

issue = least(lambda: host_ms(up), 1)
check("a copy from page-locked memory returns at once", issue < 3, issue)


def goes_on() -> bool:
    up()
    return not stream.query()


check("it goes on beside the host", sometimes(goes_on))
copy_ms = least(lambda: device_ms(up), 0)
check("it takes the link's time", 8 < copy_ms < 20, copy_ms)

waited = host_ms(lambda: device.copy_(pinned))
check("a blocking copy from page-locked memory waits", waited > 0.95 * copy_ms, (waited, copy_ms))
staged = host_ms(lambda: device.copy_(pageable, non_blocking=True))
check("a copy from pageable memory keeps the host", staged > 0.8 * copy_ms, (staged, copy_ms))
back = least(lambda: host_ms(lambda: pinned.copy_(device, non_blocking=True)), 4)
check("a copy back to page-locked memory returns before", back < 0.8 * copy_ms, (back, copy_ms))
check("a copy back to pageable memory waits", host_ms(device.cpu) > 0.95 * copy_ms)

passes = max(3, round(copy_ms / one))
alone = copy_ms + passes * one


def copy_and_compute() -> None:
    in_stream(side, up)
    work(passes)
    join(side)


beside = least(lambda: device_ms(copy_and_compute), 0.7 * alone)
check("a copy overlaps with kernels of another stream", beside < 0.85 * alone, (beside, alone))


def two_up() -> None:
    in_stream(side, up)
    in_stream(other, up)
    join(side, other)


two = least(lambda: device_ms(two_up), 0)
check("two copies of one direction share its engine", two > 1.9 * copy_ms, (two, copy_ms))

target = torch.empty(256 * MIB, dtype=torch.uint8).pin_memory()


def down() -> None:
    target.copy_(device, non_blocking=True)


# What comes down is written to the host's memory, which may take many times the modelled bus: as
# much goes up beside it.
down_ms = least(lambda: device_ms(down), 1.1 * copy_ms)
times_up = max(1, round(down_ms / copy_ms))
up_ms = times_up * copy_ms


def up_and_down() -> None:
    for _ in range(times_up):
        in_stream(side, up)
    in_stream(other, down)
    join(side, other)


duplex = least(lambda: device_ms(up_and_down), 1.2 * max(up_ms, down_ms))
check(
    "copies of the two directions overlap",
    duplex < 0.9 * (up_ms + down_ms),
    (duplex, up_ms, down_ms),
)


# A page-locked block whose copy goes on is not given to the next who asks.
def address_while_copied() -> bool:
    torch.cuda.synchronize()
    block = torch.empty(4 * MIB, dtype=torch.uint8, pin_memory=True)
    landed = torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    work(60)
    landed.copy_(block, non_blocking=True)
    address = block.data_ptr()
    del block
    fresh = torch.empty(4 * MIB, dtype=torch.uint8, pin_memory=True)
    return bool(fresh.data_ptr() != address)


check("page-locked memory in flight is not given out again", sometimes(address_while_copied))
torch.cuda.synchronize()

kept = torch.arange(8.0)
check("small values come back as they went", kept.cuda().tolist() == kept.tolist())
check("what a kernel computed is zeros", (kept.cuda() + 1).tolist() == [0.0] * 8)
