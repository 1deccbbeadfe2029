"""Pythons that have imported torch on an emulated machine: each forks a child for each job
(forking_server.py), which saves the job the seconds that the import takes.

Neither torch nor our libraries ask for a GPU before they are used, so that a child sees the machine
that its own environment names.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import leftovers

SERVER = Path(__file__).with_name("forking_server.py")
JOB_SERVER = Path(__file__).resolve().parents[1] / "python/job_server.py"
#: What Python, torch or a library of theirs reads when it is loaded. NCCL's is not used then.
READ_AT_START = ("KINETO", "LD_", "MKL", "OMP", "OPENBLAS", "PYTHON", "PYTORCH", "TORCH", "TRITON")
NOT_READ_AT_START = ("PYTHONPATH", "TORCH_NCCL")


def read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name.startswith(READ_AT_START) and not name.startswith(NOT_READ_AT_START)
    }


def uses_torch(arguments: Sequence[str]) -> bool:
    """Whether `python ARGUMENTS` is a script of which it is known that it imports torch."""
    if len(arguments) > 1 and arguments[0] == "-c":
        text = arguments[1]
    elif arguments and arguments[0].endswith(".py"):
        text = Path(arguments[0]).read_text(errors="replace")
    else:
        return False
    return "import torch" in text or "from torch" in text


def output_file() -> IO[str]:
    """What a child prints. The child closes it."""
    return tempfile.TemporaryFile("w+", errors="surrogateescape")


class Server:
    """One such Python. It runs one job at a time."""

    def __init__(self, python: str, env: Mapping[str, str]) -> None:
        self.environment = dict(env)
        self.control, theirs = socket.socketpair()
        # What a job's environment names is for the job, but for the libraries that are redirected.
        kept = {k: v for k, v in env.items() if not k.startswith(("UNSTARVE", "CUDA"))}
        kept["UNSTARVE_EMULATED_GPU"] = env["UNSTARVE_EMULATED_GPU"]
        kept.pop("PYTHONPATH", None)
        with theirs:
            self.process = subprocess.Popen(
                [python, "-c", SERVER.read_text(), str(theirs.fileno()), str(JOB_SERVER)],
                env=kept,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self.answers = self.control.makefile("r")

    def fits(self, env: Mapping[str, str]) -> bool:
        return read_at_start(env) == read_at_start(self.environment)

    def answer(self) -> dict[str, int]:
        line = self.answers.readline()
        if not line:
            raise RuntimeError(f"a Python with torch ended: {self.process.wait()}")
        answer: dict[str, int] = json.loads(line)
        return answer

    def close(self) -> None:
        self.answers.close()
        self.control.close()
        self.process.kill()
        self.process.wait()


@dataclass
class Child:
    """A job that runs, or has run, as `subprocess.Popen` would show it."""

    pool: Pool
    server: Server
    pid: int
    files: tuple[IO[str], IO[str]]
    returncode: int | None = None

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        """What it printed until its end. One that takes too long is killed."""
        if self.returncode is None:
            self._wait(timeout)
        said = []
        for file in self.files:
            file.seek(0)
            said.append(file.read())
        return said[0], said[1]

    def completed(self, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Its end, as `subprocess.run` shows it."""
        out, err = self.communicate(timeout)
        assert self.returncode is not None
        return subprocess.CompletedProcess(self.pool.python, self.returncode, out, err)

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it ended, and nobody has asked yet
                os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends it where it has not ended."""
        self.kill()
        self.communicate()
        for file in self.files:
            file.close()

    def _wait(self, timeout: float) -> None:
        self.server.control.settimeout(timeout)
        try:
            self.returncode = self.server.answer()["returncode"]
        except TimeoutError as error:
            self.kill()
            # A reader of a socket that ran into its time limit reads no more.
            self.pool.forget(self.server)
            self.returncode = -signal.SIGKILL
            out, err = self.communicate()
            raise subprocess.TimeoutExpired("python", timeout, out, err) from error
        self.pool.idle.append(self.server)


class Pool:
    """As many servers as jobs run at a time."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.idle: list[Server] = []
        self.all: list[Server] = []

    def prepare(self, env: Mapping[str, str], servers: int) -> None:
        """Has at least so many import torch from now on."""
        while len(self.all) < servers:
            self.idle.append(self._made(env))

    def fits(self, env: Mapping[str, str]) -> bool:
        return all(server.fits(env) for server in self.all)

    def start(self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path) -> Child:
        server = self.idle.pop() if self.idle else self._made(env)
        files = [output_file(), output_file()]
        job = {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd)}
        server.control.settimeout(120)
        with Path(os.devnull).open() as nothing:
            descriptors = [file.fileno() for file in (nothing, *files)]
            socket.send_fds(server.control, [json.dumps(job).encode()], descriptors)
        return Child(self, server, server.answer()["pid"], (files[0], files[1]))

    def forget(self, server: Server) -> None:
        self.all.remove(server)
        server.close()

    def close(self) -> None:
        while self.all:
            self.forget(self.all[-1])
        self.idle.clear()

    def _made(self, env: Mapping[str, str]) -> Server:
        # It serves every test that comes, whichever was the first to need it.
        with leftovers.made_for("session"):
            server = Server(self.python, env)
        self.all.append(server)
        return server
