"""Starts `unstarve serve` and asks it, for the tests of what browsers see."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from command_line import UNSTARVE, environment


class Dashboard:
    """A server of a folder of runs."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.port = urlsplit(address).port or 0

    def ask(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers=headers or {})
            reply = connection.getresponse()
            return reply, reply.read().decode()
        finally:
            connection.close()

    def get(self, path: str, **query: Any) -> str:
        """The text of a page that is there."""
        reply, text = self.ask(path + ("?" + urlencode(query, doseq=True) if query else ""))
        assert reply.status == 200, (reply.status, text)
        return text

    def json(self, path: str, **query: Any) -> Any:
        return json.loads(self.get(path, **query))

    def send(self, request: bytes) -> socket.socket:
        """A connection over which these bytes went."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(request)
        return connection

    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[Dashboard]:
    process = subprocess.Popen(
        [UNSTARVE, "serve", str(folder), "--port", "0", *options],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Dashboard(process, process.stdout.readline().strip())
        assert process.poll() is None, "the server ended by itself"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
