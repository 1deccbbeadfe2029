"""Records the runs that the tests of reports decide on: `record.py [NAME...]`, all without names.

A job runs under `unstarve run` in a folder of a neutral name; what a report reads of it is kept in
tests/data/runs/NAME. A run that others disturbed is made again, a bounded number of times.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from measuring import OTHERS_CORES, disturbance_of_run, read_now  # noqa: E402

BUILD = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release"))
JOBS = Path(__file__).resolve().parent / "jobs"
KEPT = ROOT / "tests/data/runs"
PLACE = Path("/tmp/unstarve-recordings")
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
ATTEMPTS = 8
QUIET_WITHIN_S = 120
MOST_BYTES = 600_000


def make_images(folder: Path, count: int = 160) -> None:
    for number in range(count):
        file = folder / "images" / "ab"[number % 2] / f"{number:03d}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PHOTOS[number % len(PHOTOS)], file)


def make_large_images(folder: Path) -> None:
    """So large that one thread cannot keep up, however fast the machine."""
    from PIL import Image

    target = folder / "images" / "photo"
    target.mkdir(parents=True)
    Image.open(PHOTOS[0]).resize((1600, 1200)).save(folder / "large.jpg", quality=95)
    for number in range(400):
        (target / f"{number}.jpg").symlink_to(folder / "large.jpg")


def make_late_files(folder: Path) -> None:
    (folder / "files").mkdir()
    for number in range(8):
        (folder / "files" / str(number)).write_bytes(bytes(20_000))
    source = ROOT / "bench/slow_files/slow_open.c"
    library = folder / "slow_open.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)


@dataclass(frozen=True)
class Recording:
    job: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    prepare: Callable[[Path], None] = field(default=lambda folder: None)
    exit_code: int = 0
    beside: tuple[str, ...] = ()  # what the job imports


GPU = ("--emulate", "a100")


def late_files(workers: int, where: str, milliseconds: int) -> Recording:
    """A job whose files come so late."""
    files = f"{PLACE}/{{name}}/files"
    slow = [f"SLOW_FOLDER={files}", f"SLOW_MS={milliseconds}", f"SLOW_IN={where}"]
    before = ("env", f"LD_PRELOAD={PLACE}/{{name}}/slow_open.so", *slow)
    return Recording("opens_files.py", (files, str(workers)), GPU, before, make_late_files)


RECORDINGS = {
    "trained": Recording("trains.py", ("0",)),
    "ended_by_signal": Recording("trains.py", ("signal",), exit_code=139),
    "ended_with_3": Recording("trains.py", ("3",), exit_code=3),
    "raised": Recording("trains.py", ("raises",), exit_code=1),
    "by_hand": Recording("without_optimizer.py", ("by_hand",)),
    "infers": Recording("without_optimizer.py", ("infers",)),
    "without_loader": Recording("without_optimizer.py", ("without_loader",)),
    "evaluates": Recording("evaluates.py"),
    "fed": Recording("convolves.py", ("fed", "cpu")),
    "fed_gpu": Recording("convolves.py", ("fed", "cuda"), GPU),
    "starved": Recording("convolves.py", ("starved", "cpu")),
    "lockstep": Recording("convolves.py", ("lockstep", "cpu")),
    "restarting": Recording("convolves.py", ("restarting", "cpu")),
    "living_on": Recording("convolves.py", ("living_on", "cpu")),
    "images": Recording("reads_images.py", ("images", "12"), GPU, prepare=make_images),
    "few_steps": Recording("reads_images.py", ("images", "3"), GPU, prepare=make_images),
    "dataset_folder": Recording(
        "reads_folders.py", ("DatasetFolder", "images"), GPU, prepare=make_images
    ),
    "subset": Recording("reads_folders.py", ("Subset", "images"), GPU, prepare=make_images),
    "late_files": late_files(0, "sleep", 20),
    "late_files_2": late_files(2, "sleep", 20),
    "late_network_2": late_files(2, "network", 20),
    "in_time_2": late_files(2, "sleep", 0),
    "our_loader": Recording(
        "../../../examples/train_image_loader.py",
        ("images", "--workers", "1", "--steps", "24", "--batch-size", "32"),
        ("--emulate", "h100"),
        prepare=make_large_images,
        beside=("../../../examples/train.py",),
    ),
}


def run_once(name: str, recording: Recording) -> Path:
    """The folder of a run that has just ended, its diagnosis beside its store."""
    folder = PLACE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    recording.prepare(folder)
    script = (JOBS / recording.job).resolve()
    for file in (script, *((JOBS / other).resolve() for other in recording.beside)):
        shutil.copy(file, folder / file.name)
    job = [*recording.before, "python", script.name, *recording.arguments]
    command = [str(BUILD / "src/cli/unstarve"), "run", "--out", "run", "--json", "told.json"]
    command += [*recording.options, "--", *(word.format(name=name) for word in job)]
    env = {key: value for key, value in os.environ.items() if not key.startswith("UNSTARVE")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    env["PYTHONPATH"] = str(BUILD / "python")
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    if done.returncode != recording.exit_code:
        raise RuntimeError(f"{name}: exit {done.returncode}\n{done.stderr}")
    shutil.move(folder / "told.json", folder / "run/told.json")
    return folder / "run"


def keep(name: str, run: Path) -> int:
    """Puts what a report reads where the tests find it; says how many bytes that are."""
    target = KEPT / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for kept in ("run.sqlite", "events-0.uev", "told.json"):
        if (run / kept).exists():
            shutil.copy(run / kept, target / kept)
    with closing(sqlite3.connect(target / "run.sqlite")) as store:
        store.execute("UPDATE run SET value = 'recorded' WHERE key = 'host'")
        store.commit()
        store.execute("VACUUM")
    told = json.loads((target / "told.json").read_text())
    (target / "told.json").write_text(json.dumps(told, indent=1) + "\n")
    for file in target.iterdir():
        for word in (str(ROOT), socket.gethostname() + "\n", str(Path.home()) + "/"):
            if word.encode() in file.read_bytes():
                raise RuntimeError(f"{file} names this machine: {word}")
    size = sum(file.stat().st_size for file in target.iterdir())
    if size > MOST_BYTES:
        raise RuntimeError(f"{target} has {size} bytes")
    return size


def wait_for_quiet() -> None:
    """Until others have left the CPUs alone for a moment; not for ever."""
    for _ in range(QUIET_WITHIN_S):
        before = read_now()
        time.sleep(1)
        after = read_now()
        if after.used_s - before.used_s < OTHERS_CORES:
            return


def record(name: str) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        wait_for_quiet()
        run = run_once(name, RECORDINGS[name])
        disturbance = disturbance_of_run(run)
        if not disturbance:
            print(f"{name}: {keep(name, run)} bytes", flush=True)
            return
        print(f"{name}, attempt {attempt}: {disturbance}", flush=True)
    raise RuntimeError(f"{name}: never undisturbed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RECORDINGS))
    names = arguments.parse_args().names or list(RECORDINGS)
    for name in names:
        record(name)


if __name__ == "__main__":
    main()
