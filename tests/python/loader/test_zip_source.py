"""A zip of images as a data set, beside the folder that it was made of."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch
import unstarve


@pytest.fixture
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an archive may lie: apart from `folder`, which is all of `tmp_path`."""
    return tmp_path_factory.mktemp("zip") / "images.zip"


def zipped(folder: Path, into: Path, method: int, top: str = "") -> Path:
    with zipfile.ZipFile(into, "w", method) as archive:
        for file in sorted(folder.rglob("*.jpg"), reverse=True):
            archive.write(file, top + str(file.relative_to(folder)))
    return into


def epoch(root: Path) -> tuple[torch.Tensor, list[int]]:
    loader = unstarve.ImageLoader(root, batch_size=5, size=32, train=False)
    batches = [(images.clone(), labels.tolist()) for images, labels in loader]
    return torch.cat([images for images, _ in batches]), [
        label for _, labels in batches for label in labels
    ]


@pytest.mark.parametrize("top", ["", "train/", "a/b/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_it_is_the_folder(folder: Path, archive: Path, method: int, top: str) -> None:
    images, labels = epoch(folder)
    zipped(folder, archive, method, top)
    from_zip, labels_of_zip = epoch(archive)
    assert torch.equal(images, from_zip)
    assert labels == labels_of_zip
    classes = unstarve.ImageLoader(archive, batch_size=5, size=32).classes
    assert list(classes) == sorted(f.name for f in folder.iterdir() if f.is_dir())


def test_of_zip64(folder: Path, archive: Path) -> None:
    """Sizes and offsets that stand in the extra field, as those of more than 4 GiB do."""
    limit = zipfile.ZIP64_LIMIT
    zipfile.ZIP64_LIMIT = 100  # type: ignore[misc]
    try:
        zipped(folder, archive, zipfile.ZIP_STORED)
    finally:
        zipfile.ZIP64_LIMIT = limit  # type: ignore[misc]
    assert torch.equal(epoch(folder)[0], epoch(archive)[0])


def test_a_cache_keeps_copies_until_the_zip_changes(folder: Path, archive: Path) -> None:
    zipped(folder, archive, zipfile.ZIP_STORED)
    cache = archive.parent / "cache"

    def images() -> torch.Tensor:
        loader = unstarve.ImageLoader(archive, batch_size=5, size=32, train=False, cache_dir=cache)
        return torch.cat([images.clone() for images, _ in loader])

    first, second = images(), images()
    with zipfile.ZipFile(archive, "a") as more:
        more.write(next(folder.rglob("*.jpg")), "class0/zz.jpg")
    assert torch.equal(first, second)
    assert len(images()) == len(first) + 1


def test_what_is_no_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no")
    with pytest.raises(unstarve.errors.CorruptDataError, match=r"a\.zip: not a sound zip"):
        unstarve.ImageLoader(tmp_path / "a.zip", batch_size=1, size=32)
