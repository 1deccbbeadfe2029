"""The loader as a training script sees it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from PIL import Image
from torchvision import datasets
from torchvision.transforms import v2 as transforms
from torchvision.transforms.v2 import functional
from unstarve import errors

PHOTOS = Path(__file__).resolve().parents[2] / "data" / "photos"


def photos() -> list[Path]:
    return sorted(PHOTOS.glob("*.jpg"))


def expected_by_torchvision(path: Path, crop: Any, size: int) -> Any:
    whole = functional.pil_to_tensor(Image.open(path).convert("RGB"))
    result = functional.resized_crop(
        whole, crop.y, crop.x, crop.height, crop.width, [size, size], antialias=True
    )
    return functional.horizontal_flip(result) if crop.flip else result


def apart(a: Any, b: Any) -> Any:
    return (a.to(torch.int16) - b.to(torch.int16)).abs()


def test_its_first_name_means_the_same() -> None:
    assert unstarve.ImageFolderLoader is unstarve.ImageLoader


def test_train_pixels_are_within_one_of_torchvision() -> None:
    loader = unstarve.ImageLoader(PHOTOS, 60, shuffle=False, seed=3)
    flips = 0
    for epoch in range(3):
        loader.set_epoch(epoch)
        ((images, _),) = loader
        for index, path in list(enumerate(photos()))[epoch::3]:
            crop = loader.crop_of(epoch, index, Image.open(path).size)
            flips += crop.flip
            difference = apart(images[index], expected_by_torchvision(path, crop, 224))
            assert difference.max() <= 1, (path.name, crop)
            assert (difference > 0).float().mean() < 0.03, (path.name, crop)
    assert 15 < flips < 45


def test_eval_pixels_are_within_one_of_torchvision() -> None:
    reference = transforms.Compose(
        [transforms.Resize(256, antialias=True), transforms.CenterCrop(224)]
    )
    loader = unstarve.ImageLoader(PHOTOS, 60, train=False)
    ((images, _),) = loader
    for index, path in enumerate(photos()):
        whole = functional.pil_to_tensor(Image.open(path).convert("RGB"))
        assert apart(images[index], reference(whole)).max() <= 1, path.name


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_grey_and_cmyk_become_rgb_as_pil_makes_it(tmp_path: Path, mode: str) -> None:
    photo = Image.open(photos()[20]).convert(mode)
    # Pillow writes CMYK inverted, as Adobe does, and reads it back that way.
    photo.save(tmp_path / "photo.jpg", quality=95)
    loader = unstarve.ImageLoader(tmp_path, 1, train=False, size=128, resize=128)
    ((images, _),) = loader
    reference = transforms.Compose(
        [
            transforms.PILToTensor(),
            transforms.Resize(128, antialias=True),
            transforms.CenterCrop(128),
        ]
    )
    expected = reference(Image.open(tmp_path / "photo.jpg").convert("RGB"))
    assert apart(images[0], expected).max() <= 1


def test_labels_are_those_of_torchvision(folder: Path) -> None:
    reference = datasets.ImageFolder(str(folder))
    loader = unstarve.ImageLoader(folder, 12, shuffle=False)
    ((_, labels),) = loader
    assert loader.class_to_idx == reference.class_to_idx
    assert labels.tolist() == reference.targets
    assert labels.dtype == torch.int64
    assert len(loader) == 1 and loader.sample_count == 12


def test_batches_are_channels_last_uint8_without_a_copy(folder: Path) -> None:
    for images, _ in unstarve.ImageLoader(folder, 4):
        assert images.dtype == torch.uint8
        assert images.shape == (4, 3, 224, 224)
        assert images.is_contiguous(memory_format=torch.channels_last)


def test_numpy_output_has_the_same_bytes(folder: Path) -> None:
    as_torch = list(unstarve.ImageLoader(folder, 5, seed=9))
    as_numpy = list(unstarve.ImageLoader(folder, 5, seed=9, output="numpy", threads=1))
    assert len(as_torch) == len(as_numpy) == 3
    for (images, labels), (arrays, array_labels) in zip(as_torch, as_numpy, strict=True):
        assert isinstance(arrays, np.ndarray)
        assert np.array_equal(images.numpy(), arrays)
        assert np.array_equal(labels.numpy(), array_labels)


def test_epochs_differ_and_repeat(folder: Path) -> None:
    loader = unstarve.ImageLoader(folder, 12)
    first, second = (next(iter(loader))[0].clone() for _ in range(2))
    assert not torch.equal(first, second)
    loader.set_epoch(1)
    assert torch.equal(next(iter(loader))[0], second)
    loader.set_epoch(0)
    assert torch.equal(next(iter(loader))[0], first)


def test_kept_batches_are_not_overwritten(folder: Path) -> None:
    loader = unstarve.ImageLoader(folder, 2, prefetch=1)
    kept = [batch for _ in range(5) for batch in loader]
    copies = [images.clone() for images, _ in kept]
    for _ in range(3):
        for _ in loader:
            pass
    del loader
    gc.collect()
    assert all(torch.equal(images, copy) for (images, _), copy in zip(kept, copies, strict=True))


def test_memory_is_reused_once_batches_are_gone(folder: Path) -> None:
    loader = unstarve.ImageLoader(folder, 2, prefetch=2)
    for _ in range(10):
        for _images, _ in loader:
            pass
    assert loader.stats()["slots_allocated"] <= 5
    assert loader.stats()["images"] >= 120


def test_a_broken_file_raises_with_its_path(folder: Path) -> None:
    broken = folder / "class1" / "broken.jpg"
    broken.write_bytes(photos()[0].read_bytes()[:5000])
    loader = unstarve.ImageLoader(folder, 4)
    with pytest.raises(errors.CorruptDataError, match=r"class1/broken\.jpg"):
        list(loader)
    assert [Path(e.message.split(": ")[0]).name for e in loader.errors()] == ["broken.jpg"]


@pytest.mark.parametrize(("policy", "images"), [("skip", 12), ("replace", 14)])
def test_broken_files_are_skipped_or_replaced(folder: Path, policy: Any, images: int) -> None:
    (folder / "class1" / "broken.jpg").write_bytes(photos()[0].read_bytes()[:5000])
    (folder / "class2" / "empty.jpg").write_bytes(b"")
    loader = unstarve.ImageLoader(folder, 4, on_error=policy)
    assert sum(len(labels) for _, labels in loader) == images
    assert loader.stats()["failed"] >= 2
    assert {Path(e.message.split(": ")[0]).name for e in loader.errors()} == {
        "broken.jpg",
        "empty.jpg",
    }


def test_errors_name_the_argument(folder: Path) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        unstarve.ImageLoader(folder, 0)
    with pytest.raises(ValueError, match="on_error"):
        unstarve.ImageLoader(folder, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(errors.NotFoundError, match="no/such"):
        unstarve.ImageLoader("/no/such")
    (folder / "class0" / "other.ppm").write_bytes(b"")
    with pytest.raises(errors.NotSupportedError, match=r"other\.ppm.*skip_other_formats"):
        unstarve.ImageLoader(folder)
    assert unstarve.ImageLoader(folder, skip_other_formats=True).sample_count == 12


def test_a_new_iterator_ends_the_old_one(folder: Path) -> None:
    loader = unstarve.ImageLoader(folder, 2)
    old = iter(loader)
    next(old)
    new = iter(loader)
    with pytest.raises(errors.CancelledError):
        next(old)
    assert len(list(new)) == 6


def test_leaving_early_and_dropping_the_loader_does_not_hang(folder: Path) -> None:
    for _ in range(10):
        next(iter(unstarve.ImageLoader(folder, 3)))


def _use_in_child(use: Any, loader: Any, answers: Any) -> None:
    try:
        use(loader)
        answers.put("worked")
    except errors.NotSupportedError as error:
        answers.put(str(error))


def test_who_keeps_all_labels_keeps_no_images(folder: Path) -> None:
    for output in ("torch", "numpy"):
        loader = unstarve.ImageLoader(folder, 1, threads=1, prefetch=2, output=output)
        kept = [labels for _ in range(3) for _, labels in loader]
        assert len(kept) == 36
        assert loader.stats()["slots_allocated"] <= 6


@pytest.mark.parametrize(
    "use",
    [
        lambda loader: next(iter(loader)),
        lambda loader: loader.state_dict(),
        lambda loader: loader.stats(),
        lambda loader: loader.explain(),
    ],
)
def test_a_forked_child_gets_a_clear_error(folder: Path, use: Any) -> None:
    """And takes no lock that a loading thread may have held at the fork."""
    loader = unstarve.ImageLoader(folder, 3)
    next(iter(loader))
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_use_in_child, args=(use, loader, answers))
    child.start()
    assert "fork" in answers.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0


def test_ctrl_c_ends_a_wait(tmp_path: Path) -> None:
    """The only file is an image so large that the loop waits nearly all the time."""
    script = textwrap.dedent(
        """
        import numpy, sys, unstarve
        from PIL import Image
        noise = numpy.random.default_rng(0).integers(0, 256, (2000, 2000, 3), dtype=numpy.uint8)
        Image.fromarray(noise).save(sys.argv[1] + "/a.jpg", quality=95, progressive=True)
        loader = unstarve.ImageLoader(sys.argv[1], 1, threads=1, output="numpy")
        try:
            print("waiting", flush=True)
            while True:
                for _ in loader:
                    pass
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        os.kill(child.pid, signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(60) == 0


def test_the_package_imports_without_the_compiled_module(tmp_path: Path) -> None:
    source = Path(unstarve.__file__).resolve().parent
    shutil.copytree(source, tmp_path / "unstarve", ignore=shutil.ignore_patterns("_native*"))
    script = (
        "import unstarve\n"
        "try:\n    unstarve.ImageLoader\n"
        "except ImportError as e:\n    print('ImportError', 'make build' in str(e))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "ImportError True"
