#!/usr/bin/env python3
"""Whether the change that a diagnosis proposes for a data set's known work gains what it promises.

For each kind of work: a job as people write it, and the same with the change made by hand. The
first is watched on an emulated A100, which gives the change and its predicted gain; then both run
unwatched, one after the other, and their mean steps are compared. The batches of both are compared
to the bit before. Kinds whose packages are missing are left out by name (`pip install h5py pandas
pyarrow scipy`).

    PATH=build/release/src/cli:$PATH .venv/bin/python bench/known_work/known_work.py
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

JOB = """
import sys, time
import torch
from torch.utils.data import DataLoader, Dataset
{data}

class Samples(Dataset):
{body}

if __name__ == "__main__":
    samples = Samples()
    collate = getattr(samples, "collate", None)
    if sys.argv[1:] == ["--samples"]:
        loader = DataLoader(samples, batch_size=32, collate_fn=collate)
        torch.save(list(loader), sys.argv[0] + ".pt")
        sys.exit()
    matrix = torch.randn(2048, 2048, device="cuda")
    weights = torch.nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(weights.parameters(), lr=0.1)
    loader = DataLoader(samples, batch_size=32, shuffle=True, num_workers=WORKERS,
                        collate_fn=collate)
    begun = steps = 0
    for epoch in range(EPOCHS):
        for batch in loader:
            batch = batch.cuda()
            for _ in range(6):
                matrix @ matrix
            optimizer.zero_grad()
            weights(torch.zeros(32, 8, device="cuda")).sum().backward()
            optimizer.step()
            steps += 1
            if steps == 10:
                torch.cuda.synchronize()
                begun = time.perf_counter()
    torch.cuda.synchronize()
    print((time.perf_counter() - begun) / (steps - 10))
"""


class Kind(NamedTuple):
    name: str
    remedy: str
    needs: tuple[str, ...]
    data: str
    before: str
    after: str


TOKENIZER = """
import random
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

draw = random.Random(1)
words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(2000)]
texts = [" ".join(draw.choices(words, k=400)) for _ in range(320)]
model = Tokenizer(models.BPE(unk_token="[UNK]"))
model.pre_tokenizer = pre_tokenizers.Whitespace()
model.train_from_iterator(
    texts[:50], trainers.BpeTrainer(vocab_size=2000, special_tokens=["[UNK]", "[PAD]"]))
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=model, unk_token="[UNK]", pad_token="[PAD]")
"""
TABLE = """
import numpy, pandas
numbers = numpy.random.default_rng(1).random((20000, 40)).astype("float32")
frame = pandas.DataFrame(numbers, columns=[f"c{i}" for i in range(40)])
frame["label"] = 1
columns = [f"c{i}" for i in range(40)]
"""
SOUND = """
import numpy, scipy.signal
waves = numpy.random.default_rng(1).random((320, 32000)).astype("float32")

def features(wave):
    _, _, spectrum = scipy.signal.spectrogram(wave, nperseg=512, noverlap=384)
    return torch.from_numpy(numpy.log1p(spectrum).astype("float32"))
"""
FILE = """
import os, tempfile
import h5py, numpy
path = os.path.join(tempfile.gettempdir(), f"known_work_{os.getuid()}.h5")
if not os.path.exists(path):
    with h5py.File(path, "w") as file:
        for i in range(320):
            file[f"sample_{i}"] = numpy.full(2000, i, "float32")
"""
CHUNKS = """
import os, tempfile
import h5py, numpy
path = os.path.join(tempfile.gettempdir(), f"known_work_chunks_{os.getuid()}.h5")
if not os.path.exists(path):
    numbers = numpy.random.default_rng(1).random((320, 4000)).astype("float32")
    with h5py.File(path, "w") as file:
        file.create_dataset("many", data=numbers, chunks=(64, 4000), compression="gzip")
        file.create_dataset("one", data=numbers, chunks=(1, 4000))
"""
DATABASE = """
import os, sqlite3, tempfile
path = os.path.join(tempfile.gettempdir(), f"known_work_{os.getuid()}.sqlite")
if not os.path.exists(path):
    with sqlite3.connect(path) as made:
        made.execute("create table t (id integer, a real, b real, c real)")
        made.executemany("insert into t values (?, ?, ?, ?)",
                         [(i, i * 0.5, i * 2.0, 1.0) for i in range(320)])
    made.close()
"""
LINES = """
import json
lines = [json.dumps({"values": [i * 0.25 + k for k in range(1500)]}) for i in range(320)]
"""

KINDS = [
    Kind("tokenizing", "tokens_beforehand", ("transformers",), TOKENIZER,
         '''
    def __len__(self): return len(texts)
    def __getitem__(self, index):
        encoded = tokenizer(texts[index], truncation=True, padding="max_length", max_length=512)
        return torch.tensor(encoded["input_ids"])
''', '''
    def __init__(self):
        encoded = tokenizer(texts, truncation=True, padding="max_length", max_length=512)
        self.ids = torch.tensor(encoded["input_ids"])
    def __len__(self): return len(texts)
    def __getitem__(self, index): return self.ids[index]
'''),
    Kind("tokenizing in collate", "tokens_beforehand", ("transformers",), TOKENIZER,
         '''
    def __len__(self): return len(texts)
    def __getitem__(self, index): return texts[index]
    def collate(self, rows):
        encoded = tokenizer(rows, truncation=True, padding=True, max_length=512)
        return torch.tensor(encoded["input_ids"])
''', '''
    def __init__(self):
        encoded = tokenizer(texts, truncation=True, max_length=512)
        self.ids = [torch.tensor(row) for row in encoded["input_ids"]]
    def __len__(self): return len(texts)
    def __getitem__(self, index): return self.ids[index]
    def collate(self, rows):
        return torch.nn.utils.rnn.pad_sequence(
            rows, batch_first=True, padding_value=tokenizer.pad_token_id)
'''),
    Kind("rows of a DataFrame", "arrays_for_rows", ("pandas",), TABLE,
         '''
    def __len__(self): return 320
    def __getitem__(self, index):
        row = frame.iloc[index]
        return torch.tensor(row[columns].to_numpy(dtype="float32"))
''', '''
    def __init__(self): self.rows = torch.from_numpy(frame[columns].to_numpy(dtype="float32"))
    def __len__(self): return 320
    def __getitem__(self, index): return self.rows[index]
'''),
    Kind("spectrograms", "features_beforehand", ("scipy",), SOUND,
         '''
    def __len__(self): return len(waves)
    def __getitem__(self, index): return features(waves[index])
''', '''
    def __init__(self): self.all = torch.stack([features(wave) for wave in waves])
    def __len__(self): return len(waves)
    def __getitem__(self, index): return self.all[index]
'''),
    Kind("a file opened anew", "kept_file", ("h5py",), FILE,
         '''
    def __len__(self): return 320
    def __getitem__(self, index):
        with h5py.File(path, "r") as file:
            return torch.from_numpy(file[f"sample_{index}"][:])
''', '''
    file = None
    def __len__(self): return 320
    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(path, "r")
        return torch.from_numpy(self.file[f"sample_{index}"][:])
'''),
    Kind("chunks of many samples", "chunks_of_samples", ("h5py",), CHUNKS,
         '''
    def __init__(self): self.rows = h5py.File(path, "r")["many"]
    def __len__(self): return 320
    def __getitem__(self, index): return torch.from_numpy(self.rows[index])
''', '''
    def __init__(self): self.rows = h5py.File(path, "r")["one"]
    def __len__(self): return 320
    def __getitem__(self, index): return torch.from_numpy(self.rows[index])
'''),
    Kind("queries", "query_for_a_batch", (), DATABASE,
         '''
    def __init__(self): self.made = sqlite3.connect(path)
    def __len__(self): return 320
    def __getitem__(self, index):
        rows = self.made.execute("select a, b, c from t where id = ?", (index,))
        return torch.tensor(rows.fetchone())
''', '''
    def __init__(self): self.made = sqlite3.connect(path)
    def __len__(self): return 320
    def __getitem__(self, index): return self.__getitems__([index])[0]
    def __getitems__(self, indices):
        places = ",".join("?" * len(indices))
        rows = self.made.execute(
            f"select id, a, b, c from t where id in ({places})", indices).fetchall()
        of = {row[0]: row[1:] for row in rows}
        return list(torch.tensor([of[i] for i in indices]))
'''),
    Kind("parsing JSON", "parsed_beforehand", (), LINES,
         '''
    def __len__(self): return len(lines)
    def __getitem__(self, index): return torch.tensor(json.loads(lines[index])["values"])
''', '''
    def __init__(self):
        self.values = torch.tensor([json.loads(line)["values"] for line in lines])
    def __len__(self): return len(lines)
    def __getitem__(self, index): return self.values[index]
'''),
]  # fmt: skip


def run(command: list[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def write(folder: Path, kind: Kind, name: str, body: str, workers: int, epochs: int) -> Path:
    text = JOB.replace("{data}", kind.data).replace("{body}", body)
    text = text.replace("WORKERS", str(workers)).replace("EPOCHS", str(epochs))
    script = folder / f"{kind.name.replace(' ', '_')}_{name}.py"
    script.write_text(text)
    return script


def samples_of(script: Path) -> list[Any]:
    import torch

    run([sys.executable, script, "--samples"])
    found: list[Any] = torch.load(f"{script}.pt")
    return found


def require_equal(before: Path, after: Path) -> None:
    import torch

    pairs = zip(samples_of(before), samples_of(after), strict=True)
    if not all(torch.equal(one, other) for one, other in pairs):
        raise SystemExit(f"{after} gives other samples than {before}")


def told_of(before: Path, folder: Path, remedy: str) -> tuple[dict[str, Any] | None, str]:
    """The predicted gain, and the change that leads."""
    out = folder / before.stem
    page = f"{out}.json"
    run(["unstarve", "run", "--emulate", "a100", "--no-live", "--out", out, "--json", page,
         "--", sys.executable, before])  # fmt: skip
    told = json.loads(Path(page).read_text())
    offered = [one for finding in told["findings"] for one in finding["remedies"]]
    found = [one["predicted"] for one in offered if one["id"] == remedy]
    leading = told["findings"][told["leading_finding"] or 0]["remedies"]
    return (found[0] if found else None), ", ".join(one["id"] for one in leading)


def measured(before: Path, after: Path, repeats: int) -> float:
    ratios = []
    for _ in range(repeats):
        steps = [float(run(["unstarve", "emulate", "a100", "--", sys.executable, script]))
                 for script in (before, after)]  # fmt: skip
        ratios.append(steps[0] / steps[1])
    return statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description="gains of changes of known work")
    parser.add_argument("--only", default="", help="a part of a kind's name")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'kind':<24} {'predicted':>24} {'measured':>9}  inside  remedies offered")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            if options.only not in kind.name:
                continue
            missing = [need for need in kind.needs if importlib.util.find_spec(need) is None]
            if missing:
                print(f"{kind.name:<24} left out: {', '.join(missing)} is not installed")
                continue
            before, after = (
                write(folder, kind, word, body, options.workers, options.epochs)
                for word, body in (("before", kind.before), ("after", kind.after))
            )
            require_equal(before, after)
            predicted, offered = told_of(before, folder, kind.remedy)
            gain = measured(before, after, options.repeats)
            words, inside = "not offered", ""
            if predicted is not None and "speedup" in predicted:
                low, high = predicted["low"], predicted["high"]
                words = f"{predicted['speedup']:.2f}x [{low:.2f}..{high:.2f}]"
                inside = "yes" if low <= gain <= high else "no"
            elif predicted is not None:
                words = "none"
            print(f"{kind.name:<24} {words:>24} {gain:8.2f}x  {inside:<6}  {offered}", flush=True)


if __name__ == "__main__":
    main()
