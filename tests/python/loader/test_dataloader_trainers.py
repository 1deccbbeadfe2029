"""unstarve.DataLoader inside Lightning, Accelerate and Hugging Face's Trainer."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accelerate
import lightning
import pytest
import torch
import transformers
import unstarve
from lightning.pytorch.callbacks import ModelCheckpoint
from torchvision import datasets, transforms
from unstarve import DataLoader

CROPS = transforms.Compose([transforms.RandomResizedCrop(16), transforms.ToTensor()])
SPAWNED_JOB = Path(__file__).parents[1] / "spawned_ranks_job.py"


@pytest.fixture
def dataset(folder: Path) -> Any:
    return datasets.ImageFolder(str(folder), CROPS)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def shuffled(dataset: Any) -> Any:
    generator = torch.Generator().manual_seed(1)
    return DataLoader(dataset, batch_size=4, shuffle=True, num_workers=1, generator=generator)


class LightningModel(lightning.LightningModule):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * 16 * 16, 3)
        self.seen: list[tuple[int, int, float]] = []

    def training_step(self, batch: Any, index: int) -> Any:
        images, labels = batch
        self.seen.append((self.current_epoch, index, float(images.sum())))
        return torch.nn.functional.cross_entropy(self.layer(images.flatten(1)), labels)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)


def test_lightning_trains_and_resumes_exactly(dataset: Any, tmp_path: Path) -> None:
    def fit(checkpoint: Path | None = None) -> tuple[Any, Any]:
        saves = ModelCheckpoint(
            tmp_path / "checkpoints", "{step}", every_n_train_steps=1, save_top_k=-1
        )
        trainer = lightning.Trainer(
            max_epochs=2,
            accelerator="cpu",
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[] if checkpoint else [saves],
            enable_checkpointing=checkpoint is None,
        )
        model, loader = LightningModel(), shuffled(dataset)
        trainer.fit(model, loader, ckpt_path=checkpoint, weights_only=False)
        return model, loader

    whole, loader = fit()
    assert len(whole.seen) == 6
    assert loader.explain().engine == "native"
    assert loader.stats()["images"] == 24
    for step in (1, 3, 4):
        resumed, _ = fit(tmp_path / "checkpoints" / f"step={step}.ckpt")
        assert resumed.seen == whole.seen[step:], step


def test_lightning_spawns_two_ranks_that_share_the_samples(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    report = tmp_path_factory.mktemp("report")
    done = subprocess.run(
        [sys.executable, str(SPAWNED_JOB), str(folder), str(report)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((report / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert [rank["engine"] for rank in ranks] == ["native", "native"]
    for epoch in (0, 1):
        first, second = (rank["labels"][epoch] for rank in ranks)
        assert len(first) == len(second) == 6
        assert sorted(first + second) == sorted([0, 1, 2] * 4)
    assert ranks[0]["weights"] == ranks[1]["weights"]


def test_accelerate_keeps_the_native_engine(dataset: Any) -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    loader, others = accelerator.prepare(
        shuffled(dataset), torch.utils.data.DataLoader([1, 2, 3, 4])
    )
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert sum(len(labels) for _, labels in loader) == 12
    assert loader.explain().engine == "native"
    assert not hasattr(others, "explain")
    assert len(list(others)) == 4
    skipped = accelerator.skip_first_batches(loader, 2)
    assert sum(len(labels) for _, labels in skipped) == 4


class TransformersModel(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * 16 * 16, 3)

    def forward(self, images: Any, labels: Any) -> dict[str, Any]:
        logits = self.layer(images.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class RecordingTrainer(transformers.Trainer):  # type: ignore[misc]
    """Notes what each step was given."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.seen: list[float] = []

    def training_step(self, model: Any, inputs: Any, *rest: Any) -> Any:
        self.seen.append(float(inputs["images"].sum()))
        return super().training_step(model, inputs, *rest)


class OwnLoaderTrainer(RecordingTrainer):
    """Brings its own loader, as the documentation of transformers tells people to."""

    def get_train_dataloader(self) -> Any:
        return self.accelerator.prepare(shuffled(self.train_dataset))

    def training_step(self, model: Any, inputs: Any, *rest: Any) -> Any:
        images, labels = inputs
        return super().training_step(model, {"images": images, "labels": labels}, *rest)


def arguments_in(folder: Path, **more: Any) -> Any:
    fixed = {"num_train_epochs": 2, "use_cpu": True, "report_to": [], "disable_tqdm": True}
    return transformers.TrainingArguments(str(folder), **{**fixed, **more})


def test_transformers_trainer_with_a_loader_of_ones_own(dataset: Any, tmp_path: Path) -> None:
    arguments = arguments_in(tmp_path / "out", save_strategy="no")
    trainer = OwnLoaderTrainer(model=TransformersModel(), args=arguments, train_dataset=dataset)
    assert trainer.train().global_step == 6
    assert trainer.callback_handler.train_dataloader.explain().engine == "native"


def by_name(samples: list[tuple[Any, int]]) -> dict[str, Any]:
    return {
        "images": torch.stack([image for image, _ in samples]),
        "labels": torch.tensor([label for _, label in samples]),
    }


def test_transformers_trainer_with_ours_in_place_resumes_in_order(
    dataset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The Trainer restores no worker's random numbers, so the order is what can be compared.
    dataset.transform = transforms.Compose([transforms.Resize((16, 16)), transforms.ToTensor()])
    monkeypatch.setattr(transformers.trainer, "DataLoader", unstarve.DataLoader)
    arguments = arguments_in(
        tmp_path / "out",
        per_device_train_batch_size=4,
        dataloader_num_workers=1,
        remove_unused_columns=False,
        save_strategy="steps",
        save_steps=1,
    )

    def train(checkpoint: Path | None = None) -> Any:
        torch.manual_seed(0)
        trainer = RecordingTrainer(
            model=TransformersModel(),
            args=arguments,
            train_dataset=dataset,
            data_collator=by_name,
        )
        trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
        return trainer

    whole = train()
    explanation = whole.callback_handler.train_dataloader.explain()
    assert explanation.engine == "partly", explanation
    assert len(whole.seen) == 6
    for step in (1, 4):
        resumed = train(tmp_path / "out" / f"checkpoint-{step}")
        assert resumed.seen == pytest.approx(whole.seen[step:]), step
