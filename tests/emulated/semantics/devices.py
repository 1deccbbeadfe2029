"""Several GPUs of one machine, and what a profiler is told. The machine has two."""

from __future__ import annotations

import torch
from checks import check, least, milliseconds, raises, sometimes

check("there are two devices", torch.cuda.device_count() == 2)
properties = [torch.cuda.get_device_properties(i) for i in range(2)]
check("they say that they are emulated", all("Emulated" in p.name for p in properties))
check("of the profile's size", properties[0].multi_processor_count == 108)
check("no third one", raises(Exception, lambda: torch.cuda.get_device_properties(2)))
check("the first is current", torch.cuda.current_device() == 0)
first, second = (torch.empty(1 << 28, device=f"cuda:{i}") for i in range(2))
with torch.cuda.device(1):
    check("a device can be made current", torch.cuda.current_device() == 1)
check("for as long as the block", torch.cuda.current_device() == 0)


def both() -> None:
    for _ in range(20):
        first.add_(1)
        second.add_(1)
    for device in range(2):
        torch.cuda.synchronize(device)


def alone() -> None:
    for _ in range(20):
        first.add_(1)
    torch.cuda.synchronize(0)


both()
alone_ms = least(lambda: milliseconds(alone), 0)
both_ms = least(lambda: milliseconds(both), 1.2 * alone_ms)
check("two devices work at the same time", both_ms < 1.6 * alone_ms, (both_ms, alone_ms))


def only_the_first_is_busy() -> bool:
    for _ in range(20):
        first.add_(1)
    busy = not torch.cuda.current_stream(0).query()
    return busy and torch.cuda.current_stream(1).query()


check("one device's work is not the other's", sometimes(only_the_first_is_busy))
torch.cuda.synchronize()
check("devices reach each other", torch.cuda.can_device_access_peer(0, 1))
check("copies between devices keep the shape", first[:1024].to("cuda:1").shape == (1024,))
check("memory is counted apart", torch.cuda.memory_allocated(1) == second.numel() * 4)
check("tensors of two devices do not mix", raises(RuntimeError, lambda: first[:4] + second[:4]))
model = torch.nn.DataParallel(torch.nn.Linear(8, 8).cuda())
check("DataParallel spreads a batch", model(torch.ones(4, 8, device="cuda")).shape == (4, 8))

torch.cuda.set_device(0)
activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
with torch.profiler.profile(activities=activities) as profile:
    first.add_(1)
    torch.ones(1024).cuda()
    torch.cuda.synchronize()
on_device = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
check("the profiler sees kernels", any("elementwise" in e.name for e in on_device), on_device)
check("and copies", any("Memcpy" in e.name for e in on_device), on_device)
kernel_us = [e.time_range.elapsed_us() for e in on_device if "elementwise" in e.name]
check("with the time that they took", any(800 < us < 3000 for us in kernel_us), kernel_us)
calls = {e.name for e in profile.events()}
check("and the calls of the runtime", "cudaLaunchKernel" in calls, sorted(calls))
