"""Runs scripts as `python SCRIPT` would, without importing torch anew for each (job_server.py)."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
_TIMEOUT_S = 300
_IMPORTS_TORCH = re.compile(r"^ *(import|from) .*\btorch\b", re.MULTILINE)


def _imports_torch(arguments: Sequence[str]) -> bool:
    if arguments[0] == "-c":
        text = arguments[1]
    elif arguments[0].startswith("-"):
        return False
    else:
        text = Path(arguments[0]).read_text(errors="replace")
    return _IMPORTS_TORCH.search(text) is not None


class Server:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="jobs-")
        self.path = f"{self._folder.name}/socket"
        env = {k: v for k, v in os.environ.items() if not k.startswith(("UNSTARVE", "PYTHONPATH"))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", (HERE / "job_server.py").read_text(), self.path],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )

    def wait(self) -> None:
        """Until it has imported torch."""
        end = time.monotonic() + _TIMEOUT_S
        while not Path(self.path).exists():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server of jobs did not start: {self._process.poll()}")
            time.sleep(0.01)

    def run(
        self, arguments: Sequence[str], env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str] | None:
        self.wait()
        job = {"arguments": list(arguments), "env": dict(env), "cwd": str(Path.cwd())}
        with (
            tempfile.TemporaryFile("w+", errors="surrogateescape") as out,
            tempfile.TemporaryFile("w+", errors="surrogateescape") as err,
            Path(os.devnull).open() as nothing,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            connection.settimeout(_TIMEOUT_S)
            try:
                connection.connect(self.path)
            except ConnectionRefusedError as error:
                code = self._process.wait()
                raise RuntimeError(f"the server of jobs has ended: {code}") from error
            descriptors = [file.fileno() for file in (nothing, out, err)]
            socket.send_fds(connection, [json.dumps(job).encode()], descriptors)
            with connection.makefile("r") as answers:
                if int(answers.readline()) < 0:
                    return None
                code = int(answers.readline())
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read())
        return subprocess.CompletedProcess([sys.executable, *arguments], code, *said)

    def close(self) -> None:
        """The server ends once there is nobody to ask it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


_server: Server | None = None


def start() -> None:
    """One server for all tests of this process; it is there before the first of them begins."""
    global _server
    if _server is None:
        _server = Server()


def stop() -> None:
    global _server
    server, _server = _server, None
    if server is not None:
        server.close()


def run(
    arguments: Sequence[str], env: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | None:
    """None where only a fresh Python would be in the state that the job expects."""
    if _server is None or not _imports_torch(arguments):
        return None
    return _server.run(arguments, env)


def handed_over(env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which `python SCRIPT` hands the script over to the server, for programs
    that start a job themselves."""
    assert _server is not None
    _server.wait()
    path = f"{HERE / 'forked'}{os.pathsep}{env['PYTHONPATH']}"
    return {**env, "PYTHONPATH": path, "JOB_SERVER": _server.path}
