"""What the library records through CUPTI: against the emulated GPU's own account of itself."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from device_rings import Kernel, read_kernels, read_records
from emulation import PYTHON, WARM, machine, unstarve
from measuring import measured
from recording import Machine, Recorded, environment, record
from warm_python import Child

WORK = """
import os, time, torch
x = torch.randn(2048, 2048, device="cuda")
for _ in range(50):
    y = torch.relu(x @ x)
torch.cuda.synchronize()
z = torch.ones(1 << 20).cuda()
torch.cuda.synchronize()
print(os.getpid())
"""


def own_account(machine_state: Path, pid: int, gpu: int = 0) -> list[Kernel]:
    return read_kernels(machine_state / "rings" / f"gpu-{gpu}-{pid}.ring")


def test_every_operation_is_recorded_at_its_time(emulated: Machine, tmp_path: Path) -> None:
    machine = emulated()

    def measure() -> Recorded:
        return record(machine, Path(tempfile.mkdtemp(dir=tmp_path)), WORK)

    def judge(seen: Recorded) -> None:
        assert seen.windows()[0].clock_error_ns < 100_000

    seen = measured(measure, judge)
    assert seen.process.returncode == 0, seen.process.stderr
    held = own_account(machine.state, int(seen.process.stdout))
    kernels = read_kernels(seen.ring)
    assert [(k.name, k.correlation) for k in kernels] == [(k.name, k.correlation) for k in held]
    (window,) = seen.windows()
    assert window.records_lost == 0
    for ours, theirs in zip(kernels, held, strict=True):
        assert abs(ours.start_ns - theirs.start_ns) <= window.clock_error_ns
        assert abs(ours.end_ns - theirs.end_ns) <= window.clock_error_ns
        assert window.start_ns <= ours.start_ns <= ours.end_ns <= window.end_ns
    kinds = {kind for kind, _ in read_records(seen.ring)}
    assert {1, 5, 10, 38} <= kinds  # copies, calls, kernels, waits
    (device,) = seen.devices()
    assert device["index"] == 0
    assert device["name"] == "Emulated NVIDIA A100-SXM4-80GB"
    assert device["emulated"] is True
    assert device["total_memory_bytes"] > 70 << 30  # type: ignore[operator]


def test_devices_have_the_numbers_of_the_machine(emulated: Machine, tmp_path: Path) -> None:
    script = """
import torch
for gpu in range(2):
    x = torch.randn(512, 512, device=f"cuda:{gpu}")
    (x @ x).sum()
    torch.cuda.synchronize(gpu)
"""
    machine = emulated(gpus=3)
    seen = record(machine, tmp_path, script, CUDA_VISIBLE_DEVICES="2,1")
    assert seen.process.returncode == 0, seen.process.stderr
    assert sorted({kernel.device for kernel in read_kernels(seen.ring)}) == [1, 2]
    assert [device["index"] for device in seen.devices()] == [2, 1]


LONG_WORK = """
import os, time, torch
x = torch.randn(512, 512, device="cuda")
end = time.monotonic() + 2
while time.monotonic() < end:
    y = x @ x
    torch.cuda.synchronize()
    time.sleep(0.001)
print(os.getpid())
"""


def test_only_windows_are_recorded(emulated: Machine, tmp_path: Path) -> None:
    machine = emulated()
    seen = record(machine, tmp_path, LONG_WORK, plan="100/500")
    assert seen.process.returncode == 0, seen.process.stderr
    held = own_account(machine.state, int(seen.process.stdout))
    windows = seen.windows()
    assert [window.number for window in windows] == list(range(len(windows)))
    # One each half second, until the process is gone; a busy machine may sleep through one.
    lasted_s = (time.monotonic_ns() - held[0].start_ns) / 1e9
    assert 2 <= len(windows) <= 1 + lasted_s / 0.5
    inside = [
        kernel
        for kernel in held
        if any(w.start_ns < kernel.start_ns and kernel.end_ns < w.end_ns for w in windows)
    ]
    kernels = read_kernels(seen.ring)
    recorded = {kernel.correlation for kernel in kernels}
    # What runs while a window opens or closes may be on either side.
    assert {kernel.correlation for kernel in inside} - recorded == set()
    assert len(recorded) <= len(inside) + 2 * len(windows)
    assert len(recorded) < 0.8 * len(held)


PROFILE = """
import json, os, sys, time, torch
x = torch.randn(512, 512, device="cuda")
def work():
    for _ in range(20):
        y = x @ x
    torch.cuda.synchronize()
work()
from torch.profiler import profile, ProfilerActivity
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
    work()
time.sleep(1)
work()
seen.export_chrome_trace(sys.argv[1] if len(sys.argv) > 1 else os.environ["TRACE"])
print(os.getpid())
"""


def kernels_in(trace: Path, category: str = "kernel") -> int:
    events = json.loads(trace.read_text())["traceEvents"]
    return sum(event.get("cat") == category for event in events)


def test_a_profiler_of_the_job_sees_what_it_sees_without_us(
    emulated: Machine, tmp_path: Path
) -> None:
    machine = emulated()
    alone, beside = tmp_path / "alone.json", tmp_path / "beside.json"
    plain = record(machine, tmp_path / "a", PROFILE, plan="off", TRACE=str(alone))
    seen = record(machine, tmp_path / "b", PROFILE, TRACE=str(beside))
    # Kineto says when it starts and stops, and nothing else.
    said = [line.rpartition("] ")[2] for line in seen.process.stderr.splitlines()]
    alone_said = [line.rpartition("] ")[2] for line in plain.process.stderr.splitlines()]
    assert (seen.process.returncode, said) == (0, alone_said)
    assert kernels_in(beside) == kernels_in(alone) == 20
    # Also the calls that we had chosen one by one.
    calls = kernels_in(alone, "cuda_runtime")
    assert kernels_in(beside, "cuda_runtime") == calls
    assert calls > 20
    before, after = seen.windows()
    assert before.end_ns < after.start_ns
    held = own_account(machine.state, int(seen.process.stdout))
    assert len(read_kernels(seen.ring)) == len(held) - 20


def test_a_profiler_that_was_there_before_cuda_keeps_its_records(
    emulated: Machine, tmp_path: Path
) -> None:
    script = (
        PROFILE.replace('x = torch.randn(512, 512, device="cuda")\n', "")
        .replace("work()\nfrom torch", "from torch", 1)
        .replace("as seen:\n", 'as seen:\n    x = torch.ones(512, 512, device="cuda")\n')
    )
    trace = tmp_path / "trace.json"
    seen = record(emulated(), tmp_path, script, TRACE=str(trace))
    assert seen.process.returncode == 0, seen.process.stderr
    assert kernels_in(trace) >= 20
    assert len(read_kernels(seen.ring)) == 20
    assert len(seen.windows()) == 1


@pytest.mark.parametrize("plan", ["always", "100/1000", "off"])
def test_the_hook_says_who_records(emulated: Machine, tmp_path: Path, plan: str) -> None:
    script = """
import torch
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.zeros(4, 8, device="cuda")).sum().backward()
    optimizer.step()
"""
    seen = record(emulated(), tmp_path, script, plan=plan, fresh=plan == "always")
    assert (seen.process.returncode, seen.process.stderr) == (0, "")
    (ring,) = (tmp_path / "rings").glob("hook-*.ring")
    data = ring.read_bytes()[64:4096]
    text = json.loads(data[: int.from_bytes(ring.read_bytes()[56:60], "little")])
    assert text["hook_errors"] == []
    if plan == "off":
        assert text["gpu_records"] == {"why_not": "UNSTARVE_CUPTI is off"}
        assert text["profile"]["file"] == "kineto-0.json.gz"
    else:
        assert text["gpu_records"] == {"by": "cupti"}
        assert "profile" not in text
        assert not list(tmp_path.glob("kineto-*"))


LATE_STEPS = """
import time, torch
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
time.sleep(10.5)  # a first batch that takes its time, or a compiler
for _ in range(6):
    model(torch.zeros(4, 8, device="cuda")).sum().backward()
    optimizer.step()
    print(time.monotonic_ns())
    time.sleep(0.5)
"""


@pytest.fixture(scope="module", autouse=True)
def late_steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Child, Path, Path]]:
    """The job that sleeps while other tests run; its run folder; its machine's state."""
    run_dir = tmp_path_factory.mktemp("late")
    with machine("a100") as emulation:
        env = {**emulation.environment, **environment(run_dir, plan="")}
        with closing(WARM.start(["-c", LATE_STEPS], env, Path.cwd())) as job:
            WARM.prepare(env, 2)
            yield job, run_dir, emulation.state


def test_late_and_long_steps_are_recorded_whole(late_steps: tuple[Child, Path, Path]) -> None:
    job, run_dir, state = late_steps
    process = job.completed()
    assert (process.returncode, process.stderr) == (0, "")
    ends = [int(line) for line in process.stdout.split()]
    seen = Recorded(process, sorted((run_dir / "rings").glob("cupti-*.ring")))
    start_up, steps = seen.windows()
    assert start_up.end_ns < ends[0]
    second_ns = ends[0] + 500_000_000
    assert steps.start_ns < second_ns
    assert ends[-1] < steps.end_ns
    backward = [kernel for kernel in read_kernels(seen.ring) if kernel.start_ns > steps.start_ns]
    assert len(backward) >= 5 * 3
    held = [k.correlation for k in own_account(state, job.pid) if k.start_ns >= second_ns]
    assert [kernel.correlation for kernel in backward[-len(held) :]] == held


def test_another_injected_tool_stays_alone(emulated: Machine, tmp_path: Path) -> None:
    """`unstarve run` under Nsight Systems, say: its library is what the driver loads."""
    env = {**os.environ, "CUDA_INJECTION64_PATH": "/nowhere/libToolsInjection64.so"}
    script = "import os; print(os.environ['CUDA_INJECTION64_PATH'])"
    options = ["--emulate", "a100", "--out", str(tmp_path / "run"), "--", PYTHON, "-c", script]
    done = unstarve("run", *options, env=env)
    assert "/nowhere/libToolsInjection64.so" in done.stdout, done.stderr
