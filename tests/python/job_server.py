"""A Python that has imported torch and forks a child for each job that it is asked to run.

Run as `python -c SOURCE SOCKET`, so that no frame of this file looks like one of a job's files. The
child runs its script as a fresh Python would: with its environment, its arguments and its
sitecustomize, which is where the hook starts, and to the end of the interpreter. The server ends
with its standard input, a job with the connection of who asked for it.
"""

import contextlib
import faulthandler
import gc
import importlib
import json
import multiprocessing.process
import os
import select
import signal
import socket
import sys
import types
from pathlib import Path
from typing import Any

# An optimizer imports the latter when it is made.
import torch._dynamo.convert_frame
import torch.utils.data  # noqa: F401

#: What Python, torch or a library of theirs reads when it is loaded: a job for which it is not as
#: it was here needs a fresh Python.
READ_AT_START = ("KINETO", "LD_", "MKL", "OMP", "OPENBLAS", "PYTHON", "PYTORCH", "TORCH")


def read_at_start(env: dict[str, str]) -> dict[str, str]:
    read = {name: value for name, value in env.items() if name.startswith(READ_AT_START)}
    read.pop("PYTHONPATH", None)
    return read


def own_start() -> dict[str, str]:
    """As it was then: torch adds to it."""
    words = Path("/proc/self/environ").read_bytes().rstrip(b"\0").split(b"\0")
    pairs = (os.fsdecode(word).partition("=") for word in words)
    return read_at_start({name: value for name, _, value in pairs})


def serve(listener: socket.socket) -> dict[str, Any]:
    """Returns in a child, with the job that it is to run; the server itself never does."""
    # What is here already is never looked at again, so that it stays shared with the children.
    gc.collect()
    gc.freeze()
    here = own_start()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if listener not in ready:
            os._exit(0)
        connection, _ = listener.accept()
        # Who asks may be killed at any time: a test of that is no reason to end.
        with connection, contextlib.suppress(OSError):
            if job := serve_one(connection, here):
                listener.close()
                return job


def serve_one(connection: socket.socket, here: dict[str, str]) -> dict[str, Any] | None:
    """In a child the job that it is to run."""
    message, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    if not message:
        return None
    job: dict[str, Any] = json.loads(message)
    pid = os.fork() if read_at_start(job["env"]) == here else -1
    if pid == 0:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        return job
    for descriptor in descriptors:
        os.close(descriptor)
    if pid < 0:
        connection.sendall(b"-1\n")
    else:
        answer(connection, pid)
    return None


def answer(connection: socket.socket, pid: int) -> None:
    """Says that the job runs and how it ended; ends it where nobody wants to know any more."""
    status = None
    try:
        connection.sendall(f"{pid}\n".encode())
        while not select.select([connection], [], [], 0.01)[0]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
                return
            status = None
    finally:
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def become(job: dict[str, Any]) -> types.ModuleType:
    """What a fresh Python has set up when it comes to its script. Where a fault ends it, which is
    rare and in no core file, its threads' stacks are on stderr; an abort says nothing, as ever."""
    faulthandler.enable(2)
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    vars(multiprocessing.process)["ORIGINAL_DIR"] = str(Path.cwd())
    path = [entry for entry in job["env"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = path + sys.path[1:]  # the first is that of the server's own `-c`
    sys.modules.pop("sitecustomize", None)
    importlib.invalidate_caches()
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    script = job["arguments"][0]
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    if script == "-c":
        sys.argv[:] = ["-c", *job["arguments"][2:]]
        sys.path.insert(0, "")
    else:
        sys.argv[:] = job["arguments"]
        sys.path.insert(0, str(Path(script).resolve().parent))
        main.__file__ = str(Path(script).absolute())
    sys.modules["__main__"] = main
    return main


def run(job: dict[str, Any], main: types.ModuleType) -> None:
    script = job["arguments"][0]
    if script == "-c":
        source, name = job["arguments"][1], "<string>"
    else:
        source = job.get("source", "").encode("latin-1") or Path(script).read_bytes()
        name = str(Path(script).absolute())
    try:
        exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # As the interpreter reports it, less the frame of this function.
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
        if sys.version_info >= (3, 12):
            sys.last_exc = error
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)


if __name__ == "__main__":
    door = socket.socket(socket.AF_UNIX)
    door.bind(sys.argv[1])
    door.listen()
    job = serve(door)
    run(job, become(job))
