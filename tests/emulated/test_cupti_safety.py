"""The library that records through CUPTI must not change a job, however it ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from device_rings import read_kernels, read_records
from emulation import PYTHON, UNSTARVE
from measuring import measured
from recording import Machine, environment, record

USE = """
import torch
x = torch.randn(256, 256, device="cuda")
y = x @ x
torch.cuda.synchronize()
"""

ENDINGS = {
    "normal": "print('done')",
    "exit code": "import sys; sys.exit(5)",
    "exception": "raise ValueError('theirs')",
    "os._exit": "import os; os._exit(7)",
    "abort": "import os; os.abort()",
    "work pending": "for _ in range(200): y = x @ x",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_job_ends_as_without_us(emulated: Machine, tmp_path: Path, ending: str) -> None:
    machine = emulated()
    script = USE + ENDINGS[ending]
    plain = machine.run(PYTHON, "-c", script)
    seen = record(machine, tmp_path, script).process
    assert (seen.returncode, seen.stdout, seen.stderr) == (
        plain.returncode,
        plain.stdout,
        plain.stderr,
    )


FORKS = """
import os, torch
from torch.utils.data import DataLoader
x = torch.randn(64, 64, device="cuda")
(x @ x).sum().item()
loader = DataLoader(torch.arange(64).float(), batch_size=8, num_workers=2, pin_memory=True)
print(sum(float((batch.cuda(non_blocking=True) + 1).sum()) for batch in loader))
child = os.fork()
if child == 0:
    raise SystemExit(3)  # through the handlers at exit, which are the parent's
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
(x @ x).sum().item()
"""


def test_forked_children_have_nothing_of_it(emulated: Machine, tmp_path: Path) -> None:
    seen = record(emulated(), tmp_path, FORKS)
    assert (seen.process.returncode, seen.process.stderr) == (0, "")
    assert seen.process.stdout.split() == ["0.0", "3"]
    assert len(seen.windows()) == 1  # of the parent's only ring
    assert len(read_kernels(seen.ring)) >= 12


SPAWNS = """
import torch, torch.multiprocessing as mp
def child(number):
    x = torch.randn(64, 64, device="cuda")
    for _ in range(number):
        y = x @ x
    torch.cuda.synchronize()
if __name__ == "__main__":
    torch.randn(8, device="cuda")
    children = [mp.get_context("spawn").Process(target=child, args=(n,)) for n in (20, 30)]
    for each in children: each.start()
    for each in children: each.join()
    print([each.exitcode for each in children])
"""


def test_each_spawned_process_has_its_own_ring(emulated: Machine, tmp_path: Path) -> None:
    script = tmp_path / "spawn.py"
    script.write_text(SPAWNS)
    done = emulated().run(PYTHON, script, env=environment(tmp_path))
    assert (done.stdout, done.stderr) == ("[0, 0]\n", "")
    rings = sorted((tmp_path / "rings").glob("cupti-*.ring"))
    counts = sorted(len(read_kernels(ring)) for ring in rings)
    assert [count >= least for count, least in zip(counts, (1, 20, 30), strict=True)] == [True] * 3
    assert counts[1] < 30


def test_a_killed_process_leaves_what_was_fetched(emulated: Machine, tmp_path: Path) -> None:
    script = USE + (
        "import sys, time\n"
        "end = time.monotonic() + 1\n"
        # Not so much that the ring, which nobody reads, holds less than all of it.
        "while time.monotonic() < end: y = x @ x; torch.cuda.synchronize(); time.sleep(0.001)\n"
        "print('worked', flush=True); time.sleep(600)"
    )
    machine = emulated()
    job = subprocess.Popen(
        [PYTHON, "-c", script],
        env={**machine.environment, **environment(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert job.stdout
    assert job.stdout.readline() == "worked\n"
    job.send_signal(signal.SIGKILL)
    job.wait()
    (ring,) = (tmp_path / "rings").glob("cupti-*.ring")
    kernels = read_kernels(ring)
    assert kernels[-1].end_ns - kernels[0].start_ns > 500_000_000


def test_a_process_that_does_not_use_cuda_has_nothing_of_it(
    emulated: Machine, tmp_path: Path
) -> None:
    script = (
        "import torch\n"
        "torch.ones(3).sum()\n"
        "print('unstarve_cupti' in open('/proc/self/maps').read())\n"
        "import pathlib\n"
        "print(len([t for t in pathlib.Path('/proc/self/task').glob('*/comm')"
        " if 'unstarve' in t.read_text()]))"
    )
    seen = record(emulated(), tmp_path, script)
    assert seen.process.returncode == 0, seen.process.stderr
    assert seen.process.stdout.split() == ["False", "0"]
    assert seen.rings == []


def test_a_process_that_only_asks_for_gpus_leaves_no_ring(
    emulated: Machine, tmp_path: Path
) -> None:
    seen = record(emulated(), tmp_path, "import torch; print(torch.cuda.device_count())")
    assert (seen.process.stdout, seen.process.stderr) == ("1\n", "")
    assert seen.rings == []


def test_a_program_that_is_no_run_of_ours_is_not_recorded(
    emulated: Machine, tmp_path: Path
) -> None:
    for run_dir in ("", str(tmp_path / "gone")):
        seen = record(emulated(), tmp_path, USE + "print('done')", UNSTARVE_RUN_DIR=run_dir)
        assert (seen.process.stdout, seen.process.stderr) == ("done\n", "")
        assert seen.rings == []


def test_a_folder_that_cannot_be_written(emulated: Machine, tmp_path: Path) -> None:
    machine = emulated()
    (tmp_path / "rings").write_text("in the way")
    script = USE + "print('done')"
    env = {**environment(tmp_path / "other"), "UNSTARVE_RUN_DIR": str(tmp_path)}
    done = machine.run(PYTHON, "-c", script, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_disk_without_room(emulated: Machine, tmp_path: Path) -> None:
    """A limit on files' sizes, which ends whoever writes more by a signal."""
    machine = emulated()
    limited = 'ulimit -f 2048 && exec "$@"'  # KiB; a ring takes 16 MiB
    done = machine.run(
        *["bash", "-c", limited, "bash", PYTHON, "-c", USE + "print('done')"],
        env=environment(tmp_path),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    (word,) = (tmp_path / "rings").glob("cupti-*")
    assert word.name.endswith(f".errno-{errno.EFBIG}")
    assert word.stat().st_size == 0


@pytest.mark.parametrize(
    "value", ["", "yes", "1/0", "-5/3", "9" * 5000, "always\n", "\x7f\\\"'", "é"]
)
def test_values_that_are_none(emulated: Machine, tmp_path: Path, value: str) -> None:
    seen = record(emulated(), tmp_path, USE + "print('done')", plan=value)
    assert (seen.process.returncode, seen.process.stdout) == (0, "done\n"), seen.process.stderr
    assert len(read_kernels(seen.ring)) >= 1


@pytest.mark.parametrize("library", ["/nowhere/lib.so", "/etc/passwd", "libm.so.6"])
def test_a_library_that_is_none_does_not_stop_the_job(emulated: Machine, library: str) -> None:
    done = emulated().run(
        PYTHON, "-c", USE + "print('done')", env={"CUDA_INJECTION64_PATH": library}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_signals_go_to_the_job(emulated: Machine, tmp_path: Path) -> None:
    script = (
        USE
        + """
import os, signal, threading, time
told = []
signal.signal(signal.SIGUSR1, lambda *_: told.append(threading.current_thread().name))
for _ in range(50):
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.001)
print(len(told), set(told))
"""
    )
    seen = record(emulated(), tmp_path, script)
    assert seen.process.stdout == "50 {'MainThread'}\n"


def test_a_program_without_python_is_recorded_too(emulated: Machine, tmp_path: Path) -> None:
    """No hook, no torch: the runtime alone, whose CUPTI has to be found."""
    script = """
import ctypes, os
cuda = ctypes.CDLL("libcudart.so.12")
memory = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) == 0
for _ in range(5):
    assert cuda.cudaMemset(memory, 0, ctypes.c_size_t(1 << 20)) == 0
assert cuda.cudaDeviceSynchronize() == 0
maps = open("/proc/self/maps").read()
print("libcupti.so.12" in maps, "libcupti.so.13" in maps)
"""
    done = emulated().run(sys.executable, "-I", "-c", script, env=environment(tmp_path))
    assert (done.stdout, done.stderr) == ("True False\n", "")
    (ring,) = (tmp_path / "rings").glob("cupti-*.ring")
    assert [kind for kind, _ in read_records(ring)].count(2) == 5


def test_the_processs_end_does_not_wait_long(emulated: Machine, tmp_path: Path) -> None:
    machine = emulated()
    script = USE + "import time; print(time.time())"

    def took_s() -> float:
        done = record(machine, tmp_path, script).process
        return time.time() - float(done.stdout)

    def judge(seconds: float) -> None:
        assert seconds < 1.5

    measured(took_s, judge)


def test_no_dev_shm(tmp_path: Path) -> None:
    hide = f"mount --bind {tmp_path}/empty /dev/shm && mount -o remount,ro,bind /dev/shm"
    (tmp_path / "empty").mkdir()
    isolated = ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c"]
    if subprocess.run([*isolated, hide], capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody hide /dev/shm")
    job = [PYTHON, "-c", USE + "print('done')"]
    run = [str(UNSTARVE), "run", "--verbose", "--emulate", "a100", "--out", str(tmp_path / "run")]
    run += ["--", *job]
    done = subprocess.run(
        [*isolated, f'{hide} && exec "$@"', "sh", *run],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout
    assert "GPU utilisation" in done.stderr
