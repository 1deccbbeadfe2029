"""The ring and its recorder under hostile conditions; no torch needed."""

import errno
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import Job, environment, run_job, run_python

RECORD = "from _unstarve_hook.recorder import RECORDER as R, WAIT\n"


def job_of(run_dir: Path, code: str, **options: Any) -> Job:
    return run_job(run_dir, ["-c", RECORD + code], **options)


def test_old_records_are_overwritten_and_the_count_goes_on(tmp_path: Path) -> None:
    job = job_of(tmp_path, "for n in range(20000): R.record(WAIT, n, n + 1, n)")
    (path,) = (tmp_path / "rings").iterdir()
    assert struct.unpack_from("<Q", path.read_bytes(), 32) == (20002,)  # process, waits, end
    waits = job.main.of("wait")
    assert [r["loader"] for r in waits] == list(range(20000 - len(waits), 20000))
    assert len(job.main.records) == 16384


@pytest.mark.parametrize("last_words", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_ring_outlives_a_process_that_is_killed(tmp_path: Path, last_words: str) -> None:
    job = job_of(tmp_path, f"import os, signal\nR.record(WAIT, 1, 2, 7)\n{last_words}")
    assert job.process.returncode in (3, -signal.SIGKILL)
    assert [r["event"] for r in job.main.records] == ["process", "wait"]
    assert job.main.of("wait")[0]["loader"] == 7


LOCK = """
import fcntl, os, signal
R.record(WAIT, 1, 2, 7)
def is_free(path):
    with open(path) as ring:
        try:
            fcntl.flock(ring, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
told, tell = os.pipe()
child = os.fork()
if child == 0:
    R.record(WAIT, 1, 2, 8)
    os.write(tell, os.fsencode(R.ring_path()))
    signal.pause()
path = os.read(told, 4096).decode()
print(is_free(R.ring_path()), is_free(path))
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print(is_free(R.ring_path()), is_free(path))
"""


def test_a_ring_is_locked_until_its_process_is_gone(tmp_path: Path) -> None:
    job = job_of(tmp_path, LOCK)
    assert job.process.stdout == "False False\nFalse True\n", job.process.stderr
    for path in (tmp_path / "rings").glob("*.ring"):
        assert struct.unpack_from("<I", path.read_bytes(), 60) == (1,)


def test_threads_and_forks_share_nothing_but_the_directory(tmp_path: Path) -> None:
    code = """
import os, threading
def write(): [R.record(WAIT, n, n, n) for n in range(500)]
threads = [threading.Thread(target=write) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
if os.fork() == 0:
    R.record(WAIT, 1, 1, 99)
    os._exit(0)
os.wait()
"""
    job = job_of(tmp_path, code)
    child, parent = sorted(job.rings, key=lambda ring: len(ring.records))
    assert [r["loader"] for r in child.of("wait")] == [99]
    assert child.text["ppid"] == parent.pid == parent.text["pid"]
    waits = parent.of("wait")
    assert len(waits) == 2000
    for thread in {r["thread"] for r in waits}:
        assert [r["loader"] for r in waits if r["thread"] == thread] == list(range(500))


def test_a_signal_handler_that_records_does_not_lock_up(tmp_path: Path) -> None:
    code = """
import errno
import signal
signal.signal(signal.SIGALRM, lambda *_: R.record(WAIT, 0, 0, 1))
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
for n in range(50000): R.record(WAIT, 0, 0, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
print("done")
"""
    job = job_of(tmp_path, code)
    assert job.process.stdout == "done\n"
    assert len(job.rings) == 1, "it comes while the first record makes the ring as well"


def test_exec_keeps_the_first_ring(tmp_path: Path) -> None:
    again = "import os, sys\nR.record(WAIT, 0, 0, {})\n"
    second = RECORD + again.format(2)
    code = again.format(1) + f"os.execv(sys.executable, [sys.executable, '-c', {second!r}])\n"
    job = job_of(tmp_path, code)
    assert [ring.of("wait")[0]["loader"] for ring in job.rings] == [1, 2]
    assert len({ring.pid for ring in job.rings}) == 1


def test_a_process_id_that_is_used_again_gets_a_name_of_its_own(tmp_path: Path) -> None:
    """Its first ring is gone by then: read, and removed by whoever watches."""
    code = """
import os
R.record(WAIT, 0, 0, 1)
rings = os.path.join(os.environ["UNSTARVE_RUN_DIR"], "rings")
(first,) = os.listdir(rings)
os.rename(os.path.join(rings, first), os.path.join(rings, "taken"))
R.start_afresh()
R.record(WAIT, 0, 0, 2)
assert first not in os.listdir(rings), first
"""
    job = job_of(tmp_path, code)
    assert (job.process.returncode, job.process.stderr) == (0, "")
    assert [ring.of("wait")[0]["loader"] for ring in job.rings] == [2]


def missing(run_dir: Path) -> str:
    return ""


def a_file(run_dir: Path) -> str:
    (run_dir / "rings").write_text("in the way")
    return ""


def full_disk(run_dir: Path) -> str:
    """As a full disk does: the space for the file cannot be had."""
    (run_dir / "rings").mkdir()
    return "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"


@pytest.mark.parametrize("obstacle", [missing, a_file, full_disk])
def test_a_job_without_room_for_a_ring_runs_as_ever(
    tmp_path: Path, obstacle: Callable[[Path], str]
) -> None:
    code = obstacle(tmp_path) + RECORD + "for n in range(100): R.record(WAIT, 0, 0, 0)\n"
    done = run_python(["-c", code + "R.describe(a=1)\nprint('done')"], environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    left = [path.name for path in tmp_path.glob("**/*hook*")]
    if obstacle is full_disk:
        # Nothing but the reason, in the name of an empty file.
        (name,) = left
        assert name.endswith(f".errno-{errno.EFBIG}")
        assert (tmp_path / "rings" / name).stat().st_size == 0
    else:
        assert left == []


def test_the_text_fits_and_says_what_was_left_out(tmp_path: Path) -> None:
    job = job_of(tmp_path, "R.describe(loaders='x' * 5000, rest=1)\nR.record(WAIT, 0, 0)\n")
    assert job.main.text["rest"] == 1
    assert job.main.text["left_out"] == ["loaders"]


def test_errors_of_the_hook_are_kept_in_the_text(tmp_path: Path) -> None:
    job = job_of(tmp_path, "R.record(WAIT, 0, 0)\nR.record(WAIT, 'x', 0)\nR.record(WAIT, 'x', 0)\n")
    (error,) = job.errors
    assert error.startswith("error: required argument is not an integer (ring.py:")
    assert job.process.stderr == ""


def test_the_stages_of_the_native_loader_are_recorded(tmp_path: Path) -> None:
    """Played by a module with the same name and face, whose counters grow with each batch."""
    package = tmp_path / "path" / "unstarve"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "loader.py").write_text(
        "class Native:\n"
        "    thread_count, ready_batches, batches = 2, 1, 10\n"
        "    def stats(self):\n"
        "        n = self.batches\n"
        "        return dict(read_ns=n, bytes_read=2*n, decode_ns=3*n, images=4*n, threads=2)\n"
        "class ImageFolderLoader:\n"
        "    threads, batch_size, _native = 3, 2, Native()\n"
        "    def __iter__(self):\n"
        "        for _ in range(2):\n"
        "            self._native.batches += 1\n"
        "            yield 'a'\n"
    )
    code = """
import os, unstarve.loader
for batch in unstarve.loader.ImageFolderLoader(): pass
iterator = iter(unstarve.loader.ImageFolderLoader())
if os.fork() == 0:
    list(iterator)
    os._exit(0)
os.wait()
"""
    job = job_of(tmp_path, code, path=[package.parent])
    assert (job.process.stderr, job.errors) == ("", [])
    (main,) = [ring for ring in job.rings if ring.of("loader")]
    assert [(r["num_workers"], r["flags"]) for r in main.of("loader")] == [(2, 4), (2, 4)]
    assert [r["ready"] for r in main.of("wait")] == [1, 1, 1]
    stages = [(r["stage"], r["spent_ns"], r["amount"], r["threads"]) for r in main.of("stage")]
    assert stages == [(0, 2, 4, 2), (1, 6, 8, 2)]
    (forked,) = [ring for ring in job.rings if not ring.of("loader")]
    assert [r["ready"] for r in forked.of("wait")] == [None, None, None]
    assert forked.of("stage") == []


def test_the_native_loader_is_watched(tmp_path: Path) -> None:
    """Played by a module with the same name and face."""
    package = tmp_path / "path" / "unstarve"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "loader.py").write_text(
        "class ImageFolderLoader:\n"
        "    threads, batch_size = 3, 2\n"
        "    def __iter__(self):\n"
        "        yield from 'ab'\n"
    )
    code = """
import unstarve.loader
from _unstarve_hook.steps import STEPS
for batch in unstarve.loader.ImageFolderLoader():
    STEPS.stepped(STEPS)
"""
    job = job_of(tmp_path, code, path=[package.parent])
    assert (job.process.stderr, job.errors) == ("", [])
    assert [r["num_workers"] for r in job.main.of("loader")] == [3]
    waits = job.main.of("wait")
    assert [(r["batch"], r["samples"], r["ended"]) for r in waits] == [
        (0, 2, 0),
        (1, 2, 0),
        (2, 0, 1),
    ]
    steps = job.main.of("step")
    assert [(r["index"], r["samples"], r["source"]) for r in steps] == [(0, 2, 0), (1, 2, 0)]
