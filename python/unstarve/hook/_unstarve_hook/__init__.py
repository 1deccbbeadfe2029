"""The part of unstarve that lives inside a training job: watches, writes a ring, stays out of it.

`install()` only leaves notes for later: what to do when torch's DataLoader, an optimizer and so
on are imported. A Python process that never imports them pays for this file and nothing else.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # The name that type checkers know; importing typing takes time.
if TYPE_CHECKING:
    from types import ModuleType

_VIEWS = {
    # module as imported by the job -> (our module, the function in it that gets the module)
    "torch.utils.data.dataloader": ("loaders", "watch_dataloader"),
    "torch.optim.optimizer": ("steps", "watch_optimizer"),
    "torch.autograd.profiler": ("cupti", "watch_profiler"),
    "torch.serialization": ("host_work", "watch_torch"),
    "PIL.ImageFile": ("decode", "watch_pil"),
    "torchvision.io.image": ("decode", "watch_torchvision"),
    "unstarve.loader": ("loaders", "watch_unstarve"),
}

_installed = False


def install() -> None:
    """Once per interpreter, from sitecustomize; UNSTARVE_RUN_DIR is set."""
    global _installed
    if _installed:
        return
    _installed = True
    import time

    from . import imports

    global started_ns, started_in
    started_ns = time.monotonic_ns()
    try:
        started_in = os.getcwd()
    except OSError:  # The folder was removed.
        pass
    for watched in _VIEWS:
        imports.after_import(watched, _apply)
    sys.meta_path.insert(0, imports.Finder())
    os.register_at_fork(after_in_child=_after_fork)


#: When the hook started in this process, CLOCK_MONOTONIC.
started_ns = 0
#: The working directory then.
started_in = ""


def _apply(module: ModuleType) -> None:
    """Called right after a watched module was imported; an error here must not reach the job."""
    try:
        from importlib import import_module

        ours, function = _VIEWS[module.__name__]
        getattr(import_module("." + ours, __name__), function)(module)
    except Exception as error:
        _note(error)


def _note(error: Exception) -> None:
    try:
        from . import recorder

        recorder.RECORDER.note_error(error)
    except Exception:
        pass


def _after_fork() -> None:
    """A forked child writes a ring of its own, and only if it has something to say."""
    recorder = sys.modules.get(__name__ + ".recorder")
    if recorder is not None:
        try:
            recorder.RECORDER.start_afresh()
        except Exception:
            pass
