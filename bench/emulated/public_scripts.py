#!/usr/bin/env python3
"""Runs training scripts that others wrote, unchanged, on an emulated GPU, with several PyTorch.

    git clone PYTORCH_EXAMPLES DIR
    bench/emulated/public_scripts.py --examples DIR --python .venv/bin/python --python ...
    bench/emulated/public_scripts.py --examples DIR --python .venv/bin/python --watch

Each script runs with random data of the right shape, from the revision of its repository that is
as old as the PyTorch. Prints a row per script and a column per PyTorch, and exits 1 if one failed.
With --watch they run under `unstarve run --emulate`, and each row shows what it says: the step,
where the GPU's time went, and the verdict; a script without a partition then counts as failed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
JOBS = ROOT / "tests/emulated/jobs"
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
WORDS = ("the", "emulated", "device", "computes", "nothing", "and", "takes", "time", "as", "real")

# When a PyTorch was released: a script of that day is written for it.
RELEASED = {"2.1": "2023-11-20", "2.5": "2024-11-20", "2.8": "2025-08-20"}


@dataclass(frozen=True)
class Job:
    """A script of the examples, from its own folder."""

    name: str
    folder: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path, str], None] = lambda folder, python: None
    gpus: int = 1
    launcher: tuple[str, ...] = ()  # between python and the script


def write_mnist(folder: Path, _: str) -> None:
    """MNIST's four files, of random digits, where torchvision looks for them."""
    raw = folder.parent / "data/MNIST/raw"
    raw.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 2560), ("t10k", 1000)):
        pixels = random.Random(count).randbytes(count * 784)
        head = struct.pack(">IIII", 0x803, count, 28, 28)
        (raw / f"{part}-images-idx3-ubyte").write_bytes(head + pixels)
        labels = bytes(byte % 10 for byte in pixels[:count])
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels)


def write_mnist_and_results(folder: Path, python: str) -> None:
    write_mnist(folder, python)
    (folder / "results").mkdir()


def write_image_folder(folder: Path, _: str) -> None:
    for part, copies in (("train", 2), ("val", 1)):
        for label in ("cat", "dog"):
            (folder / "images" / part / label).mkdir(parents=True)
        for index, photo in enumerate(PHOTOS * copies):
            label = ("cat", "dog")[index % 2]
            (folder / "images" / part / label / f"{index}.jpg").symlink_to(photo)


def write_corpus(folder: Path, _: str) -> None:
    chosen = random.Random(0)
    (folder / "corpus").mkdir()
    for part in ("train", "valid", "test"):
        lines = (" ".join(chosen.choices(WORDS, k=12)) for _ in range(900))
        (folder / "corpus" / f"{part}.txt").write_text("\n".join(lines) + "\n")


def write_waves(folder: Path, python: str) -> None:
    # It imports torch, which may not load without NVIDIA's libraries.
    command = [str(UNSTARVE), "emulate", "--", python, "generate_sine_wave.py"]
    subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=True)


IMAGENET = ("main.py", "images", "-a", "resnet18", "-b", "16", "-j", "2", "--epochs", "1")
SPAWNED = ("--multiprocessing-distributed", "--world-size", "1", "--rank", "0")
EXAMPLES = (
    Job("imagenet", "imagenet", IMAGENET, write_image_folder),
    Job(
        "imagenet, 2 GPUs",
        "imagenet",
        (*IMAGENET, *SPAWNED, "--dist-url", "tcp://127.0.0.1:23461"),
        write_image_folder,
        gpus=2,
    ),
    Job("mnist", "mnist", ("main.py", "--epochs", "1"), write_mnist),
    Job("mnist_rnn", "mnist_rnn", ("main.py", "--epochs", "1"), write_mnist),
    Job("siamese_network", "siamese_network", ("main.py", "--epochs", "1"), write_mnist),
    Job("vae", "vae", ("main.py", "--epochs", "1"), write_mnist_and_results),
    Job("dcgan", "dcgan", ("main.py", "--dataset", "fake", "--niter", "1", "--dry-run")),
    Job(
        "word_language_model",
        "word_language_model",
        ("main.py", "--data", "corpus", "--epochs", "1"),
        write_corpus,
    ),
    Job(
        "word_language_model, Transformer",
        "word_language_model",
        ("main.py", "--data", "corpus", "--epochs", "1", "--model", "Transformer"),
        write_corpus,
    ),
    Job(
        "time_sequence_prediction",
        "time_sequence_prediction",
        ("train.py", "--steps", "1"),
        write_waves,
    ),
    Job("DDP tutorial, 1 GPU", "distributed/ddp-tutorial-series", ("single_gpu.py", "2", "1")),
    Job(
        "DDP tutorial, 2 ranks",
        "distributed/ddp-tutorial-series",
        ("multigpu.py", "2", "1"),
        gpus=2,
    ),
    Job(
        "DDP tutorial, torchrun",
        "distributed/ddp-tutorial-series",
        ("multigpu_torchrun.py", "2", "1"),
        gpus=2,
        launcher=("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"),
    ),
)
# What turns the GPU on where that is not the default; the option was renamed.
ACCELERATED = {
    "dcgan": ("--cuda", "--accel"),
    "mnist_rnn": ("--cuda", "--accel"),
    "word_language_model": ("--cuda", "--accel"),
}


def describe(told: Any) -> str:
    """Steps, partition and verdict of a run's report, on a line."""
    partition = {} if "absent" in told.get("partition", {}) else told.get("partition", {})
    steps = told.get("steps", {})
    shares = " ".join(
        f"{cause.replace('gpu_', '')} {share:.0%}"
        for cause, share in sorted(partition.items(), key=lambda item: -item[1])
        if share >= 0.01
    )
    lead = (told.get("findings") or [{}])[0]
    cause = "/".join(filter(None, (lead.get("cause"), lead.get("detail"))))
    return f"{steps.get('count', 0)} steps; {shares or 'NO PARTITION'}; {cause or '-'}"


def torch_version(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('torch'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def check_out(repository: Path, day: str, folder: str, target: Path) -> None:
    """A folder as it was on a day, its Python alone; the newest without a day."""
    revision = "HEAD"
    if day:
        command = ["git", "-C", str(repository), "rev-list", "-1", f"--before={day}", "HEAD"]
        revision = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    paths = (f"{folder}/*.py",)
    command = ["git", "-C", str(repository), "archive", revision.strip(), *paths]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")


def gpu_option(job: Job, folder: Path) -> list[str]:
    text = (folder / job.arguments[0]).read_text()
    return [option for option in ACCELERATED.get(job.folder, ()) if f"'{option}'" in text]


def run_emulated(
    arguments: argparse.Namespace, command: list[str], folder: Path, gpus: int
) -> tuple[int, str, float]:
    """Exit code, what it printed, seconds."""
    gpu = [arguments.gpu, "--gpus", str(gpus)]
    emulate = [str(UNSTARVE), "emulate", *gpu, "--"]
    if arguments.watch:
        kept = ["--out", str(arguments.told / "run"), "--json", str(arguments.told / "told.json")]
        emulate = [str(UNSTARVE), "run", "--emulate", *gpu, *kept, "--"]
    started = time.monotonic()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    try:
        done = subprocess.run(
            emulate + command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=arguments.timeout,
        )
    except subprocess.TimeoutExpired as expired:
        return 124, (expired.stdout or b"").decode(errors="replace"), arguments.timeout
    return done.returncode, done.stdout, time.monotonic() - started


def run_example(
    arguments: argparse.Namespace, job: Job, python: str, day: str
) -> tuple[int, str, float]:
    with tempfile.TemporaryDirectory(prefix="unstarve-scripts-") as temporary:
        check_out(arguments.examples, day, job.folder, Path(temporary))
        folder = Path(temporary) / job.folder
        job.prepare(folder, python)
        command = [python, *job.launcher, *job.arguments, *gpu_option(job, folder)]
        return run_emulated(arguments, command, folder, job.gpus)


def run_job(arguments: argparse.Namespace, script: Path, python: str) -> tuple[int, str, float]:
    with tempfile.TemporaryDirectory(prefix="unstarve-scripts-") as temporary:
        return run_emulated(arguments, [python, str(script)], Path(temporary), 1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, help="a clone of pytorch/examples")
    parser.add_argument("--python", action="append", help="an interpreter with PyTorch; repeat")
    parser.add_argument("--gpu", default="a100", help="what to emulate (default: a100)")
    parser.add_argument("--only", default="", help="scripts whose name contains this")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one script")
    parser.add_argument("--watch", action="store_true", help="under `unstarve run`: what it says")
    parser.add_argument("--logs", type=Path, help="a folder for what the scripts print")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="unstarve-told-") as told:
        arguments.told = Path(told)
        return run_all(arguments)


def run_all(arguments: argparse.Namespace) -> int:
    pythons = [str(Path(python).absolute()) for python in arguments.python or [sys.executable]]
    versions = {python: torch_version(python) for python in pythons}
    jobs: list[Job | Path] = [*EXAMPLES] if arguments.examples else []
    jobs += sorted(JOBS.glob("*.py"))
    print("script".ljust(36), *(f"torch {version}".rjust(20) for version in versions.values()))
    failed = 0
    for job in jobs:
        name = job.name if isinstance(job, Job) else job.stem
        if arguments.only not in name:
            continue
        cells = []
        for python, version in versions.items():
            if isinstance(job, Job):
                day = RELEASED.get(".".join(version.split(".")[:2]), "")
                code, text, seconds = run_example(arguments, job, python, day)
            else:
                code, text, seconds = run_job(arguments, job, python)
            cells.append(f"{'ok' if code == 0 else f'exit {code}'} {seconds:.0f} s".rjust(20))
            if arguments.watch:
                told = arguments.told / "told.json"
                said = json.loads(told.read_text()) if told.exists() else {}
                code = code or (0 if "gpu_compute" in said.get("partition", {}) else 1)
                cells.append(f"  {describe(said)}\n    {said.get('verdict', '')}")
                shutil.rmtree(arguments.told, ignore_errors=True)
                arguments.told.mkdir()
            failed += code != 0
            if arguments.logs:
                arguments.logs.mkdir(parents=True, exist_ok=True)
                log = f"{name} {version}.log".replace(" ", "_").replace(",", "")
                (arguments.logs / log).write_text(text)
        print(name.ljust(36), *cells, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
