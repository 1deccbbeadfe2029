"""What must not break: forks, hard exits, kills, machines without /dev/shm, other programs."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import leftovers
import pytest
from emulation import PYTHON, UNSTARVE, Emulation, unstarve

Machine = Callable[..., Emulation]

MEMORY_IN_USE = """
import torch
free, total = torch.cuda.mem_get_info()
print((total - free) // 2**20)
"""


def test_a_forked_child_of_a_process_that_used_cuda_is_refused(emulated: Machine) -> None:
    said = emulated().python("""
import os, sys, torch
x = torch.ones(8, device="cuda")
torch.cuda.synchronize()
child = os.fork()
if child == 0:
    try:
        torch.ones(8, device="cuda")
        os._exit(1)
    except RuntimeError as error:
        os._exit(0 if "forked" in str(error) else 2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
(x + x).sum().item()
print("parent goes on")
""")
    assert said.split("\n")[:2] == ["0", "parent goes on"]


def test_a_forked_child_that_asks_the_driver_itself_gets_an_error(emulated: Machine) -> None:
    """Below torch, which looks for forks itself."""
    said = emulated().python("""
import ctypes, os
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
child = os.fork()
if child == 0:
    memory = ctypes.c_void_p()
    os._exit(min(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024)), 255))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert int(said) == 3  # CUDA_ERROR_NOT_INITIALIZED


def test_worker_processes_of_a_loader_are_forked_after_cuda_was_used(emulated: Machine) -> None:
    said = emulated().python("""
import torch
from torch.utils.data import DataLoader
x = torch.zeros(4, device="cuda")
loader = DataLoader(torch.arange(64).float(), batch_size=8, num_workers=2, pin_memory=True)
print(sum(batch.is_pinned() for batch in loader))
print(sum(float((batch.cuda(non_blocking=True) + 1).sum()) for batch in loader))
""")
    assert said.split() == ["8", "0.0"]


def test_a_spawned_child_has_the_gpu_too(emulated: Machine, tmp_path: Path) -> None:
    script = tmp_path / "spawn.py"
    script.write_text("""
import torch, torch.multiprocessing as mp
def child(queue):
    queue.put((torch.ones(4, device="cuda").cpu().shape[0], torch.cuda.get_device_name()))
if __name__ == "__main__":
    x = torch.ones(4, device="cuda")
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode)
""")
    done = emulated().run(PYTHON, script)
    assert done.stdout.split("\n")[:2] == ["(4, 'Emulated NVIDIA A100-SXM4-80GB')", "0"], done


@pytest.mark.parametrize("work", ["", "y = x @ x", "for _ in range(200): y = x @ x"])
def test_an_exit_without_clean_up_keeps_its_code(emulated: Machine, work: str) -> None:
    done = emulated().run(
        PYTHON, "-c", f"import os, torch\nx = torch.randn(4096, 4096).cuda()\n{work}\nos._exit(7)"
    )
    assert (done.returncode, done.stderr) == (7, "")


@pytest.mark.parametrize(
    "ending", ["", "raise SystemExit(5)", "raise ValueError", "import threading\nsys.exit(5)"]
)
def test_an_exit_with_work_pending_is_clean(emulated: Machine, ending: str) -> None:
    done = emulated().run(
        PYTHON,
        "-c",
        "import sys, torch\n"
        "x = torch.randn(4096, 4096).cuda()\n"
        "s = torch.cuda.Stream()\n"
        "with torch.cuda.stream(s):\n"
        "    for _ in range(100): y = x @ x\n" + ending,
    )
    expected = 0 if not ending else 1 if "Value" in ending else 5
    assert done.returncode == expected, done.stderr
    assert ("ValueError" in done.stderr) == ("Value" in ending)
    assert "terminate called" not in done.stderr


def test_memory_of_a_killed_process_is_free_again(emulated: Machine) -> None:
    machine = emulated()
    held = subprocess.Popen(
        [
            PYTHON,
            "-c",
            "import torch, time\n"
            "x = torch.empty(20 * 2**30, dtype=torch.uint8, device='cuda')\n"
            "print('held', flush=True); time.sleep(600)",
        ],
        env=machine.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert held.stdout
        assert held.stdout.readline() == "held\n"
        while_held = int(machine.python(MEMORY_IN_USE))
    finally:
        held.kill()
        held.wait()
    after = int(machine.python(MEMORY_IN_USE))
    assert while_held > 20 * 1024
    assert after < 2 * 1024


def test_a_process_that_does_not_use_cuda_is_left_alone(emulated: Machine) -> None:
    machine = emulated()
    maps = machine.run("cat", "/proc/self/maps").stdout
    ours = {line.split("/")[-1] for line in maps.splitlines() if "/lib/emulated/" in line}
    assert ours == {"libunstarve_redirect.so"}
    script = (
        "import torch, pathlib\ntorch.ones(3).sum()\n"
        "print(len(list(pathlib.Path('/proc/self/task').iterdir())))"
    )
    said = machine.run(PYTHON, "-c", script, fresh=True)
    assert said.returncode == 0, said.stderr
    alone = subprocess.run([PYTHON, "-c", script], capture_output=True, text=True)
    if alone.returncode == 0:  # where torch's own libraries are there as well
        assert int(said.stdout) == int(alone.stdout)
    assert not list(machine.state.glob("gpu-*"))


def test_a_program_without_settings_gets_no_stand_ins(emulated: Machine) -> None:
    environment = dict(emulated().environment)
    del environment["UNSTARVE_EMULATED_GPU"]
    script = (
        "import ctypes\n"
        "try: ctypes.CDLL('libcudart.so.99'); print('found')\n"
        "except OSError: print('none')\n"
        "maps = open('/proc/self/maps').read()\n"
        "print('unstarve_emulated_gpu' in maps)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["none", "False"]


def test_settings_that_are_gone_mean_no_gpu(emulated: Machine, tmp_path: Path) -> None:
    """As in a daemon that outlives the emulation."""
    for text in (None, "", "{", "[]", '{"gpus": 1, "profile": {}}', '{"gpus": -1}', "\0" * 100):
        settings = tmp_path / "settings.json"
        settings.unlink(missing_ok=True)
        if text is not None:
            settings.write_text(text)
        script = (
            "import ctypes\n"
            "count = ctypes.c_int(-1)\n"
            "print(ctypes.CDLL('libcudart.so.12').cudaGetDeviceCount(ctypes.byref(count)))"
        )
        done = emulated().run(
            sys.executable, "-c", script, env={"UNSTARVE_EMULATED_GPU": str(settings)}
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) == 100, text  # cudaErrorNoDevice


def test_both_majors_live_side_by_side(emulated: Machine) -> None:
    """Two torch versions in one environment ask for libraries of two CUDA majors."""
    script = """
import ctypes, sys
runtime = ctypes.CDLL(f"libcudart.so.{sys.argv[1]}")
version, memory = ctypes.c_int(), ctypes.c_void_p()
assert runtime.cudaRuntimeGetVersion(ctypes.byref(version)) == 0
assert runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) == 0
assert runtime.cudaFree(memory) == 0
print(version.value // 1000)
"""
    machine = emulated()
    for major in (12, 13):
        done = machine.run(sys.executable, "-c", script, str(major))
        assert (done.returncode, done.stdout) == (0, f"{major}\n"), done.stderr


@pytest.mark.other_torch
def test_two_torch_versions_share_one_emulation(emulated: Machine) -> None:
    machine = emulated()
    script = (
        "import torch\nx = torch.randn(64, 64, device='cuda')\n"
        "torch.cuda.synchronize()\nprint(torch.__version__, (x @ x).shape[0])"
    )
    runs = [
        subprocess.Popen(
            [python, "-c", script],
            env=machine.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for python in (sys.executable, PYTHON)
    ]
    said = [run.communicate(timeout=300) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    versions = {out.split()[0] for out, _ in said}
    assert len(versions) == 2


def test_without_dev_shm_the_state_lies_in_the_temporary_folder(tmp_path: Path) -> None:
    hide = f"mount --bind {tmp_path}/empty /dev/shm && mount -o remount,ro,bind /dev/shm"
    (tmp_path / "empty").mkdir()
    (tmp_path / "tmp").mkdir()
    isolated = ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c"]
    if subprocess.run([*isolated, hide], capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody hide /dev/shm")
    script = (
        "import os, torch\n"
        "print(os.path.dirname(os.environ['UNSTARVE_EMULATED_GPU']))\n"
        "print(torch.randn(8, 8, device='cuda').sum().item())"
    )
    done = subprocess.run(
        [
            *[*isolated, f'{hide} && exec "$@"', "sh"],
            *[str(UNSTARVE), "emulate", "--", PYTHON, "-c", script],
        ],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    state, value = done.stdout.split()
    assert Path(state).parent == tmp_path / "tmp"
    assert float(value) == 0
    assert not list((tmp_path / "tmp").iterdir())


def test_what_a_killed_command_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    script = "import os; print(os.environ['UNSTARVE_EMULATED_GPU'], flush=True); input()"
    run = subprocess.Popen(
        [str(UNSTARVE), "emulate", "--", sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert run.stdin
    assert run.stdout
    state = Path(run.stdout.readline().strip()).parent
    run.send_signal(signal.SIGKILL)
    run.wait()
    unstarve("emulate", "--", "true")
    assert state.is_dir(), "its job still runs"
    run.stdin.close()
    deadline = time.monotonic() + 30
    while state.is_dir() and time.monotonic() < deadline:
        leftovers.reap_orphans(frozenset())  # as the system's first process does
        unstarve("emulate", "--", "true")
    assert not state.exists()


def cpu_ms(command: list[str], environment: dict[str, str]) -> float:
    """Of a CPU, for all of a program: the clock would count who else runs there."""
    program = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0
    return (used.ru_utime + used.ru_stime) * 1e3


@pytest.mark.parametrize("command", [["true"], ["bash", "-c", ":"], ["git", "--version"]])
def test_a_program_that_uses_no_gpu_starts_as_fast(emulated: Machine, command: list[str]) -> None:
    environment = emulated().environment
    plain = {k: v for k, v in environment.items() if k != "LD_AUDIT"}
    pairs = [(cpu_ms(command, plain), cpu_ms(command, environment)) for _ in range(40)]
    cost_ms = statistics.median(ours for _, ours in pairs) - statistics.median(
        theirs for theirs, _ in pairs
    )
    assert cost_ms < 2, f"{cost_ms:.2f} ms"
