"""Rehearses a job for several GPUs, then runs it emulated on each of them, and compares.

python bench/emulated/rehearsal.py IMAGES                      # a job of this repository
python bench/emulated/rehearsal.py IMAGES --imagenet MAIN.py   # pytorch/examples, imagenet/main.py

IMAGES holds some JPEGs, in folders of any depth. Both jobs are run with --batch images and
--workers workers for each GPU. Predicted and real stand beside each other: the step; the AU, which
is the rehearsal's step without waiting by the step; and how many cores the rehearsal thinks the AU
takes that was measured, beside those that there were. One GPU is also run on one core.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
JOB = Path(__file__).with_name("rehearsed_job.py")
WARM_UP = 5
EPOCH_STEPS = 400
MOST_AU_ERROR = 0.05
MOST_CORES_ERROR = 0.25


def make_data(images: Path, folder: Path, count: int) -> Path:
    """An ImageFolder of so many links."""
    files = sorted(p.resolve() for p in images.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    if not files:
        sys.exit(f"no JPEGs below {images}")
    for split, most in (("train", count), ("val", 8)):
        for i in range(most):
            target = folder / split / f"class{i % 8}" / f"{i}.jpg"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(files[i % len(files)])
    return folder


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def job(args: argparse.Namespace, data: Path, gpus: int) -> list[str]:
    """The command for so many GPUs; both scripts divide batch and workers between them."""
    sizes = ["-b", str(args.batch * gpus), "-j", str(args.workers * gpus)]
    if args.imagenet is None:
        return [args.python, str(JOB), str(data / "train"), *sizes]
    command = [args.python, args.imagenet, "-a", args.arch, *sizes, "--epochs", "1"]
    if gpus > 1:
        command += ["--multiprocessing-distributed", "--world-size", "1", "--rank", "0"]
        command += ["--dist-url", f"tcp://127.0.0.1:{free_port()}"]
    return [*command, str(data)]


def rehearse(args: argparse.Namespace, data: Path, out: Path) -> dict[str, Any]:
    command = [args.unstarve, "rehearse", "--gpu-kinds", args.kinds, "--gpus", args.gpus]
    command += ["--seconds", str(args.seconds), "--out", str(out), "--json"]
    done = subprocess.run(
        [*command, "--", *job(args, data, 1)], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_for_real(command: list[str], options: list[str], out: Path, seconds: float) -> None:
    """Ends it, by the signal of Ctrl-C to the whole group, some time after its first steps."""
    log = out.with_suffix(".log").open("w")
    process = subprocess.Popen(
        ["unstarve", "run", "--out", str(out), *options, "--", *command],
        executable=options_unstarve(),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=20)


def options_unstarve() -> str:
    return os.environ.get("UNSTARVE", str(ROOT / "build/release/src/cli/unstarve"))


@dataclass
class Measured:
    """A run: of all ranks, behind their warm-up."""

    step_s: float
    ranks: int
    steps: int  # of each
    cores_left: float  # by other programs


def measure(run: Path, cores: float) -> Measured:
    with sqlite3.connect(run / "run.sqlite") as store:
        rows = store.execute("select pid, start_ns, end_ns from step order by pid, idx").fetchall()
        ranks: dict[int, list[tuple[int, int]]] = {}
        for pid, start, end in rows:
            ranks.setdefault(pid, []).append((start, end))
        # Ranks move together: from where all are warm to where the first ends.
        begin = max(steps[WARM_UP][0] for steps in ranks.values())
        last = min(steps[-1][1] for steps in ranks.values())
        used, busy = (
            store.execute(
                "select avg(value) from sample join metric on metric.id = metric_id"
                " where name = ? and t_ns between ? and ?",
                (name, begin, last),
            ).fetchone()[0]
            for name in ("job.cpu_cores", "host.cpu_busy_cores")
        )
    counts = [sum(begin <= s and e <= last for s, e in steps) for steps in ranks.values()]
    # A job had at least what it used.
    left = cores - max(0.0, busy - used) if cores > 1 else used
    step_s = (last - begin) / 1e9 / statistics.mean(counts)
    return Measured(step_s, len(ranks), min(counts), max(left, used))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=Path)
    parser.add_argument("--imagenet", help="pytorch/examples: imagenet/main.py")
    parser.add_argument("--arch", default="resnet18")
    parser.add_argument("--batch", type=int, default=32, help="images of each GPU's step")
    parser.add_argument("--workers", type=int, default=2, help="of each GPU")
    parser.add_argument("--kinds", default="a100,h100")
    parser.add_argument("--gpus", default="1,4")
    parser.add_argument("--seconds", type=float, default=15, help="of each run")
    parser.add_argument("--start-seconds", type=float, default=14, help="until the first step")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--unstarve", default=options_unstarve())
    parser.add_argument("--keep", type=Path, help="folder for the runs")
    args = parser.parse_args()
    os.environ["UNSTARVE"] = args.unstarve
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        compare(args, folder)


def compare(args: argparse.Namespace, folder: Path) -> None:
    largest = max(int(gpus) for gpus in args.gpus.split(","))
    data = make_data(args.images, folder / "data", args.batch * EPOCH_STEPS * largest)
    rehearsal = rehearse(args, data, folder / "rehearsed")
    (folder / "rehearsal.json").write_text(json.dumps(rehearsal, indent=2))
    run = rehearsal["run"]
    print(
        f"rehearsed on {run['cores']:.0f} cores, {run['cores_of_others']:.1f} of them used by "
        f"others: fetch {1e3 * run['fetch_cpu_s']:.0f} ms of CPU, host "
        f"{1e3 * run['host_cpu_s']:.0f} ms a step, measured {1e3 * run['step_s']:.0f} ms"
    )
    print("cores: those that other programs left; predicted for so many")
    print(
        "kind  GPUs  cores  step, ms  AU, %: predicted  real  error   cores for the real AU  error"
    )
    errors = []
    for cell in rehearsal["cells"]:
        errors.append(compare_cell(args, folder, data, cell, ()))
        if cell["gpus"] == 1:
            core = str(min(os.sched_getaffinity(0)))
            errors.append(compare_cell(args, folder, data, cell, ("taskset", "-c", core)))
    print(
        f"largest errors: AU {100 * max(e for e, _ in errors):.1f} points (target "
        f"{100 * MOST_AU_ERROR:.0f}), cores {100 * max(e for _, e in errors):.0f} % (target "
        f"{100 * MOST_CORES_ERROR:.0f})"
    )


def between(curve: list[dict[str, float]], of: str, at: str, value: float) -> float:
    """Of the points of a curve, the value of one key where another has `value`."""
    if value <= curve[0][at]:
        return curve[0][of] * value / curve[0][at]
    for low, high in itertools.pairwise(curve):
        if low[at] <= value < high[at]:
            part = (value - low[at]) / (high[at] - low[at])
            return low[of] + part * (high[of] - low[of])
    return curve[-1][of]


def compare_cell(
    args: argparse.Namespace,
    folder: Path,
    data: Path,
    cell: dict[str, Any],
    prefix: tuple[str, ...],
) -> tuple[float, float]:
    """Errors of the AU and, relative, of the cores."""
    name, gpus = cell["kind"], cell["gpus"]
    out = folder / f"{Path(name).stem}-{gpus}{'-one-core' if prefix else ''}"
    options = ["--emulate", name, "--gpus", str(gpus)]
    starting = args.start_seconds * (1 + gpus / 2 if gpus > 1 else 1.5 if prefix else 1)
    run_for_real([*prefix, *job(args, data, gpus)], options, out, starting + args.seconds)
    real = measure(out, 1 if prefix else len(os.sched_getaffinity(0)))
    assert real.ranks == gpus, f"{real.ranks} ranks stepped"
    curve = cell["au_on_cores"]
    au = min(1.0, cell["step_without_waiting_s"] / real.step_s)
    predicted = between(curve, "au", "cores", real.cores_left)
    cores = between(curve, "cores", "au", au)
    print(
        f"{name:6}{gpus:4}{real.cores_left:7.2f}{1e3 * real.step_s:10.0f}{100 * predicted:18.1f}"
        f"{100 * au:6.1f}{100 * (predicted - au):+7.1f}{cores:24.2f}"
        f"{100 * (cores / real.cores_left - 1):+6.0f} %  ({real.steps} steps)",
        flush=True,
    )
    return abs(predicted - au), abs(cores / real.cores_left - 1)


if __name__ == "__main__":
    main()
