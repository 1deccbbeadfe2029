"""`unstarve tune --arg NAME=Class.argument`: values in a script's code, and its diff at the end."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import unstarve, with_forked_jobs

# Samples that come late, for the training alone.
LATE = """
import time, torch
from torch.utils.data import DataLoader, Dataset

class Late(Dataset):
    def __len__(self):
        return 3200
    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.randn(8, generator=torch.Generator().manual_seed(index)), index % 4

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(
    Late(),
    batch_size=8,
    shuffle=True,
    num_workers=0,  # in this process
)
for inputs, labels in loader:
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def tuned(folder: Path, script: str, *options: str) -> tuple[dict[str, Any], str]:
    (folder / "train.py").write_text(script)
    words = ["tune", "--trial-seconds", "1", "--parity-steps", "10", "--out", "r"]
    words += ["--json", "t.json", *options, "--", sys.executable, "train.py"]
    done = unstarve(*words, cwd=folder, env=with_forked_jobs())
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "t.json").read_text())
    return found, done.stdout


def of(found: dict[str, Any], lever: str) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [one for one in found["levers"] if one["id"] == lever]
    (entry,) = entries
    return entry


@pytest.mark.slow
def test_workers_that_the_code_names_are_found_and_written_into_it(tmp_path: Path) -> None:
    arguments = ["workers=DataLoader.num_workers", "accumulation=Trainer.accumulate_grad_batches"]
    options = [word for one in arguments for word in ("--arg", one)]
    found, shown = tuned(tmp_path, LATE, *options, "--only", "workers=4,accumulation")
    lever = of(found, "workers=4")
    assert (lever["kept"], lever["parity"]) == (True, "ok"), lever
    assert lever["speedup"]["low"] > 1.5
    how = "num_workers=4 in DataLoader(...)"
    assert found["best"]["changes"] == [{"id": "workers=4", "how": how}]
    absent = of(found, "accumulation")
    assert (absent["tried"], absent["why"]) == (False, "the job made no Trainer")
    assert f"- {how}" in shown and "not tried: accumulation: the job made no Trainer" in shown

    assert found["as_written"]["low"] > 1.5, "the script with the change in it, without the hook's"
    assert found["patch"] == (tmp_path / "r/tune.patch").read_text()
    assert f"patch -p1 < {tmp_path}/r/tune.patch" in " ".join(shown.split())
    assert "+    num_workers=4,  # in this process" in shown
    apply = ["git", "apply", "r/tune.patch"]
    subprocess.run(apply, cwd=tmp_path, check=True)
    expected = LATE.replace("num_workers=0", "num_workers=4")
    assert (tmp_path / "train.py").read_text() == expected

    journal = (tmp_path / "r/journal.jsonl").read_text()
    (tmp_path / "train.py").write_text(LATE)
    again = unstarve("tune", "--resume", "r", "--json", "again.json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "r/journal.jsonl").read_text() == journal, "nothing is measured again"
    assert json.loads((tmp_path / "again.json").read_text()) == found


# transformers takes seconds to import: of what it has here is as much as the hook looks at, and
# test_hook_tuning_arguments.py has the real one. Each backward pass waits, as one of a small batch
# does for its launches.
TRANSFORMERS = {
    "__init__": "from .trainer import Trainer\nfrom .training_args import TrainingArguments\n",
    "training_args": """
import dataclasses, torch
@dataclasses.dataclass
class TrainingArguments:
    output_dir: str = "out"
    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    def __post_init__(self):
        assert self.per_device_train_batch_size > 0
""",
    "trainer": """
import time, torch
class Trainer:
    def __init__(self, model, args, train_dataset):
        self.model, self.args, self.rows = model, args, train_dataset
    def train(self):
        passes = self.args.gradient_accumulation_steps
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        loader = torch.utils.data.DataLoader(self.rows, self.args.per_device_train_batch_size)
        for number, (inputs, labels) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(self.model(inputs), labels)
            (loss / passes).backward()
            time.sleep(0.01)
            if number % passes == passes - 1:
                optimizer.step()
                optimizer.zero_grad()
""",
}
TRAINER = """
from transformers import Trainer, TrainingArguments
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
rows = torch.utils.data.TensorDataset(torch.randn(64_000, 8), torch.randint(4, (64_000,)))
arguments = TrainingArguments(
    "out", per_device_train_batch_size=4,
    gradient_accumulation_steps=4)
Trainer(model, arguments, rows).train()
"""


@pytest.mark.slow
def test_a_pair_of_a_trainers_arguments_is_kept_and_written_into_the_code(tmp_path: Path) -> None:
    (tmp_path / "transformers").mkdir()
    for name, text in TRANSFORMERS.items():
        (tmp_path / f"transformers/{name}.py").write_text(text)
    options = ["--arg", "batch=TrainingArguments.per_device_train_batch_size"]
    options += ["--arg", "accumulation=TrainingArguments.gradient_accumulation_steps"]
    found, shown = tuned(tmp_path, TRAINER, *options, "--only", "batch=16 accumulation=1")
    lever = of(found, "batch=16 accumulation=1")
    assert (lever["kept"], lever["parity"]) == (True, "ok"), lever
    assert lever["speedup"]["low"] > 2
    assert found["as_written"]["low"] > 2
    given = "per_device_train_batch_size=16, gradient_accumulation_steps=1"
    assert found["settings"] == f"TrainingArguments({given})"
    words = "per_device_train_batch_size=16 in TrainingArguments(...); gradient_accumulation_steps"
    assert f"- {words}=1 in TrainingArguments(...)" in " ".join(shown.split())
    command = ["patch", "-s", "-p1", "-i", "r/tune.patch"]
    subprocess.run(command, cwd=tmp_path, check=True)
    before = "per_device_train_batch_size=4,\n    gradient_accumulation_steps=4"
    after = "per_device_train_batch_size=16,\n    gradient_accumulation_steps=1"
    assert (tmp_path / "train.py").read_text() == TRAINER.replace(before, after)


def test_arguments_that_are_not_known_are_listed(tmp_path: Path) -> None:
    words = ("tune", "--out", "r", "--arg", "batch=DataLoader.batch", "--", "python", "train.py")
    done = unstarve(*words, cwd=tmp_path)
    assert done.returncode == 2 and "batch=DataLoader.batch_size, workers=Data" in done.stderr
    assert list(tmp_path.iterdir()) == []
