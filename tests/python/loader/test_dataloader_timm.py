"""unstarve.DataLoader in the place of torch's under timm's data sets, loaders and models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import timm
import torch
import unstarve
from timm.data import create_dataset, create_loader
from timm.optim import create_optimizer_v2
from torch.utils import data

# A step of one in 255 of what timm's normalisation divides by the smallest deviation.
ONE_STEP = 1 / 255 / 0.224 + 1e-6


def loader_of(kind: str, folder: Path, training: bool, prefetcher: bool) -> Any:
    return create_loader(
        create_dataset(kind, root=str(folder), split=""),
        (3, 32, 32),
        batch_size=4,
        is_training=training,
        use_prefetcher=prefetcher,
        device=torch.device("cpu"),
        num_workers=2,
    )


@pytest.mark.parametrize("prefetcher", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", ["", "torch/image_folder"])
def test_batches_are_those_of_torchs_loader(
    kind: str, training: bool, prefetcher: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    epochs, engines = [], []
    for loader_class in (data.DataLoader, unstarve.DataLoader):
        monkeypatch.setattr(data, "DataLoader", loader_class)
        loader = loader_of(kind, folder, training, prefetcher)
        torch.manual_seed(3)
        epochs.append([batch for _ in range(2) for batch in loader])
        inner = loader.loader if prefetcher else loader
        assert type(inner) is loader_class
        engines.append(inner.explain().engine if loader_class is unstarve.DataLoader else "torch")
    torchs, ours = epochs
    assert len(ours) == len(torchs) == 6
    # An ImageFolder's images are read natively, and its collate function is timm's if it fetches.
    engine = "workers" if kind == "" else "partly" if prefetcher else "native"
    assert engines[1] == engine
    for (expected, expected_labels), (images, labels) in zip(torchs, ours, strict=True):
        assert labels.tolist() == expected_labels.tolist()
        assert images.shape == expected.shape and images.dtype == expected.dtype
        if not training:  # random crops are drawn from other numbers
            assert float((images - expected).abs().max()) <= ONE_STEP


def test_a_model_trains(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "DataLoader", unstarve.DataLoader)
    torch.manual_seed(0)
    model = timm.create_model("test_resnet", pretrained=False, num_classes=3)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-2)
    loader = loader_of("", folder, training=True, prefetcher=True)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    seen = 0
    for _ in range(2):
        for images, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            seen += len(labels)
    assert seen == 24
    after = list(model.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(after, before, strict=True))
