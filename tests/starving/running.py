"""Runs jobs of the zoo, watched or not, and takes the time of their steps."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from planted import Cure, Job, cured

ROOT = Path(__file__).resolve().parents[2]
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
STEP = re.compile(r"\bstep (\d+)")
RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node")
# Behind so much of the training, workers have started and queues are full.
WARM_UP_RATIO = 0.25
# A script whose last act is a backward pass may be aborted by PyTorch 2.15 as Python shuts down,
# when all is done (docs/known_gaps.md).
ENDED = (0, 128 + signal.SIGABRT)
# Beyond the training: importing, starting, checking the emulated GPU, the verdict.
PATIENCE_S = 60


@dataclass(frozen=True)
class Machine:
    """What jobs are run with."""

    unstarve: Path
    python: str
    gpu: str
    data: Path
    seconds: float


def crop_of(photo: Image.Image, index: int, size: tuple[int, int]) -> Image.Image:
    scale = 0.6 + (index * 7 % 40) / 100
    width, height = (int(side * scale) for side in photo.size)
    left = index * 13 % (photo.width - width + 1)
    top = index * 29 % (photo.height - height + 1)
    return photo.convert("RGB").crop((left, top, left + width, top + height)).resize(size)


def make_images(folder: Path) -> None:
    """Different crops of the photographs: some as ImageNet's are, some as a camera's."""
    parts = (("train", 480, (500, 375)), ("val", 80, (500, 375)), ("large", 60, (1800, 1350)))
    if (folder / "complete").exists():
        return
    for part, count, size in parts:
        for index in range(count):
            target = folder / part / ("cat", "dog")[index % 2] / f"{index}.jpg"
            target.parent.mkdir(parents=True, exist_ok=True)
            with Image.open(PHOTOS[index % len(PHOTOS)]) as photo:
                crop_of(photo, index, size).save(target, quality=90)
    (folder / "complete").touch()


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many processes that are none of the job's and use a CPU each."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run_timed(command: list[str], timeout_s: float) -> tuple[int, list[tuple[int, float]], str]:
    """The exit code, when which step was printed, and the end of what was printed."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
        start_new_session=True,
    )
    assert process.stdout
    steps, lines = [], []
    limit = threading.Timer(timeout_s, os.killpg, (process.pid, signal.SIGKILL))
    limit.start()
    for line in process.stdout:
        if found := STEP.search(line):
            steps.append((int(found[1]), time.monotonic()))
        lines.append(line)
    limit.cancel()
    return process.wait(), steps, "".join(lines[-40:])


def step_s(steps: list[tuple[int, float]]) -> float | None:
    """How long a step takes; None where too few were printed."""
    if len(steps) < 3:
        return None
    warm_s = steps[0][1] + WARM_UP_RATIO * (steps[-1][1] - steps[0][1])
    kept = [each for each in steps if each[1] >= warm_s]
    first = steps[len(steps) - len(kept) - 1] if len(kept) < 2 else kept[0]
    if steps[-1][0] <= first[0]:
        return None
    return (steps[-1][1] - first[1]) / (steps[-1][0] - first[0])


def job_command(machine: Machine, job: Job, script: Path) -> list[str]:
    ranks = [*RANKS, str(job.gpus)] if job.gpus > 1 else []
    seconds = ["--seconds", str(machine.seconds)]
    return [machine.python, *ranks, str(script), str(machine.data), *seconds]


def emulated(machine: Machine, job: Job) -> list[str]:
    return ["--gpus", str(job.gpus)] if machine.gpu else []


def time_unwatched(
    machine: Machine, job: Job, cure: Cure, folder: Path, busy: int
) -> tuple[float | None, str]:
    """What a step takes with a cure, nobody watching; and what was printed."""
    script = folder / job.script.name
    script.write_text(cured(job.script.read_text(), cure))
    command = job_command(machine, job, script)
    if machine.gpu:
        emulate = [str(machine.unstarve), "emulate", machine.gpu]
        command = [*emulate, *emulated(machine, job), "--", *command]
    with neighbours(busy):
        code, steps, printed = run_timed(command, machine.seconds + PATIENCE_S)
    return (step_s(steps) if code in ENDED else None), printed


def watch(
    machine: Machine, job: Job, folder: Path, options: list[str]
) -> tuple[dict[str, Any] | None, float | None, str]:
    """The diagnosis of a job as it is, its step, and what was printed."""
    # Alone in its folder: predictions of other jobs, which missed, would widen those of this one.
    out, answer = folder / job.name / "run", folder / f"{job.name}.json"
    shutil.rmtree(out.parent, ignore_errors=True)
    answer.unlink(missing_ok=True)
    out.parent.mkdir()
    command = [str(machine.unstarve), "run", "--out", str(out), "--json", str(answer), *options]
    if machine.gpu:
        command += ["--emulate", machine.gpu, *emulated(machine, job)]
    command += ["--", *job_command(machine, job, job.script)]
    with neighbours(job.neighbours):
        # A search tries several remedies, each beside runs without it.
        runs = 30 if "--fix" in options else 8
        code, steps, printed = run_timed(command, runs * machine.seconds + PATIENCE_S)
    if code not in ENDED or not answer.exists():
        return None, None, printed
    return json.loads(answer.read_text()), step_s(steps), printed


def brief_of(machine: Machine, job: Job, folder: Path) -> str:
    """What a terminal of 80 columns shows of the run that `watch` left."""
    command = [str(machine.unstarve), "diagnose", str(folder / job.name / "run")]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return shown.stdout
