"""What profilers see of an emulated GPU, beside what our own records hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from device_rings import read_kernels
from emulation import PYTHON, Emulation, unstarve

CLIENT = Path(__file__).parent / "cupti_client.py"

PROFILE = """
import os, sys, torch
from torch.profiler import ProfilerActivity, profile
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.randn(512, 1024), 64, pin_memory=True)
def step(batch):
    optimizer.zero_grad()
    model(batch.cuda(non_blocking=True)).sum().backward()
    optimizer.step()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
    for batch in loader:
        step(batch)
    torch.cuda.synchronize()
recorded.export_chrome_trace(sys.argv[1])
print(os.getpid())
"""


@pytest.fixture
def a100(emulated: Callable[..., Emulation]) -> Emulation:
    return emulated("a100")


def test_torch_profiler_shows_what_the_ring_holds(a100: Emulation, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    pid = a100.python(PROFILE, str(path)).split()[-1]
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    shown = [event for event in events if event.get("cat") == "kernel"]
    held = {k.correlation: k for k in read_kernels(a100.state / "rings" / f"gpu-0-{pid}.ring")}
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}

    assert len(shown) > 8 * 5
    for kernel in shown:
        ours = held[kernel["args"]["correlation"]]
        ns = ours.end_ns - ours.start_ns
        assert kernel["dur"] * 1000 == pytest.approx(ns, abs=1100)  # whole us before torch 2.4
        launch = calls[kernel["args"]["correlation"]]
        assert launch["name"].startswith("cudaLaunch")
        assert launch["ts"] <= kernel["ts"]
    # Kineto writes names as people read them, the program's are mangled.
    reductions = Counter("reduce_kernel" in held[k["args"]["correlation"]].name for k in shown)
    assert Counter("reduce_kernel" in k["name"] for k in shown) == reductions
    assert reductions[True] >= 8
    # Gaps between kernels are as they were.
    first, last = shown[0], shown[-1]
    theirs_us = last["ts"] - first["ts"]
    ours_ns = (
        held[last["args"]["correlation"]].start_ns - held[first["args"]["correlation"]].start_ns
    )
    assert theirs_us * 1000 == pytest.approx(ours_ns, rel=0.001, abs=3000)
    copies = [event for event in events if event.get("cat") == "gpu_memcpy"]
    pinned = [c for c in copies if "Pinned -> Device" in c["name"]]
    assert [c["args"]["bytes"] for c in pinned] == [64 * 1024 * 4] * 8


GRAPH = """
import sys, torch
from torch.profiler import ProfilerActivity, profile
layer = torch.nn.Linear(256, 256).cuda()
data = torch.zeros(64, 256, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.no_grad():
    for _ in range(3):
        layer(data).relu()
    with torch.cuda.graph(graph):
        layer(data).relu()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
    for _ in range(4):
        graph.replay()
    torch.cuda.synchronize()
recorded.export_chrome_trace(sys.argv[1])
"""


def test_a_graphs_kernels_belong_to_its_launch(a100: Emulation, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    a100.python(GRAPH, str(path))
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    calls = {
        event["args"]["correlation"]: event["name"]
        for event in events
        if event.get("cat") == "cuda_runtime"
    }
    # Before a replay torch 2.1 launches kernels that are no part of it.
    launches = [event["args"]["correlation"] for event in events if event.get("cat") == "kernel"]
    of_graph = Counter(each for each in launches if calls[each] == "cudaGraphLaunch")
    assert len(of_graph) == 4
    assert set(of_graph.values()) == {2}


def test_a_trace_of_an_emulated_gpu_is_diagnosed_and_says_so(
    a100: Emulation, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    a100.python(PROFILE, str(path))
    done = unstarve("diagnose", "--verbose", str(path))
    assert done.returncode == 0, done.stderr
    assert "Emulated NVIDIA A100-SXM4-80GB (emulated)" in done.stdout
    assert "gpu_compute" in done.stdout


def client(emulation: Emulation, buffer_bytes: int, major: int) -> dict[str, Any]:
    done = emulation.run(PYTHON, CLIENT, str(major), str(buffer_bytes))
    assert done.returncode == 0, f"{done.returncode} {done.stdout}{done.stderr}"
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("major", [12, 13])
def test_cupti_tells_a_client_what_it_enabled(a100: Emulation, major: int) -> None:
    told = client(a100, 1 << 16, major)
    copy, fill, runtime, external = 1, 2, 5, 39
    kinds = Counter(told["kinds"])
    assert (kinds[copy], kinds[fill]) == (4, 4)
    assert told["copy_bytes"] == [1 << 20] * 4
    # cudaMalloc, four copies and fills, cudaDeviceSynchronize, cudaFree; no more was enabled.
    assert told["runtime"] == [20] + [31, 49] * 4 + [165, 22]
    assert kinds[runtime] + kinds[copy] + kinds[fill] + kinds[external] == len(told["kinds"])
    assert set(told["externals"].values()) == {77}
    assert {str(each) for each in told["of_copies"]} <= set(told["externals"])
    assert told["popped"] == 77
    # Times are the client's own: of a clock three times as fast, and of the time of the work.
    for start, end in told["spans"]:
        assert told["begin"] < start < end < told["end"]
    assert told["calls"] == [[31, "cudaMemcpy", site, 1000] for site in (0, 1)] * 4
    assert told["dropped"] == 0
    assert told["buffers_kept"] == 0
    assert told["version"] == {12: 26, 13: 130200}[major]
    assert told["launch"] == "cudaLaunchKernel"


def test_cupti_fails_as_documented(a100: Emulation) -> None:
    invalid, operation, empty, kind, not_supported, multiple = 1, 7, 18, 21, 27, 39
    assert client(a100, 1 << 16, 13)["codes"] == {
        "flush without callbacks": operation,
        "no callbacks": invalid,
        "no such kind": kind,
        "PC sampling": not_supported,
        "pop of nothing": empty,
        "push of no kind": invalid,
        "second subscriber": multiple,
        "synchronize domain": not_supported,
    }


def test_full_buffers_are_handed_over_and_small_ones_lose_records(a100: Emulation) -> None:
    whole = client(a100, 1 << 16, 13)
    many = client(a100, 256, 13)  # two or three records each
    assert Counter(many["kinds"]) == Counter(whole["kinds"])
    assert len(many["sizes"]) > 5
    assert max(many["sizes"]) <= 256
    none = client(a100, 128, 13)  # less than the largest record
    assert none["kinds"] == []
    assert none["dropped"] == len(whole["kinds"])


SNAPSHOT = """
import json, pickle, sys, torch, pynvml
torch.cuda.memory._record_memory_history(max_entries=1000)
kept = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")
gone = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")
del gone
torch.cuda.memory._dump_snapshot(sys.argv[1])
snapshot = pickle.load(open(sys.argv[1], "rb"))
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
(process,) = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
free, total = torch.cuda.mem_get_info()
print(json.dumps({
    "segments": sum(segment["total_size"] for segment in snapshot["segments"]),
    "active": sum(segment["active_size"] for segment in snapshot["segments"]),
    "actions": [entry["action"] for entry in snapshot["device_traces"][0]],
    "reserved": torch.cuda.memory_reserved(), "used": total - free,
    "nvml": process.usedGpuMemory,
    "nvml_total": pynvml.nvmlDeviceGetMemoryInfo(handle).total - total,
}))
"""


def test_memory_snapshots_agree_with_the_devices_memory(a100: Emulation, tmp_path: Path) -> None:
    if a100.run(PYTHON, "-c", "import pynvml").returncode:
        pytest.skip("the jobs' environment has no nvidia-ml-py")
    seen = json.loads(a100.python(SNAPSHOT, str(tmp_path / "snapshot.pickle")))
    assert seen["segments"] == seen["reserved"] == 70 << 20
    assert seen["active"] == 40 << 20
    assert seen["actions"].count("segment_alloc") == 2
    assert seen["actions"].count("alloc") == 2
    assert "free_completed" in seen["actions"]
    # Beside them lies the context.
    context = seen["used"] - seen["reserved"]
    assert 100 << 20 < context < 1 << 30
    assert seen["nvml"] == seen["used"]
    assert seen["nvml_total"] == 0
