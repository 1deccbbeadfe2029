"""The server of warm_python: `python -c THIS DESCRIPTOR JOB_SERVER` reads jobs from a socket.

What a child does to be like a fresh Python, and how it runs a script, is job_server's. That is read
as text too, so that no frame of either looks like one of a job's files.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any


def serve(control: socket.socket) -> dict[str, Any]:
    """Returns in a child, with the job that it is to run; the server itself never does."""
    # What is here already is never looked at again, so that it stays shared with the children.
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 3)
        if not message:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
                os.close(descriptor)
            control.close()
            job: dict[str, Any] = json.loads(message)
            return job
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(json.dumps({"pid": pid}).encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        control.sendall(json.dumps({"returncode": code}).encode() + b"\n")


if __name__ == "__main__":
    shared: dict[str, Any] = {"__name__": "job_server", "__builtins__": __builtins__}
    exec(compile(Path(sys.argv[2]).read_text(), "<string>", "exec"), shared)
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    shared["run"](asked, shared["become"](asked))
