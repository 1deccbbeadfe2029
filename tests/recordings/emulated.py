"""Records what the tests of emulated GPUs decide on: `emulated.py [NAME...]`, all without names.

Runs are made and kept as by record.py; of a search of `unstarve tune`, its journal is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import record
from record import BUILD, GPU, JOBS, PLACE, RECORDINGS, ROOT, Recording

sys.path.insert(0, str(ROOT / "tests/starving"))
from measuring import disturbance_between, read_now
from running import make_images

TWO_GPUS = (*GPU, "--gpus", "2")


def profiled(size: int, slow_s: float, plan: str) -> Recording:
    """A loop whose GPU is recorded all the time, or by a window of torch.profiler alone."""
    arguments = (str(size), str(slow_s))
    return Recording("steady_loop.py", arguments, GPU, ("env", f"UNSTARVE_CUPTI={plan}"))


def of_zoo(name: str, seconds: float) -> Recording:
    script = f"../../starving/jobs/{name}.py"
    return Recording(script, ("data", "--seconds", str(seconds)), GPU, prepare=make_zoo_images)


def make_zoo_images(folder: Path) -> None:
    make_images(folder / "data")


RUNS = {
    "waits_for_gpu": Recording("waits_for_gpu.py", (), GPU),
    "blurs": Recording("blurs.py", ("0",), GPU),
    "blurs_in_worker": Recording("blurs.py", ("1",), GPU),
    "serves": Recording("serves.py", (), GPU),
    "late_rank_host": Recording("late_rank.py", ("0.01", "host"), TWO_GPUS),
    "window_busy": profiled(8192, 0.001, "off"),
    "all_busy": profiled(8192, 0.001, "always"),
    "window_starved": profiled(2048, 0.06, "off"),
    "all_starved": profiled(2048, 0.06, "always"),
    "asks_for_memory": Recording(
        "allocates.py", ("ask",), GPU, ("env", "PYTORCH_NO_CUDA_MEMORY_CACHING=1")
    ),
    "multiplied": Recording("multiplies.py", ("20", "float32"), (*GPU, "--flops")),
    "multiplied_bf16": Recording("multiplies.py", ("20", "bfloat16"), (*GPU, "--flops")),
    "multiplied_uncounted": Recording("multiplies.py", ("20", "float32"), GPU),
    "multiplied_short": Recording("multiplies.py", ("4", "float32"), (*GPU, "--flops")),
    "first_script": of_zoo("first_script", 4),
    "deep_and_narrow": of_zoo("deep_and_narrow", 0.4),  # of some 20,000 launches a second
    "on_the_gpu": of_zoo("on_the_gpu", 2),
}


@dataclass(frozen=True)
class Search:
    job: str
    arguments: tuple[str, ...]
    options: tuple[str, ...]


SEARCHES = {
    "batches": Search(
        "fills_memory.py", ("--batch-size", "8"), ("--only", "batch", "--arg", "batch=--batch-size")
    ),
    "saved_memory": Search(
        "fills_memory.py",
        ("--batch-size", "32"),
        ("--only", "batch,gradient_checkpointing", "--arg", "batch=--batch-size"),
    ),
    "bf16": Search("trains_large_layers.py", (), ("--only", "bf16_autocast")),
}


def search(name: str, wanted: Search) -> None:
    """Keeps the journal, out of which `unstarve tune --resume` decides anew."""
    folder = PLACE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(JOBS / wanted.job, folder)
    command = [str(BUILD / "src/cli/unstarve"), "tune", "--emulate", "t4", "--trial-seconds", "2"]
    command += ["--out", "r", *wanted.options, "--", "python", wanted.job, *wanted.arguments]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(command, cwd=folder, env=env, check=True, timeout=600)
    target = ROOT / "tests/data/searches" / name
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "r/journal.jsonl", target)


def search_undisturbed(name: str) -> None:
    for _ in range(record.ATTEMPTS):
        record.wait_for_quiet()
        before = read_now()
        search(name, SEARCHES[name])
        disturbance = disturbance_between(before, read_now())
        if not disturbance:
            return
        print(f"{name}: {disturbance}", flush=True)
    raise RuntimeError(f"{name}: never undisturbed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    every = [*RUNS, *SEARCHES]
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    RECORDINGS.update(RUNS)
    for name in arguments.parse_args().names or every:
        if name in SEARCHES:
            search_undisturbed(name)
            continue
        record.record(name)
        window = PLACE / name / "run/kineto-0.json.gz"
        if window.exists():
            shutil.copy(window, record.KEPT / name)


if __name__ == "__main__":
    main()
