"""Copies that the loader keeps of what it has read: the same data, whatever happens to them."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from torchvision import datasets, transforms

PHOTOS = Path(__file__).resolve().parents[2] / "data" / "photos"
KILLS = int(os.environ.get("UNSTARVE_TEST_KILLS", "6"))

ENDLESS = """
    import sys
    import unstarve

    loader = unstarve.ImageLoader(
        sys.argv[1], 4, size=64, threads=2, output="numpy", cache_dir=sys.argv[2]
    )
    while True:
        for _ in loader:
            print("batch", flush=True)
"""


def digests(epochs: int = 2, **settings: Any) -> tuple[list[str], Any]:
    """One digest of all batches for each epoch, and the loader."""
    settings = {"size": 64, "threads": 2, "output": "numpy", **settings}
    loader = unstarve.ImageLoader(settings.pop("root", PHOTOS), 16, **settings)
    result = []
    for _ in range(epochs):
        digest = hashlib.blake2b()
        for images, labels in loader:
            digest.update(images.tobytes() + labels.tobytes())
        result.append(digest.hexdigest())
    return result, loader


def test_later_epochs_and_runs_read_copies_with_the_same_pixels(tmp_path: Path) -> None:
    expected, plain = digests(3)
    assert not any("cache" in line for line in plain.explain())
    got, loader = digests(3, cache_dir=tmp_path / "cache")
    assert got == expected
    assert loader.stats()["cache_bytes"] > 0
    assert any("copies written" in line for line in loader.explain())
    del loader  # writes what waits
    got, loader = digests(3, cache_dir=tmp_path / "cache")
    assert got == expected
    assert loader.stats()["cache_hits"] == 3 * loader.sample_count
    assert loader.stats()["cache_kept"] == 0


def test_a_resumed_loader_reads_copies(tmp_path: Path) -> None:
    def rest(loader: Any) -> list[bytes]:
        return [images.tobytes() for images, _ in loader]

    settings: dict[str, Any] = {"size": 64, "threads": 2, "output": "numpy"}
    first = unstarve.ImageLoader(PHOTOS, 4, cache_dir=tmp_path, **settings)
    batches = iter(first)
    for _ in range(5):
        next(batches)
    state = first.state_dict()
    expected = rest(batches)
    del first, batches
    again = unstarve.ImageLoader(PHOTOS, 4, cache_dir=tmp_path, **settings)
    again.load_state_dict(state)
    assert rest(again) == expected
    assert again.stats()["cache_hits"] > 0


def test_the_budget_is_kept(tmp_path: Path) -> None:
    expected, _ = digests()
    got, loader = digests(cache_dir=tmp_path, cache_bytes=500_000)
    assert got == expected
    assert any("500000 bytes" in line for line in loader.explain())
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 500_000


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(unstarve.LoaderError, match="file/cache"):
        digests(cache_dir=tmp_path / "file" / "cache")


def test_a_kill_at_any_moment_changes_no_data(tmp_path: Path) -> None:
    expected, _ = digests()
    cache = tmp_path / "cache"
    moments = random.Random(7)
    for kill in range(KILLS):
        command = [sys.executable, "-c", textwrap.dedent(ENDLESS), str(PHOTOS), str(cache)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(moments.randrange(1, 20)):
                assert child.stdout.readline() == "batch\n"
            child.kill()
        assert digests(cache_dir=cache)[0] == expected, f"kill {kill}"
    _, loader = digests(cache_dir=cache)
    assert loader.stats()["cache_hits"] == 2 * loader.sample_count
    assert loader.stats()["cache_damaged"] == 0


def test_the_environment_gives_the_drop_in_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for photo in sorted(PHOTOS.glob("*.jpg"))[:12]:
        (tmp_path / "train" / "one").mkdir(exist_ok=True, parents=True)
        (tmp_path / "train" / "one" / photo.name).symlink_to(photo)
    transform = transforms.Compose([transforms.RandomResizedCrop(32), transforms.ToTensor()])
    data_set = datasets.ImageFolder(tmp_path / "train", transform)

    def batches() -> tuple[list[Any], Any]:
        torch.manual_seed(0)
        loader = unstarve.DataLoader(data_set, batch_size=4, shuffle=True)
        return [images.clone() for _ in range(3) for images, _ in loader], loader

    expected, _ = batches()
    monkeypatch.setenv("UNSTARVE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UNSTARVE_CACHE_BYTES", str(1 << 30))
    got, loader = batches()
    assert all(torch.equal(a, b) for a, b in zip(expected, got, strict=True))
    assert loader.explain().engine == "native"
    assert loader.stats()["cache_hits"] + loader.stats()["cache_kept"] >= 12
    assert "copies written" in str(loader.explain())
