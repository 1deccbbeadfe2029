#!/usr/bin/env python3
"""Tunes training scripts that others wrote, unchanged, on the CPU, twice, and compares the tables.

    git clone https://github.com/pytorch/examples ...
    bench/tuning/tuned_twice.py --examples DIR --timm DIR --lightning DIR --trainer FILE \
        --python PYTHON --minutes 4

Scripts whose folder is not given are left out. Every script is tuned once before the first is tuned
a second time. Prints a row per lever with its gain in both searches, whether their intervals meet,
and what was kept; and last how many did. Data are random words and digits, and copies of the
photographs of tests/data. --python has torch, torchvision, lightning with jsonargparse, timm,
transformers, datasets and evaluate.

With --more it is other scripts of pytorch/examples, whose loops differ (closures, two models, no
optimizer, evaluations, reinforcement learning), tuned once: what was found of each, or why not.
--python then has matplotlib and gymnasium too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PHOTOS = sorted((ROOT / "tests/data/photos").glob("*.jpg"))
WORDS = ("a", "loader", "feeds", "the", "device", "while", "it", "waits", "and", "good", "bad")
CLASSES = 4
IMAGES = 480
LINES = 60000
DIGITS = 12800

# time_sequence_prediction loads an array as torch allowed it before 2.6.
SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
    "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
}


@dataclass(frozen=True)
class Script:
    """A script in a folder of its repository, what it is called with, and what it may be told."""

    name: str
    repository: str  # the option that says where it lies
    path: str
    arguments: tuple[str, ...]
    tunable: tuple[str, ...]
    prepare: Callable[[Path], None]


def write_images(folder: Path) -> None:
    for part, count in (("train", IMAGES), ("val", 8)):
        for index in range(count):
            label = folder / "images" / part / f"class_{index % CLASSES}"
            label.mkdir(parents=True, exist_ok=True)
            (label / f"{index}.jpg").symlink_to(PHOTOS[index % len(PHOTOS)])


def write_corpus(folder: Path) -> None:
    chosen = random.Random(0)
    (folder / "corpus").mkdir()
    for part in ("train", "valid", "test"):
        lines = (" ".join(chosen.choices(WORDS, k=12)) for _ in range(LINES))
        (folder / "corpus" / f"{part}.txt").write_text("\n".join(lines) + "\n")


ACCURACY = """
import datasets
import evaluate
class Accuracy(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int32"),
                                      "references": datasets.Value("int32")})
        return evaluate.MetricInfo(description="", citation="", features=features)
    def _compute(self, predictions, references):
        pairs = list(zip(predictions, references))
        return {"accuracy": sum(a == b for a, b in pairs) / len(pairs)}
"""

TINY_BERT = """
import sys
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
folder, words = sys.argv[1], sys.argv[2].split()
with open(folder + "/vocab.txt", "w") as file:
    file.write("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
BertTokenizerFast(vocab_file=folder + "/vocab.txt", model_max_length=128).save_pretrained(folder)
config = BertConfig(vocab_size=100, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                    intermediate_size=1024, attn_implementation="eager")
BertForSequenceClassification(config).save_pretrained(folder)
"""


def write_sentences(folder: Path) -> None:
    chosen = random.Random(0)
    for part, count in (("train", LINES), ("valid", 64)):
        rows = ["sentence,label"]
        for _ in range(count):
            words = chosen.choices(WORDS, k=chosen.randrange(20, 90))
            rows.append(f"{' '.join(words)},{int(words.count('good') > 4)}")
        (folder / f"{part}.csv").write_text("\n".join(rows) + "\n")
    (folder / "accuracy.py").write_text(ACCURACY)
    (folder / "bert").mkdir()


def write_digits(folder: Path) -> None:
    """MNIST's four files, of random digits, where torchvision looks for them."""
    for data in (folder / "data", folder.parent / "data"):
        raw = data / "MNIST/raw"
        raw.mkdir(parents=True, exist_ok=True)
        for part, count in (("train", DIGITS), ("t10k", 1000)):
            pixels = random.Random(count).randbytes(count * 784)
            head = struct.pack(">IIII", 0x803, count, 28, 28)
            (raw / f"{part}-images-idx3-ubyte").write_bytes(head + pixels)
            labels = bytes(byte % 10 for byte in pixels[:count])
            head = struct.pack(">II", 0x801, count)
            (raw / f"{part}-labels-idx1-ubyte").write_bytes(head + labels)
    (folder / "results").mkdir()


def write_waves(folder: Path) -> None:
    """As generate_sine_wave.py of the example does."""
    import numpy
    import torch

    starts = numpy.random.default_rng(2).integers(-80, 80, (100, 1))
    waves = numpy.sin((numpy.arange(1000) + starts) / 20.0)
    torch.save(waves, folder / "traindata.pt")


def write_photographs(folder: Path) -> None:
    for part, copies in (("train", 30), ("test", 1)):
        images = folder / "dataset/BSDS300/images" / part
        images.mkdir(parents=True)
        for index, photo in enumerate(PHOTOS * copies):
            (images / f"{index}.jpg").symlink_to(photo)


def write_nothing(folder: Path) -> None:
    pass


IMAGENET = ("-a", "resnet18", "-b", "16", "-j", "0", "--epochs", "1", "images")
LIGHTNING = (
    *("fit", "--model.data_path", "images", "--model.batch_size", "16", "--model.workers", "0"),
    *("--trainer.max_epochs", "1", "--trainer.limit_val_batches", "0"),
)
TIMM = (
    *("--data-dir", "images", "--train-split", "train", "--val-split", "val", "--device", "cpu"),
    *("--model", "resnet18", "-b", "16", "-j", "1", "--epochs", "1", "--num-classes", str(CLASSES)),
)
TRAINER = (
    *("--model_name_or_path", "bert", "--train_file", "train.csv", "--validation_file"),
    *("valid.csv", "--metric_name", "./accuracy.py", "--do_train", "--output_dir", "out"),
    *("--max_seq_length", "64", "--per_device_train_batch_size", "16", "--use_cpu"),
    *("--num_train_epochs", "1", "--save_strategy", "no", "--report_to", "none"),
)
SCRIPTS = (
    Script(
        "imagenet (pytorch/examples)",
        *("examples", "imagenet/main.py"),
        arguments=IMAGENET,
        tunable=("workers=-j", "batch=-b"),
        prepare=write_images,
    ),
    Script(
        "word_language_model (pytorch/examples)",
        *("examples", "word_language_model/main.py"),
        arguments=("--data", "corpus", "--epochs", "1", "--batch_size", "20"),
        tunable=("batch=--batch_size",),
        prepare=write_corpus,
    ),
    Script(
        "run_classification (transformers' Trainer)",
        *("trainer", "run_classification.py"),
        arguments=TRAINER,
        tunable=("batch=--per_device_train_batch_size",),
        prepare=write_sentences,
    ),
    Script(
        "imagenet (Lightning)",
        *("lightning", "examples/pytorch/domain_templates/imagenet.py"),
        arguments=LIGHTNING,
        tunable=("workers=--model.workers", "batch=--model.batch_size"),
        prepare=write_images,
    ),
    Script(
        "train.py (timm)",
        *("timm", "train.py"),
        arguments=TIMM,
        tunable=("workers=-j", "batch=-b"),
        prepare=write_images,
    ),
)


def example(name: str, *arguments: str, prepare: Callable[[Path], None], batch: str = "") -> Script:
    """Of pytorch/examples. `batch`: the option that says its size, which `arguments` have."""
    path = name if name.endswith(".py") else f"{name}/main.py"
    told = (f"batch={batch}",) if batch else ()
    return Script(" ".join((name, *arguments)), "examples", path, arguments, told, prepare)


DIGITS_64 = ("--epochs", "1000", "--batch-size", "64")
MORE = (
    example("mnist", *DIGITS_64, prepare=write_digits, batch="--batch-size"),
    example("mnist_rnn", *DIGITS_64, prepare=write_digits, batch="--batch-size"),
    example("siamese_network", *DIGITS_64, prepare=write_digits, batch="--batch-size"),
    example("vae", *DIGITS_64, prepare=write_digits, batch="--batch-size"),
    example("mnist_forward_forward", "--train_size", "2000", prepare=write_digits),
    example("mnist_hogwild", *DIGITS_64, prepare=write_digits, batch="--batch-size"),
    example(
        "dcgan",
        *("--dataset", "fake", "--batchSize", "64"),
        prepare=write_nothing,
        batch="--batchSize",
    ),
    example(
        "word_language_model",
        *("--data", "corpus", "--model", "Transformer", "--epochs", "1", "--batch_size", "20"),
        prepare=write_corpus,
        batch="--batch_size",
    ),
    example(
        "super_resolution",
        *("--upscale_factor", "3", "--batchSize", "4", "--nEpochs", "1000"),
        prepare=write_photographs,
        batch="--batchSize",
    ),
    example("time_sequence_prediction/train.py", "--steps", "1000", prepare=write_waves),
    example("reinforcement_learning/reinforce.py", prepare=write_nothing),
    example("reinforcement_learning/actor_critic.py", prepare=write_nothing),
    example("regression", prepare=write_nothing),
)


def tune(script: Script, path: Path, work: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What one search found."""
    folder = Path(tempfile.mkdtemp(dir=work))
    script.prepare(folder)
    if script.repository == "trainer":
        command = [options.python, "-c", TINY_BERT, str(folder / "bert"), " ".join(WORDS)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    told = [word for name in script.tunable for word in ("--arg", name)]
    limits = ["--budget-minutes", str(options.minutes), "--trial-seconds", str(options.seconds)]
    if options.levers:
        limits += ["--only", options.levers]
    done = subprocess.run(
        [
            *(str(UNSTARVE), "tune", *limits, *told, "--out", "tuned", "--json", "tuned.json"),
            *("--", options.python, str(path), *script.arguments),
        ],
        cwd=folder,
        env={**os.environ, **SETTINGS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    (folder / "said.txt").write_text(done.stdout)
    if done.returncode != 0:
        return {"refused": done.stdout.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads((folder / "tuned.json").read_text())
    return found


def gain(lever: dict[str, Any] | None) -> tuple[float, float, float] | None:
    found = (lever or {}).get("speedup", {})
    return (found["speedup"], found["low"], found["high"]) if "speedup" in found else None


def best_words(found: dict[str, Any]) -> str:
    speedup = found["best"].get("speedup", {})
    return f"{speedup['speedup']:.2f}x" if "speedup" in speedup else "as it is"


def words(lever: dict[str, Any] | None) -> str:
    found = gain(lever)
    if lever is None or not lever["tried"]:
        return "-"
    if found is None:
        return str(lever["why"])
    verdict = "kept" if lever["kept"] else "proposed" if lever["proposed"] else lever["why"]
    return f"{found[0]:.2f}x [{found[1]:.2f}..{found[2]:.2f}], {verdict}"


def compare(name: str, searches: list[dict[str, Any]]) -> tuple[int, int]:
    """Prints the rows of one script. How many levers both searches measured, how many agree."""
    for found in searches:
        if "refused" in found:
            print(f"\n### {name}: {found['refused']}")
            return 0, 0
    tables = [{lever["id"]: lever for lever in found["levers"]} for found in searches]
    noises = " and ".join(f"{found['noise_ratio']:.1%}" for found in searches)
    bests = " and ".join(best_words(found) for found in searches)
    steps = " and ".join(f"{found['baseline']['step_us'] / 1000:.0f} ms" for found in searches)
    print(f"\n### {name}: step {steps}, noise {noises}, best {bests}\n")
    print("| lever | first search | second search | intervals |\n|---|---|---|---|")
    both = agree = 0
    for lever in dict.fromkeys(key for table in tables for key in table):
        rows = [table.get(lever) for table in tables]
        gains = [gain(row) for row in rows]
        if not any(row and row["tried"] for row in rows):
            continue
        first, second = gains
        meet = "-"
        if first and second:
            both += 1
            holds = first[1] <= second[2] and second[1] <= first[2]
            agree += holds
            meet = "meet" if holds else "apart"
        print(f"| {lever} | {words(rows[0])} | {words(rows[1])} | {meet} |")
    sys.stdout.flush()
    return both, agree


def describe(name: str, found: dict[str, Any]) -> None:
    """Prints the rows of one search: what was tried, and what the hook says does not apply."""
    if "refused" in found:
        print(f"\n### {name}: {found['refused']}")
        return
    step_ms = found["baseline"]["step_us"] / 1000
    noise = found["noise_ratio"]
    print(f"\n### {name}: step {step_ms:.3g} ms, noise {noise:.1%}, best {best_words(found)}\n")
    print(f"{found['losses'] or 'losses were not compared'}\n")
    print("| lever | found | parity |\n|---|---|---|")
    for lever in found["levers"]:
        said = words(lever) if lever["tried"] else lever["why"]
        print(f"| {lever['id']} | {said} | {lever['parity']} |")


def search_once(chosen: list[tuple[Script, Path]], work: Path, options: argparse.Namespace) -> int:
    for script, path in chosen:
        describe(script.name, tune(script, path, work, options))
        sys.stdout.flush()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for repository in dict.fromkeys(script.repository for script in SCRIPTS):
        parser.add_argument(f"--{repository}", type=Path, help="a checkout of its repository")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--minutes", type=float, default=5, help="of each search")
    parser.add_argument("--seconds", type=float, default=5, help="of each trial")
    parser.add_argument("--levers", help="only these and groups of them, with commas between")
    parser.add_argument("--only", default="", help="part of a script's name")
    parser.add_argument("--more", action="store_true", help="other scripts of the examples, once")
    parser.add_argument("--work", type=Path, help="where the searches lie (kept)")
    options = parser.parse_args()
    work = Path(options.work or tempfile.mkdtemp(prefix="tuned-"))
    work.mkdir(parents=True, exist_ok=True)
    chosen: list[tuple[Script, Path]] = []
    for script in MORE if options.more else SCRIPTS:
        repository = vars(options)[script.repository]
        if repository is None or options.only not in script.name:
            continue
        path = repository if repository.is_file() else repository / script.path
        chosen.append((script, path.resolve()))
    if options.more:
        return search_once(chosen, work, options)
    searches: dict[str, list[dict[str, Any]]] = {script.name: [] for script, _ in chosen}
    for turn in range(2):
        for script, path in chosen:
            print(f"search {turn + 1} of {script.name} ...", file=sys.stderr)
            searches[script.name].append(tune(script, path, work, options))
    counts = [compare(name, found) for name, found in searches.items()]
    both, agree = (sum(column) for column in zip(*counts, strict=True))
    print(f"\n{both} levers measured in both searches, of {agree} the intervals meet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
