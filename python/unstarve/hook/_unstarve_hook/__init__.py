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
    "jax": ("frameworks", "watch"),
    "tensorflow": ("frameworks", "watch"),
    "torch.cuda": ("device_use", "watch_cuda"),
    "torch.cuda.memory": ("events", "watch_memory"),
    "torch._dynamo.convert_frame": ("events", "watch_compiler"),
    "PIL.ImageFile": ("decode", "watch_pil"),
    "PIL.JpegImagePlugin": ("decode", "watch_jpeg"),
    "PIL.PngImagePlugin": ("decode", "watch_png"),
    "torchvision.io.image": ("decode", "watch_torchvision"),
    "cv2": ("decode", "watch_cv2"),
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
    if "UNSTARVE_TUNE" in os.environ:  # a trial of `unstarve tune`
        _VIEWS["torch"] = ("tuning", "begin")
        _VIEWS["transformers.training_args"] = ("tuning", "watch_class")
        _VIEWS["lightning.pytorch.trainer.trainer"] = ("tuning", "watch_class")
        _VIEWS["pytorch_lightning.trainer.trainer"] = ("tuning", "watch_class")
    if "UNSTARVE_TRACK" in os.environ:  # `unstarve run --track`
        _VIEWS["torch"] = ("trackers", "begin")
        _VIEWS["trackio.run"] = ("trackers", "watch_trackio")
    for watched in _VIEWS:
        imports.after_import(watched, _apply)
    sys.meta_path.insert(0, imports.Finder())
    _watch_forks()


def enter(run_dir: str) -> bool:
    """Watches a part of a process that runs already, for `unstarve.watch()`: until leave(). False
    where the process is watched as it is, by `unstarve run` or another part."""
    global _entered
    if _installed:
        return False
    install()
    _entered = True
    from . import recorder

    recorder.RECORDER.begin(run_dir)
    return True


def is_watching() -> bool:
    return _installed


def leave() -> None:
    """Nothing of ours stays in anybody's place; later imports are left alone."""
    global _installed, _entered
    if not _entered:
        return
    from . import imports, recorder, wrap

    steps = sys.modules.get(__name__ + ".steps")
    try:
        if steps is not None:
            steps.STEPS.close_window()
    except Exception as error:
        _note(error)
    imports.forget()
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, imports.Finder)]
    try:
        wrap.take_back()
    except Exception as error:
        _note(error)
    recorder.RECORDER.leave()
    _installed = _entered = False


_entered = False

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


_forks_watched = False


def _watch_forks() -> None:
    """Once, since nobody can take it back."""
    global _forks_watched
    if not _forks_watched:
        _forks_watched = True
        os.register_at_fork(after_in_child=_after_fork)


def _after_fork() -> None:
    """A forked child writes a ring of its own, and only if it has something to say."""
    recorder = sys.modules.get(__name__ + ".recorder")
    if recorder is not None:
        try:
            recorder.RECORDER.start_afresh()
        except Exception:
            pass
