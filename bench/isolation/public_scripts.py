#!/usr/bin/env python3
"""Searches training scripts that others wrote and that save, and says what became of their files.

    bench/isolation/public_scripts.py --python .venv/bin/python \
        --clone examples=DIR --clone nanoGPT=DIR --clone minGPT=DIR --clone timm=DIR \
        --clone lightning=DIR

Clones: pytorch/examples, karpathy/nanoGPT and minGPT, huggingface/pytorch-image-models and
Lightning-AI/pytorch-lightning; scripts of one that is not given are left out. Each script runs once
by itself, with small random data, so that its checkpoints, logs and outputs are there; then `tune`
and `run --fix` try it. Every file of its folder and of its home has to have the bytes,
the mode and the time of its last change that it had before, and none may be there that was not.
Prints a row for each script; exits 1 where one was changed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
WORDS = ("a", "loader", "feeds", "the", "device", "while", "it", "waits")


def write_mnist(*folders: str) -> Callable[[Path], None]:
    """MNIST's four files, of random digits, where torchvision looks for them."""

    def write(folder: Path) -> None:
        for place in folders:
            raw = folder / place / "MNIST/raw"
            raw.mkdir(parents=True, exist_ok=True)
            for part, count in (("train", 2560), ("t10k", 256)):
                pixels = random.Random(count).randbytes(count * 784)
                head = struct.pack(">IIII", 0x803, count, 28, 28)
                (raw / f"{part}-images-idx3-ubyte").write_bytes(head + pixels)
                labels = struct.pack(">II", 0x801, count) + bytes(b % 10 for b in pixels[:count])
                (raw / f"{part}-labels-idx1-ubyte").write_bytes(labels)

    return write


def write_mnist_and_results(folder: Path) -> None:
    write_mnist("../data")(folder)
    (folder / "results").mkdir(exist_ok=True)


def write_images(folder: Path) -> None:
    for part in ("train", "val"):
        for index, photo in enumerate(PHOTOS):
            label = folder / "images" / part / ("cat", "dog")[index % 2]
            label.mkdir(parents=True, exist_ok=True)
            (label / f"{index}.jpg").symlink_to(photo)


def write_photographs(folder: Path) -> None:
    for part in ("train", "test"):
        images = folder / "dataset/BSDS300/images" / part
        images.mkdir(parents=True)
        for index, photo in enumerate(PHOTOS[:16]):
            (images / f"{index}.jpg").symlink_to(photo)


def write_corpus(folder: Path) -> None:
    (folder / "corpus").mkdir()
    for part in ("train", "valid", "test"):
        (folder / "corpus" / f"{part}.txt").write_text(lines(900))


def lines(count: int) -> str:
    chosen = random.Random(count)
    return "\n".join(" ".join(chosen.choices(WORDS, k=12)) for _ in range(count)) + "\n"


def write_text(name: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(lines(2000))

    return write


def write_tokens(folder: Path) -> None:
    data = folder / "data/random"
    data.mkdir(parents=True)
    for part in ("train", "val"):
        tokens = [random.Random(index).randrange(64) for index in range(20_000)]
        (data / f"{part}.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))


@dataclass(frozen=True)
class Script:
    name: str
    clone: str
    parts: tuple[str, ...]  # of the repository
    folder: str  # where it is run
    command: tuple[str, ...]  # behind `python`
    prepare: Callable[[Path], None] = lambda folder: None
    at_first: tuple[str, ...] = ()  # another command for the run that makes its files
    gpus: int = 0  # that it asks for: emulated ones


def example(name: str, *command: str, prepare: Callable[[Path], None]) -> Script:
    return Script(" ".join((name, *command[1:])), "examples", (name,), name, command, prepare)


GPT = (
    *("train.py", "--dataset=random", "--device=cpu", "--compile=False", "--dtype=float32"),
    *("--n_layer=2", "--n_head=2", "--n_embd=32", "--block_size=32", "--batch_size=4"),
    *("--gradient_accumulation_steps=1", "--eval_interval=20", "--eval_iters=2"),
)
DDP = "distributed/ddp-tutorial-series"
FABRIC = "examples/fabric/image_classifier"
SCRIPTS = (
    example("mnist", "main.py", "--save-model", "--epochs", "1", prepare=write_mnist("../data")),
    example(
        "mnist_rnn", "main.py", "--save-model", "--epochs", "1",
        prepare=write_mnist("../data"),
    ),
    example(
        "siamese_network", "main.py", "--save-model", "--epochs", "1",
        prepare=write_mnist("../data"),
    ),
    example(
        "mnist_hogwild", "main.py", "--save_model", "--epochs", "1",
        prepare=write_mnist("../data"),
    ),
    example("vae", "main.py", "--epochs", "1", prepare=write_mnist_and_results),
    example(
        "dcgan", "main.py", "--dataset", "fake", "--niter", "1", "--ngf", "4", "--ndf", "4",
        "--dry-run", prepare=lambda folder: None,
    ),
    example(
        "word_language_model", "main.py", "--data", "corpus", "--epochs", "2", "--emsize", "16",
        "--nhid", "16", prepare=write_corpus,
    ),
    example(
        "word_language_model", "main.py", "--data", "corpus", "--epochs", "2", "--emsize", "16",
        "--nhid", "16", "--model", "Transformer", prepare=write_corpus,
    ),
    example(
        "imagenet", "main.py", "images", "-a", "resnet18", "-b", "4", "-j", "1", "--epochs", "1",
        prepare=write_images,
    ),
    example(
        "super_resolution", "main.py", "--upscale_factor", "3", "--batchSize", "2", "--nEpochs",
        "2", "--threads", "0", prepare=write_photographs,
    ),
    Script("nanoGPT", "nanoGPT", (), ".", GPT, write_tokens, (*GPT, "--max_iters=45")),
    Script(
        "nanoGPT, resumed", "nanoGPT", (), ".", (*GPT, "--init_from=resume"), write_tokens,
        (*GPT, "--max_iters=45"),
    ),
    Script(
        "minGPT adder", "minGPT", (), "projects/adder",
        ("adder.py", "--model.model_type=gpt-nano"),
    ),
    Script(
        "minGPT chargpt", "minGPT", (), "projects/chargpt",
        ("chargpt.py", "--model.model_type=gpt-nano"), write_text("input.txt"),
    ),
    Script(
        "DDP tutorial", "examples", (DDP,), DDP, ("single_gpu.py", "200000", "1"), gpus=1,
        at_first=("single_gpu.py", "2", "1"),
    ),
    Script(
        "DDP tutorial, two ranks", "examples", (DDP,), DDP, ("multigpu.py", "200000", "1"),
        gpus=2, at_first=("multigpu.py", "2", "1"),
    ),
    Script(
        "timm", "timm", ("train.py", "timm"), ".",
        ("train.py", "--data-dir", "images", "--model", "resnet10t", "--img-size", "64",
         "--num-classes", "2", "-b", "4", "-j", "1", "--epochs", "1", "--device", "cpu",
         "--val-split", "val"),
        write_images,
    ),
    Script("Lightning bug report", "lightning", ("examples/pytorch/bug_report",),
           "examples/pytorch/bug_report", ("bug_report_model.py",)),
    Script("Fabric's torch", "lightning", (FABRIC,), FABRIC,
           ("train_torch.py", "--epochs", "1", "--save-model"), write_mnist("../../../Datasets")),
    Script("Fabric", "lightning", (FABRIC,), FABRIC,
           ("train_fabric.py", "--epochs", "1", "--save-model"), write_mnist("../../../Datasets")),
    Script("Fabric, own trainer", "lightning", ("examples/fabric/build_your_own_trainer",),
           "examples/fabric/build_your_own_trainer", ("run.py",), write_mnist(".", "data")),
)  # fmt: skip


def check_out(clone: Path, parts: tuple[str, ...], target: Path) -> None:
    command = ["git", "-C", str(clone), "archive", "HEAD", *parts]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")


def state_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """What a file or folder is, by its name."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content: object = None
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        name = str(path.relative_to(folder))
        found[name] = (facts.st_mode, facts.st_uid, facts.st_mtime_ns, content)
    return found


def differences(before: dict[str, tuple[object, ...]], folder: Path) -> list[str]:
    after = state_of(folder)
    names = sorted(before.keys() | after.keys())
    return [name for name in names if before.get(name) != after.get(name)]


def run(command: list[str], folder: Path, environment: dict[str, str], seconds: float) -> str:
    """How it ended, in a word or two, and the end of what it said."""
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "went on"
    if done.returncode == 0:
        return "ok"
    said = done.stdout.decode(errors="replace").strip().splitlines()
    return f"exit {done.returncode}: {' '.join(said[-3:])[-300:]}"


def try_script(script: Script, arguments: argparse.Namespace) -> list[str]:
    """Prints its row; the files that were changed."""
    with tempfile.TemporaryDirectory(prefix="unstarve-scripts-") as temporary:
        base = Path(temporary)
        repository, home, runs = base / "work/repository", base / "work/home", base / "runs"
        for folder in (repository, home, runs):
            folder.mkdir(parents=True)
        check_out(arguments.clones[script.clone], script.parts, repository)
        folder = repository / script.folder
        script.prepare(folder)
        environment = {
            **os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(repository),
            "WANDB_MODE": "offline",
        }  # fmt: skip
        gpus = ["--gpus", str(script.gpus)]
        on = [str(UNSTARVE), "emulate", "a100", *gpus, "--"] if script.gpus else []
        plain = [*on, arguments.python, *(script.at_first or script.command)]
        written = state_of(base / "work")
        first = run(plain, folder, environment, arguments.first_seconds)
        made = len(differences(written, base / "work"))
        before = state_of(base / "work")
        job = ["--", arguments.python, *script.command]
        tune = [*on, str(UNSTARVE), "tune", "--trial-seconds", "1", "--parity-steps", "5"]
        tune += ["--budget-minutes", str(arguments.minutes), "--out", str(runs / "t")]
        tuned = run([*tune, *job], folder, environment, 600)
        fix = [*on, str(UNSTARVE), "run", "--fix", "--trial-seconds", "1.5", "--no-live"]
        fixed = run([*fix, "--out", str(runs / "f"), *job], folder, environment, 600)
        changed = differences(before, base / "work")
        trials = len(list(runs.glob("t/trials/*"))) + len(list(runs.glob("f/*/run.sqlite")))
        kept = kept_of(runs / "t/tune.json")
    verdict = f"{len(changed)} CHANGED" if changed else "as they were"
    print(
        f"{script.name[:44]:44} first run {first[:60]}, {made} files; tune {tuned[:160]}{kept}; "
        f"fix {fixed[:160]}; {trials} trials; files {verdict}",
        flush=True,
    )
    for name in changed[:5]:
        print(f"    {name}", flush=True)
    return changed


def kept_of(path: Path) -> str:
    if not path.exists():
        return ""
    changes = json.loads(path.read_text())["best"]["changes"]
    return " keeps " + (", ".join(change["id"] for change in changes) or "nothing")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clone", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--python", default=sys.executable, help="one with PyTorch")
    parser.add_argument("--only", default="", help="scripts whose name matches this")
    parser.add_argument("--minutes", type=float, default=0.5, help="for each search (0.5)")
    parser.add_argument("--first-seconds", type=float, default=60, help="for a first run (60)")
    arguments = parser.parse_args()
    arguments.clones = {n: Path(d) for n, _, d in (one.partition("=") for one in arguments.clone)}
    arguments.python = str(Path(arguments.python).absolute())
    return arguments


def main() -> int:
    arguments = parse_arguments()
    chosen = [
        script
        for script in SCRIPTS
        if script.clone in arguments.clones and re.search(arguments.only, script.name)
    ]
    changed = [script.name for script in chosen if try_script(script, arguments)]
    print(f"{len(chosen) - len(changed)} of {len(chosen)} scripts have their files as they were")
    return 1 if changed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
