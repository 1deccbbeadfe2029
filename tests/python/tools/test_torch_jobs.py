"""A job that is forked from a server with torch is what a fresh Python would make of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch_jobs
from hook_jobs import environment, run_job, run_python

TELL = """
import json, multiprocessing, os, sys, torch
print(json.dumps([sys.argv, sys.path, __name__, globals().get("__file__"), os.getcwd(),
    os.environ.get("ASKED"), torch.__version__, multiprocessing.parent_process() is None,
    sys.modules["__main__"].__dict__ is globals(), sorted(os.listdir("/proc/self/fd"))[:3]]))
"""


def forked(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    done = torch_jobs.run([str(word) for word in arguments], environment(None, (), **env))
    assert done is not None, "the server refused it"
    return done


@pytest.mark.parametrize("by_name", [True, False])
def test_a_script_finds_what_it_would_find(tmp_path: Path, by_name: bool) -> None:
    (tmp_path / "train.py").write_text(TELL)
    words = [tmp_path / "train.py", "a", "b"] if by_name else ["-c", TELL, "a", "b"]
    fresh = run_python(words, environment(ASKED="yes"), fresh=True)
    found = forked(*words, ASKED="yes")
    assert (found.returncode, found.stderr) == (fresh.returncode, fresh.stderr) == (0, "")
    assert json.loads(found.stdout) == json.loads(fresh.stdout)


@pytest.mark.parametrize(
    ("end", "code", "out", "err"),
    [
        ("sys.exit(7)", 7, "", ""),
        ("sys.exit('words')", 1, "", "words\n"),
        ("os.kill(os.getpid(), 9)", -9, "", ""),
        ("os._exit(3)", 3, "", ""),
        ("import atexit; atexit.register(print, 'at the end')", 0, "at the end\n", ""),
    ],
)
def test_it_ends_as_it_is_told(tmp_path: Path, end: str, code: int, out: str, err: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import os, sys\nimport torch\ndef f():\n    {end}\nf()\n")
    found = forked(script)
    assert (found.returncode, found.stdout, found.stderr) == (code, out, err)


def test_an_error_reads_as_in_a_fresh_python(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\ndef f():\n    raise ValueError('no')\nf()\n")
    fresh = run_python([script], environment(), fresh=True)
    found = forked(script)
    assert found.returncode == fresh.returncode == 1
    assert (found.stdout, found.stderr) == (fresh.stdout, fresh.stderr)
    assert "ValueError: no" in found.stderr


def test_the_hook_starts_in_it(tmp_path: Path) -> None:
    words = ["-c", "import torch\ntorch.optim.SGD([torch.nn.Parameter(torch.ones(1))]).step()"]
    watched = run_job(tmp_path, words)
    assert watched.errors == [] and len(watched.main.of("step")) == 1
    assert watched.main.pid == watched.main.text["pid"] != os.getpid()


def test_jobs_that_need_a_fresh_python_are_refused() -> None:
    others = environment(OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", "") + "1")
    assert torch_jobs.run(["-c", "import torch"], others) is None
    assert torch_jobs.run(["-c", "print('torch')"], environment()) is None
    assert torch_jobs.run(["-W", "ignore", "-c", "import torch"], environment()) is None


@pytest.mark.parametrize("asked", [False, True])
def test_who_asks_may_be_killed_meanwhile(tmp_path: Path, asked: bool) -> None:
    script = "import time, torch\ntime.sleep(10_000)"
    job = {"arguments": ["-c", script], "env": environment(), "cwd": str(tmp_path)}
    address = torch_jobs.handed_over(environment())["JOB_SERVER"]
    for _ in range(3):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            if asked:
                socket.send_fds(connection, [json.dumps(job).encode()], [0, 1, 2])
    assert forked("-c", "import torch\nprint('runs')").stdout == "runs\n"


def test_a_python_hands_its_script_over_and_passes_on_signals(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import os, signal, sys, time\nimport torch\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(40))\n"
        "print(os.getpid(), flush=True)\ntime.sleep(60)\n"
    )
    env = torch_jobs.handed_over(environment())
    command = [sys.executable, str(script)]
    for number, code in ((signal.SIGTERM, 40), (signal.SIGKILL, -signal.SIGKILL)):
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as python:
            assert python.stdout is not None
            job = int(python.stdout.readline())
            assert job != python.pid
            python.send_signal(number)
        assert python.returncode == code
        end = time.monotonic() + 60
        while Path(f"/proc/{job}").exists():
            assert time.monotonic() < end, "the job outlives who asked for it"
            time.sleep(0.01)
