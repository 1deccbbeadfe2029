"""Runs scripts as `python SCRIPT` would, without importing torch anew for each (job_server.py)."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_SERVER = Path(__file__).with_name("job_server.py")
_TIMEOUT_S = 300
_IMPORTS_TORCH = re.compile(r"^ *(import|from) .*\btorch\b", re.MULTILINE)
#: What Python, torch or a library of theirs reads when it is loaded.
_READ_AT_START = ("CUDA", "KINETO", "LD_", "MKL", "OMP", "OPENBLAS", "PYTHON", "PYTORCH", "TORCH")


def can_run(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a fresh Python would be in the same state when it has imported torch."""
    if arguments[0] == "-c":
        text = arguments[1]
    elif arguments[0].startswith("-"):
        return False
    else:
        text = Path(arguments[0]).read_text(errors="replace")
    if not _IMPORTS_TORCH.search(text):
        return False
    return _read_at_start(env) == _read_at_start(os.environ)


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name.startswith(_READ_AT_START) and name != "PYTHONPATH"
    }


class Server:
    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-c", _SERVER.read_text(), str(theirs.fileno())]
            env = {k: v for k, v in os.environ.items() if not k.startswith("UNSTARVE")}
            env.pop("PYTHONPATH", None)
            self._process = subprocess.Popen(
                command,
                env=env,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._answers = self._control.makefile("r")

    def run(
        self, arguments: Sequence[str], env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        job = {"arguments": list(arguments), "env": dict(env), "cwd": str(Path.cwd())}
        self._control.settimeout(_TIMEOUT_S)
        with (
            tempfile.TemporaryFile("w+", errors="surrogateescape") as out,
            tempfile.TemporaryFile("w+", errors="surrogateescape") as err,
            Path(os.devnull).open() as nothing,
        ):
            descriptors = [file.fileno() for file in (nothing, out, err)]
            socket.send_fds(self._control, [json.dumps(job).encode()], descriptors)
            pid = self._answer()["pid"]
            try:
                code = self._answer()["returncode"]
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self.close()
                raise
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read())
        return subprocess.CompletedProcess([sys.executable, *arguments], code, *said)

    def _answer(self) -> dict[str, int]:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"the server of jobs ended: {self._process.wait()}")
        answer: dict[str, int] = json.loads(line)
        return answer

    def close(self) -> None:
        """The server ends once there is nobody to ask it."""
        self._answers.close()
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


_server: Server | None = None


def start() -> None:
    """One server for all tests of this process; it is there before the first of them begins."""
    global _server
    if _server is None:
        _server = Server()
        atexit.register(stop)


def stop() -> None:
    global _server
    server, _server = _server, None
    if server is not None:
        server.close()


def run(arguments: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    start()
    assert _server is not None
    return _server.run(arguments, env)
