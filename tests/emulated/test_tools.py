"""What other people's tools show of an emulated GPU, beside what our own records hold."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from device_rings import Kernel, busy_ratio, read_kernels
from emulation import PYTHON, Emulation, machine
from measuring import measured
from wandb_file import system_metrics

# Keeps one GPU busy for some half of the time; says so, and goes on until its input ends.
HALF_BUSY = """
import sys, threading, time, torch
size, = map(int, sys.argv[1:])
a = torch.empty(size, size, device="cuda")
b = torch.empty_like(a)
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
def work():
    begin = time.monotonic()
    for _ in range(5):
        torch.mm(a, b)
    torch.cuda.synchronize()
    time.sleep(time.monotonic() - begin)
work()
print(torch.cuda.memory_reserved(), flush=True)
while not done.is_set():
    work()
"""

WATCH_NVML = """
import json, time, pynvml
pynvml.nvmlInit()
handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
def look(handle):
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return {
        "gpu": pynvml.nvmlDeviceGetUtilizationRates(handle).gpu,
        "power_w": pynvml.nvmlDeviceGetPowerUsage(handle) / 1000,
        "memory": pynvml.nvmlDeviceGetMemoryInfo(handle).used,
        "processes": {p.pid: p.usedGpuMemory for p in processes},
    }
begin = time.monotonic_ns()
rows = []
for _ in range(12):
    time.sleep(0.2)
    rows.append([look(handle) for handle in handles])
print(json.dumps({
    "names": [pynvml.nvmlDeviceGetName(handle) for handle in handles],
    "uuids": [pynvml.nvmlDeviceGetUUID(handle) for handle in handles],
    "buses": [pynvml.nvmlDeviceGetPciInfo(handle).busId for handle in handles],
    "rows": rows, "begin_ns": begin, "end_ns": time.monotonic_ns(),
}))
"""

SEEN_BY_TORCH = """
import json, torch
known = torch.cuda.get_device_properties(0)
memory_used = getattr(torch.cuda, "device_memory_used", None)  # since torch 2.6
print(json.dumps({
    "utilization": torch.cuda.utilization(0), "memory": memory_used and memory_used(0),
    "temperature": torch.cuda.temperature(0), "power_mw": torch.cuda.power_draw(0),
    "clock_mhz": torch.cuda.clock_rate(0), "processes": torch.cuda.list_gpu_processes(0),
    "total": known.total_memory, "name": known.name, "uuid": str(getattr(known, "uuid", "")),
}))
"""


class BusyMachine:
    """Two emulated GPUs, of which the second one works for some half of the time."""

    def __init__(self, emulation: Emulation, job: subprocess.Popen[str], reserved: int) -> None:
        self.emulation = emulation
        self.job = job
        self.reserved = reserved  # bytes, by torch's allocator

    def ratio_since(self, begin_ns: int, end_ns: int) -> float:
        return busy_ratio(self.kernels(), begin_ns, end_ns)

    def judge_utilization(self, seen: dict[str, Any]) -> None:
        shown = statistics.mean(row[1]["gpu"] for row in seen["rows"]) / 100
        held = self.ratio_since(seen["begin_ns"], seen["end_ns"])
        assert 0.2 < held < 0.8
        assert shown == pytest.approx(held, abs=0.1)

    def kernels(self) -> list[Kernel]:
        return read_kernels(self.emulation.state / "rings" / f"gpu-1-{self.job.pid}.ring")


@pytest.fixture(scope="module")
def busy() -> Iterator[BusyMachine]:
    with machine("a100", "--gpus", "2") as emulation:
        job = subprocess.Popen(
            [PYTHON, "-c", HALF_BUSY, "4096"],
            env={**emulation.environment, "CUDA_VISIBLE_DEVICES": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert job.stdout
        reserved = int(job.stdout.readline())
        time.sleep(1)
        yield BusyMachine(emulation, job, reserved)
        job.communicate(timeout=60)
        assert job.returncode == 0


def test_nvidia_ml_py_shows_what_the_rings_hold(busy: BusyMachine) -> None:
    seen = measured(lambda: json.loads(busy.emulation.python(WATCH_NVML)), busy.judge_utilization)
    assert seen["names"] == ["Emulated NVIDIA A100-SXM4-80GB"] * 2
    assert seen["uuids"][1].endswith("00000001")
    assert [bus[-7:] for bus in seen["buses"]] == ["01:00.0", "02:00.0"]
    idle, working = ([row[i] for row in seen["rows"]] for i in (0, 1))
    assert {row["gpu"] for row in idle} == {0}
    assert {row["memory"] for row in idle} == {0}
    assert all(row["power_w"] > idle[0]["power_w"] + 50 for row in working)
    for row in working:
        assert row["processes"] == {str(busy.job.pid): row["memory"]}
        assert row["memory"] > busy.reserved


def test_torch_shows_it(busy: BusyMachine) -> None:
    done = busy.emulation.run(PYTHON, "-c", SEEN_BY_TORCH, env={"CUDA_VISIBLE_DEVICES": "1"})
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert 10 < seen["utilization"] <= 100
    assert seen["memory"] is None or seen["memory"] > busy.reserved
    assert f"process {busy.job.pid:>10d} uses" in seen["processes"]
    assert seen["power_mw"] > 100_000
    assert seen["clock_mhz"] == 1410
    assert seen["temperature"] >= 36
    assert seen["uuid"] == "" or seen["uuid"].endswith("00000001")  # since torch 2.5


def test_nvitop_and_gpustat_show_it(busy: BusyMachine) -> None:
    def look() -> tuple[list[dict[str, Any]], float]:
        """What gpustat shows, and how busy the GPU was."""
        begin_ns = time.monotonic_ns() - 300_000_000
        gpustat = busy.emulation.run(PYTHON, "-m", "gpustat", "--json")
        assert gpustat.returncode == 0, gpustat.stderr
        gpus: list[dict[str, Any]] = json.loads(gpustat.stdout)["gpus"]
        return gpus, busy.ratio_since(begin_ns, time.monotonic_ns())

    def judge(seen: tuple[list[dict[str, Any]], float]) -> None:
        gpus, held = seen
        assert gpus[1]["utilization.gpu"] / 100 == pytest.approx(held, abs=0.25)

    (idle, working), _ = measured(look, judge)
    nvitop = busy.emulation.run(PYTHON, "-m", "nvitop", "--once")
    assert nvitop.returncode == 0, nvitop.stderr
    assert "FunctionNotFound" not in nvitop.stderr
    assert idle["utilization.gpu"] == 0
    assert idle["processes"] == []
    assert working["name"] == "Emulated NVIDIA A100-SXM4-80GB"
    assert [each["pid"] for each in working["processes"]] == [busy.job.pid]
    megabytes = working["memory.used"]
    assert megabytes > busy.reserved >> 20
    assert "A100-SXM4-80GB" in nvitop.stdout
    assert str(busy.job.pid) in nvitop.stdout
    assert f"{megabytes}.0MiB" in nvitop.stdout


WANDB = """
import os, sys, time
os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")
import torch, wandb
a = torch.empty(4096, 4096, device="cuda")
settings = wandb.Settings(x_stats_sampling_interval=0.3)
with wandb.init(project="emulated", dir=sys.argv[1], settings=settings):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        begin = time.monotonic()
        for _ in range(5):
            torch.mm(a, a)
        torch.cuda.synchronize()
        time.sleep(time.monotonic() - begin)
print(os.getpid())
"""


def test_wandb_offline_keeps_it(tmp_path: Path) -> None:
    numbers = count()

    def look() -> tuple[float, dict[str, list[float]], str]:
        """How busy the GPU was; what wandb kept of it, and as which GPU."""
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        with machine("h100") as emulation:
            pid = emulation.python(WANDB, str(folder)).split()[-1]
            kernels = read_kernels(emulation.state / "rings" / f"gpu-0-{pid}.ring")
        held = busy_ratio(kernels, kernels[0].start_ns, kernels[-1].end_ns)
        return held, *system_metrics(folder)

    def judge(seen: tuple[float, dict[str, list[float]], str]) -> None:
        shown = [value for value in seen[1]["gpu.0.gpu"] if value > 0]
        assert statistics.mean(shown) / 100 == pytest.approx(seen[0], abs=0.15)

    _, metrics, gpu = measured(look, judge)
    assert gpu == "Emulated NVIDIA H100 80GB HBM3"
    assert max(metrics["gpu.0.powerWatts"]) > 100
    # The process's own: wandb follows the run's.
    assert max(metrics["gpu.process.0.memoryAllocatedBytes"]) > 4096 * 4096 * 4


def test_a_killed_process_is_gone_for_nvml() -> None:
    processes_and_memory = """
import pynvml
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
print(len(pynvml.nvmlDeviceGetComputeRunningProcesses(handle)),
      pynvml.nvmlDeviceGetMemoryInfo(handle).used)
"""
    with machine("l4") as emulation:
        assert emulation.python(processes_and_memory).split() == ["0", "0"]
        job = subprocess.Popen(
            [PYTHON, "-c", HALF_BUSY, "512"],
            env=emulation.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert job.stdout
        job.stdout.readline()
        processes, memory = map(int, emulation.python(processes_and_memory).split())
        assert (processes, memory > 1 << 20) == (1, True)
        job.kill()
        job.communicate()
        assert emulation.python(processes_and_memory).split() == ["0", "0"]


NVML_ERRORS = """
import ctypes, sys
import pynvml as nvml
library = ctypes.CDLL("libnvidia-ml.so.1")
count = ctypes.c_uint()
print("before init", library.nvmlDeviceGetCount_v2(ctypes.byref(count)))
nvml.nvmlInit()
nvml.nvmlInit()
handle = nvml.nvmlDeviceGetHandleByIndex(0)
def code(function, *arguments):
    try:
        function(*arguments)
    except nvml.NVMLError as error:
        return error.value
    return 0
print("no such index", code(nvml.nvmlDeviceGetHandleByIndex, 1))
print("no such uuid", code(nvml.nvmlDeviceGetHandleByUUID, "GPU-0"))
print("its uuid", code(nvml.nvmlDeviceGetHandleByUUID, nvml.nvmlDeviceGetUUID(handle)))
bus = nvml.nvmlDeviceGetPciInfo(handle).busId
print("its bus", code(nvml.nvmlDeviceGetHandleByPciBusId, bus))
print("ECC", code(nvml.nvmlDeviceGetEccMode, handle))
print("fan", code(nvml.nvmlDeviceGetFanSpeed, handle))
name = ctypes.create_string_buffer(4)
print("short name", library.nvmlDeviceGetName(handle, name, 4))
print("no handle", library.nvmlDeviceGetName(ctypes.byref(count), name, 4))
print("field", nvml.nvmlDeviceGetFieldValues(handle, [83, 1])[1].nvmlReturn)
nvml.nvmlShutdown()
print("still there", code(nvml.nvmlDeviceGetCount))
nvml.nvmlShutdown()
print("after", code(nvml.nvmlDeviceGetCount))
"""


def test_nvml_answers_errors_as_documented() -> None:
    with machine("t4") as emulation:
        answers = dict(line.rsplit(" ", 1) for line in emulation.python(NVML_ERRORS).splitlines())
    uninitialized, invalid, not_supported, not_found, insufficient = "1", "2", "3", "6", "7"
    assert answers == {
        "before init": uninitialized,
        "no such index": invalid,
        "no such uuid": not_found,
        "its uuid": "0",
        "its bus": "0",
        "ECC": not_supported,
        "fan": not_supported,
        "short name": insufficient,
        "no handle": invalid,
        "field": not_supported,
        "still there": "0",
        "after": uninitialized,
    }
