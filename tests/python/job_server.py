"""A Python that has imported torch and forks a child for each job that it is asked to run.

Run as `python -c SOURCE DESCRIPTOR`, so that no frame of this file looks like one of a job's files.
The child runs its script as a fresh Python would: with its environment, its arguments and its
sitecustomize, which is where the hook starts, and to the end of the interpreter.
"""

import gc
import importlib
import json
import multiprocessing.process
import os
import signal
import socket
import sys
import types
from pathlib import Path
from typing import Any

# An optimizer imports the latter when it is made.
import torch._dynamo.convert_frame
import torch.utils.data  # noqa: F401


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


def become(job: dict[str, Any]) -> types.ModuleType:
    """What a fresh Python has set up when it comes to its script."""
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
        main.__file__ = script
    sys.modules["__main__"] = main
    return main


def run(job: dict[str, Any], main: types.ModuleType) -> None:
    script = job["arguments"][0]
    if script == "-c":
        source, name = job["arguments"][1], "<string>"
    else:
        source, name = Path(script).read_bytes(), script
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
    job = serve(socket.socket(fileno=int(sys.argv[1])))
    run(job, become(job))
