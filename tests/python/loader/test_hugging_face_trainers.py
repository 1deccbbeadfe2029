"""Tables of Hugging Face's `datasets` in its Trainer and in Accelerate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import accelerate
import pytest
import torch
import transformers
import unstarve
from made_photos import make_photos
from made_tables import datasets
from torchvision import transforms

STEPS = transforms.Compose([transforms.Resize((16, 16)), transforms.ToTensor()])


def apply(examples: Any) -> Any:
    examples["pixel_values"] = [STEPS(image.convert("RGB")) for image in examples["image"]]
    del examples["image"]
    return examples


@pytest.fixture
def dataset(tmp_path: Path) -> Any:
    (tmp_path / "photos").mkdir()
    paths = sorted(make_photos(tmp_path / "photos", 90, 70).iterdir())
    rows = {"image": [str(path) for path in paths], "label": [i % 3 for i in range(12)]}
    return datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())


class Model(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * 16 * 16, 3)
        self.seen: list[float] = []

    def forward(self, pixel_values: Any, labels: Any) -> dict[str, Any]:
        self.seen.append(float(pixel_values.sum()))
        logits = self.layer(pixel_values.flatten(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def train(dataset: Any, folder: Path, checkpoint: Path | None = None) -> Any:
    torch.manual_seed(0)
    arguments = transformers.TrainingArguments(
        str(folder),
        num_train_epochs=2,
        per_device_train_batch_size=4,
        dataloader_num_workers=1,
        remove_unused_columns=False,
        save_strategy="steps",
        save_steps=1,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
    )
    model = Model()
    trainer = transformers.Trainer(model=model, args=arguments, train_dataset=dataset)
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    return trainer, model.seen


def test_the_trainer_trains_natively_as_with_torchs_loader(
    dataset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = dataset.with_transform(apply)
    _, expected = train(dataset, tmp_path / "torch")
    monkeypatch.setattr(transformers.trainer, "DataLoader", unstarve.DataLoader)
    trainer, seen = train(dataset, tmp_path / "ours")
    explanation = trainer.callback_handler.train_dataloader.explain()
    assert explanation.engine == "native", explanation
    assert len(seen) == 6
    assert seen == pytest.approx(expected, rel=1e-3)  # the same images in the same order
    for step in (1, 4):
        _, resumed = train(dataset, tmp_path / "ours", tmp_path / f"ours/checkpoint-{step}")
        assert resumed == pytest.approx(seen[step:]), step


def test_accelerate_keeps_the_engine(dataset: Any) -> None:
    loader = unstarve.DataLoader(dataset.with_transform(apply), batch_size=4, num_workers=1)
    prepared = accelerate.Accelerator(cpu=True).prepare(loader)
    assert sum(len(batch["label"]) for batch in prepared) == 12
    assert prepared.explain().engine == "native"
