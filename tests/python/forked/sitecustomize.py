"""Has a Python that starts hand its script over to a server that has imported torch, and end as it
ends (job_server.py). Without such a server, or where it says no, the script runs here."""

import os
import sys
from pathlib import Path


def _hand_over(address: str, words: list[str]) -> None:
    import json
    import signal
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        job = {"arguments": words, "env": dict(os.environ), "cwd": str(Path.cwd())}
        # As it is seen from here: a trial may find it changed.
        job["source"] = Path(words[0]).read_bytes().decode("latin-1")
        socket.send_fds(connection, [json.dumps(job).encode()], [0, 1, 2])
        with connection.makefile("r") as answers:
            pid = int(answers.readline())
            if pid < 0:
                return
            signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
            signal.signal(signal.SIGINT, lambda *_: os.kill(pid, signal.SIGINT))
            code = int(answers.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


_here = str(Path(__file__).parent)
_path = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry != _here]
os.environ["PYTHONPATH"] = os.pathsep.join(_path)
_address = os.environ.pop("JOB_SERVER", None)
_words = sys.orig_argv[1:]
if _address and _words and _words[0].endswith(".py"):
    _hand_over(_address, _words)
