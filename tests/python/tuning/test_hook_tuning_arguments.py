"""Arguments of classes that a script constructs: what they are is recorded, and they get others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_tuned
from lightning_job import LIGHTNING

TRAINS = """
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in train_loader:
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
"""

LOADERS = (
    """
import sys, torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler
class Rows(Dataset):
    def __len__(self):
        return 96
    def __getitem__(self, index):
        return torch.full((3,), float(index))
class Stream(IterableDataset):
    def __iter__(self):
        return iter([torch.zeros(3)] * 8)
class Ours(DataLoader):
    pass
stream = DataLoader(Stream(), 2)
sampled = DataLoader(Rows(), batch_sampler=BatchSampler(SequentialSampler(Rows()), 5, False))
train_loader = DataLoader(
    Rows(), 4, num_workers=1, prefetch_factor=3, persistent_workers=True)
test_loader = DataLoader(Rows(), batch_size=8, num_workers=3)
other_loader = Ours(dataset=Rows(), num_workers=1, batch_size=4)
loaders = (stream, sampled, train_loader, test_loader, other_loader)
print([(one.batch_size, one.num_workers, one.prefetch_factor) for one in loaders])
"""
    + TRAINS
)


def ran(
    folder: Path, script: str, arguments: Mapping[str, int | None], *words: str, **more: Any
) -> tuple[dict[str, Any], str]:
    said, job = run_tuned(folder, script, {"arguments": dict(arguments), **more}, *words)
    return said, job.process.stdout


BATCH, WORKERS = "DataLoader.batch_size", "DataLoader.num_workers"


def test_what_loaders_are_made_with_is_recorded(tmp_path: Path) -> None:
    said, printed = ran(tmp_path, LOADERS, {BATCH: None, WORKERS: None}, survey=True)
    place = str(tmp_path / "train.py")
    assert said["arguments"] == {
        BATCH: {"value": 2, "place": f"{place}:14"},
        WORKERS: {"value": 0, "place": f"{place}:15"},
    }
    assert said["applied"] == [] and said["refused"] == {}
    expected = [(2, 0, None), (None, 0, None), (4, 1, 3), (8, 3, 2), (4, 1, 2)]
    assert printed == f"{expected}\n"


def test_loaders_with_the_first_ones_value_get_another(tmp_path: Path) -> None:
    script = LOADERS.replace("stream = DataLoader(Stream(), 2)", "stream = DataLoader(Stream(), 4)")
    script = script.replace(
        "sampled = DataLoader(Rows()", "sampled = DataLoader(num_workers=2, dataset=Rows()"
    )
    said, printed = ran(tmp_path, script, {BATCH: 16, WORKERS: 0})
    # Of workers the sampled loader is the first, since a stream takes no others.
    assert sorted(said["applied"]) == [BATCH, WORKERS] and said["refused"] == {}
    expected = [(16, 0, None), (None, 0, None), (16, 1, 3), (8, 3, 2), (16, 1, 2)]
    assert printed == f"{expected}\n"


@pytest.mark.parametrize(
    ("before", "after"), [("1, prefetch_factor=3, persistent_workers=True", 0), ("0", 2)]
)
def test_what_torch_takes_only_with_workers_is_no_hindrance(
    tmp_path: Path, before: str, after: int
) -> None:
    script = LOADERS[: LOADERS.index("stream =")] + (
        f"train_loader = DataLoader(Rows(), 4, num_workers={before})\n"
        "print(train_loader.num_workers, len(list(train_loader)))\n" + TRAINS
    )
    said, printed = ran(tmp_path, script, {WORKERS: after})
    assert said["applied"] == [WORKERS]
    assert printed == f"{after} 24\n"


def test_why_there_is_no_value_is_said(tmp_path: Path) -> None:
    script = LOADERS[: LOADERS.index("stream =")] + (
        "train_loader = DataLoader(Stream(), None)\n" + TRAINS
    )
    asked = {BATCH: None, WORKERS: 4, "Trainer.accumulate_grad_batches": None}
    said, _ = ran(tmp_path, script, asked, survey=True)
    assert said["arguments"][BATCH] == {
        "why_not": "DataLoader.batch_size is None, which is no whole number"
    }
    assert "an iterable data set" in said["arguments"][WORKERS]["why_not"]
    assert said["refused"] == {WORKERS: said["arguments"][WORKERS]["why_not"]}
    assert said["arguments"]["Trainer.accumulate_grad_batches"] == {
        "why_not": "the job made no Trainer"
    }


TRANSFORMERS = """
import sys, torch
from transformers import Seq2SeqTrainingArguments, Trainer, TrainingArguments
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return {"rows": torch.full((3,), float(index))}
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, rows):
        held.append(len(rows))
        return {"loss": self.layer(rows).square().mean()}
held = []
kind = Seq2SeqTrainingArguments if "subclass" in sys.argv else TrainingArguments
arguments = kind(
    output_dir=sys.argv[1], per_device_train_batch_size=4, gradient_accumulation_steps=2,
    max_steps=3, report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True)
trainer = Trainer(model=Model(), args=arguments, train_dataset=Rows())
trainer.train()
print("\\nheld", held, trainer.get_train_dataloader().num_workers)
"""
PER_DEVICE = "TrainingArguments.per_device_train_batch_size"
ACCUMULATION = "TrainingArguments.gradient_accumulation_steps"
TRAINERS_WORKERS = "TrainingArguments.dataloader_num_workers"


@pytest.mark.parametrize("kind", ["class", "subclass"])
def test_arguments_of_transformers_are_recorded_and_replaced(tmp_path: Path, kind: str) -> None:
    asked = [PER_DEVICE, ACCUMULATION, TRAINERS_WORKERS]
    words = (str(tmp_path / "out"), kind)
    said, printed = ran(tmp_path / "a", TRANSFORMERS, dict.fromkeys(asked), *words, survey=True)
    place = f"{tmp_path / 'a' / 'train.py'}:18"
    assert said["arguments"] == {
        option: {"value": value, "place": place}
        for option, value in zip(asked, (4, 2, 0), strict=True)
    }
    assert "held [4, 4, 4, 4, 4, 4] 0" in printed
    given = {PER_DEVICE: 8, ACCUMULATION: 1, TRAINERS_WORKERS: 1}
    said, printed = ran(tmp_path / "b", TRANSFORMERS, given, *words)
    assert sorted(said["applied"]) == sorted(asked) and said["refused"] == {}
    assert "held [8, 8, 8] 1" in printed


PASSES = "Trainer.accumulate_grad_batches"


@pytest.mark.parametrize("package", ["lightning", "pytorch_lightning"])
def test_arguments_of_lightning_are_recorded_and_replaced(tmp_path: Path, package: str) -> None:
    said, printed = ran(tmp_path / "a", LIGHTNING, {PASSES: None, BATCH: None}, package)
    place = tmp_path / "a" / "train.py"
    assert said["arguments"] == {
        PASSES: {"value": 1, "place": f"{place}:23"},
        BATCH: {"value": 4, "place": f"{place}:25"},
    }
    assert printed.splitlines()[-1] == "[(4, 0), (4, 1), (4, 2)]"
    said, printed = ran(tmp_path / "b", LIGHTNING, {PASSES: 2, BATCH: 2}, package)
    assert sorted(said["applied"]) == [BATCH, PASSES]
    assert printed.splitlines()[-1] == str([(2, passed // 2) for passed in range(6)])
