"""Logs what `unstarve run --track` watches into the tracker's run that the job has open.

The watcher writes RUN/tracked.json every ten seconds. A thread of ours reads it and adds its values
to what the job logs itself: never a step of its own, so that the job's axes stay as they are. No
tracker is imported, started or ended here. What goes wrong goes to `hook_errors`.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
import weakref
from types import ModuleType
from typing import Any, Callable

from . import wrap
from .recorder import RECORDER

VARIABLE = "UNSTARVE_TRACK"
_FILE = "tracked.json"
_EVERY_S = 2.0  # between two looks at the file
_NEVER_LOGGED = -1

Values = dict[str, float]


def begin(_torch: ModuleType) -> None:
    """torch, as it is imported: a thread that waits, in this process and none that it forks."""
    thread = _Thread()
    RECORDER.after_fork.append(thread.forget)
    wrap.when_taken_back(thread.stop)
    atexit.register(thread.stop)
    thread.start()


def watch_trackio(module: ModuleType) -> None:
    """trackio.run: its active run is known to the thread that began it alone."""
    cls: Any = module.Run
    original = cls.__init__

    def init(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        _trackio_runs.add(self)

    wrap.put(cls, "__init__", wrap.in_the_place_of(original, init))


_trackio_runs: weakref.WeakSet[Any] = weakref.WeakSet()


class _Thread:
    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unstarve-track", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()

    def forget(self) -> None:
        """In a forked child there is no such thread."""
        self._ended = threading.Event()
        self._ended.set()

    def _run(self) -> None:
        path = os.path.join(RECORDER.run_dir, _FILE)
        read_ns = 0
        while not self._ended.wait(_EVERY_S):
            try:
                written_ns = os.stat(path).st_mtime_ns
            except OSError:
                continue  # nothing is known yet
            if written_ns == read_ns:
                continue
            read_ns = written_ns
            try:
                with open(path, encoding="utf-8") as file:
                    told = json.load(file)
            except (OSError, ValueError):
                continue
            for tracker in _TRACKERS:
                self._log(tracker, told)

    def _log(self, tracker: Callable[[Values, str, float], None], told: Any) -> None:
        try:
            tracker(told["values"], told["sentence"], told["elapsed_s"])
        except Exception as error:
            RECORDER.note_error(error)


def _to_wandb(values: Values, sentence: str, _elapsed_s: float) -> None:
    """Joins the row that the job commits next."""
    run: Any = getattr(sys.modules.get("wandb"), "run", None)
    if run is None:
        return
    run.log(values, commit=False)
    run.summary["unstarve/verdict"] = sentence


def _to_mlflow(values: Values, sentence: str, elapsed_s: float) -> None:
    """By the second since watching began: MLflow has a step for each key."""
    mlflow: Any = sys.modules.get("mlflow")
    fluent: Any = sys.modules.get("mlflow.tracking.fluent")
    if mlflow is None or fluent is None:
        return
    stack = fluent._active_run_stack  # a list; from 2.14 on one for each thread
    of_thread = getattr(stack, "get_all_thread_values", None)
    runs = [runs[-1] for runs in (of_thread().values() if of_thread else [stack]) if runs]
    if not runs:
        return
    client = mlflow.MlflowClient()
    at_ms, step = int(1000 * time.time()), int(elapsed_s)
    metrics = [mlflow.entities.Metric(key, value, at_ms, step) for key, value in values.items()]
    for run in runs:
        client.log_batch(run.info.run_id, metrics=metrics)
        client.set_tag(run.info.run_id, "unstarve.verdict", sentence)


def _to_trackio(values: Values, _sentence: str, _elapsed_s: float) -> None:
    """Beside what the job logged last, once for each of its steps."""
    for run in list(_trackio_runs):
        last = int(getattr(run, "_next_step", 0)) - 1
        if last > _last_step.get(run, _NEVER_LOGGED) and not run._stop_flag.is_set():
            _last_step[run] = last
            run.log(values, step=last)


def _to_swanlab(values: Values, _sentence: str, _elapsed_s: float) -> None:
    """As into trackio."""
    swanlab: Any = sys.modules.get("swanlab")
    if swanlab is None or not swanlab.has_run():
        return
    run = swanlab.get_run()
    last = int(run._ctx._global_step)
    if last > _last_step.get(run, _NEVER_LOGGED):
        _last_step[run] = last
        run.log(values, step=last)


_last_step: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_TRACKERS = (_to_wandb, _to_mlflow, _to_trackio, _to_swanlab)
