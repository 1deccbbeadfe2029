"""unstarve.DataLoader inside Lightning, Accelerate and Hugging Face's Trainer, where installed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
datasets = pytest.importorskip("torchvision.datasets")
pytest.importorskip("unstarve._native")

from torchvision import transforms  # noqa: E402
from unstarve import DataLoader  # noqa: E402

PHOTOS = Path(__file__).resolve().parents[1] / "data" / "photos"
CROPS = transforms.Compose([transforms.RandomResizedCrop(16), transforms.ToTensor()])


@pytest.fixture
def dataset(tmp_path: Path) -> Any:
    for i, photo in enumerate(sorted(PHOTOS.glob("*.jpg"))[::5]):
        target = tmp_path / "images" / f"class{i % 2}" / photo.name
        target.parent.mkdir(exist_ok=True, parents=True)
        target.symlink_to(photo)
    return datasets.ImageFolder(str(tmp_path / "images"), CROPS)


def shuffled(dataset: Any) -> Any:
    generator = torch.Generator().manual_seed(1)
    return DataLoader(dataset, batch_size=4, shuffle=True, num_workers=1, generator=generator)


def test_lightning_trains_and_resumes_exactly(dataset: Any, tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning")
    callbacks = pytest.importorskip("lightning.pytorch.callbacks")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    module_class: Any = lightning.LightningModule

    class Model(module_class):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 2)
            self.seen: list[tuple[int, int, float]] = []

        def training_step(self, batch: Any, index: int) -> Any:
            images, labels = batch
            self.seen.append((self.current_epoch, index, float(images.sum())))
            return torch.nn.functional.cross_entropy(self.layer(images.flatten(1)), labels)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    def fit(checkpoint: str | None = None) -> tuple[Any, Any]:
        saves = callbacks.ModelCheckpoint(tmp_path, "{step}", every_n_train_steps=1, save_top_k=-1)
        trainer = lightning.Trainer(
            max_epochs=2,
            accelerator="cpu",
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[] if checkpoint else [saves],
            enable_checkpointing=checkpoint is None,
        )
        model, loader = Model(), shuffled(dataset)
        trainer.fit(model, loader, ckpt_path=checkpoint, weights_only=False)
        return model, loader

    whole, loader = fit()
    assert len(whole.seen) == 6
    assert loader.explain().engine == "native"
    assert loader.stats()["images"] == 24
    for step in (1, 3, 4):
        resumed, _ = fit(str(tmp_path / f"step={step}.ckpt"))
        assert resumed.seen == whole.seen[step:], step


def test_accelerate_keeps_the_native_engine(dataset: Any) -> None:
    accelerate = pytest.importorskip("accelerate")
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


def test_the_trainer_of_transformers(dataset: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    module_class: Any = torch.nn.Module

    class Model(module_class):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 2)

        def forward(self, images: Any, labels: Any) -> dict[str, Any]:
            logits = self.layer(images.flatten(1))
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    trainer_class: Any = transformers.Trainer

    class Trainer(trainer_class):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            return self.accelerator.prepare(shuffled(self.train_dataset))

        def _prepare_inputs(self, inputs: Any) -> Any:
            return super()._prepare_inputs({"images": inputs[0], "labels": inputs[1]})

    arguments = transformers.TrainingArguments(
        str(tmp_path / "out"),
        num_train_epochs=2,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = Trainer(model=Model(), args=arguments, train_dataset=dataset)
    assert trainer.train().global_step == 6
    assert trainer.callback_handler.train_dataloader.explain().engine == "native"
