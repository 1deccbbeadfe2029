"""unstarve.DataLoader where some files are such as only Python can load, or nobody: beside torch's
on the same files."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from batches import apart, same
from PIL import Image, ImageFile
from torch.utils import data
from torchvision import datasets, transforms
from unstarve import DataLoader

PHOTOS = sorted((Path(__file__).resolve().parents[2] / "data" / "photos").glob("*.jpg"))
CENTRE = transforms.Compose(
    [transforms.Resize(72), transforms.CenterCrop((64, 56)), transforms.PILToTensor()]
)
CROPS = transforms.Compose([transforms.RandomResizedCrop(48), transforms.PILToTensor()])
TINY = transforms.Compose([transforms.Resize((8, 8)), transforms.PILToTensor()])


def native(*arguments: Any, **named: Any) -> Any:
    loader = DataLoader(*arguments, **named)
    explanation = loader.explain()
    assert explanation.engine == "native", explanation
    return loader


def make_ppm(path: Path) -> None:
    Image.open(PHOTOS[1]).resize((90, 80)).save(path, format="ppm")


def cut(path: Path) -> None:
    path.write_bytes(PHOTOS[0].read_bytes()[:3000])


def outcomes(loader: Any) -> list[Any]:
    """What a loop gets that goes on after errors."""
    found: list[Any] = []
    iterator = iter(loader)
    while len(found) < 1000:
        try:
            images, labels = next(iterator)
        except StopIteration:
            return found
        except Exception as error:
            found.append((type(error), str(error).splitlines()[-1]))
        else:
            found.append((images, labels.tolist() if hasattr(labels, "tolist") else labels))
    raise AssertionError("it does not end")


def check_same_outcomes(ours: list[Any], theirs: list[Any]) -> None:
    assert [after for _, after in ours] == [after for _, after in theirs]
    for place, ((mine, _), (reference, _)) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(reference, torch.Tensor):
            assert apart(mine, reference) <= 1, place
        else:
            assert mine is reference


@pytest.mark.parametrize("workers", [0, 2])
def test_each_bad_file_is_one_error_and_the_rest_is_loaded(folder: Path, workers: int) -> None:
    make_ppm(folder / "class0" / "0 really a ppm.jpg")
    cut(folder / "class1" / "0 cut.jpg")
    (folder / "class1" / "1 no image.jpg").write_bytes(b"no image")
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    gone = folder / "class2" / "9 gone.jpg"
    make_ppm(gone)
    dataset.samples.append((str(gone), 2))
    gone.unlink()
    for size in (1, 3, 6, len(dataset)):
        ours = native(dataset, batch_size=size, num_workers=workers)
        theirs = data.DataLoader(dataset, batch_size=size, num_workers=workers)
        check_same_outcomes(outcomes(ours), outcomes(theirs))
    assert outcomes(ours)[0][0] is not None, "and a further epoch"


@pytest.mark.parametrize("workers", [0, 2])
def test_indices_that_the_data_set_lacks_are_errors_in_their_turn(
    folder: Path, workers: int
) -> None:
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    batches = [[0, 1], [5, 99], [2, 3], [], 7, (4, 6)]
    ours = native(dataset, batch_sampler=batches, num_workers=workers)
    theirs = data.DataLoader(dataset, batch_sampler=batches, num_workers=workers)
    check_same_outcomes(outcomes(ours), outcomes(theirs))


@pytest.mark.parametrize("workers", [0, 2])
def test_states_count_the_batches_that_failed(folder: Path, workers: int) -> None:
    cut(folder / "class0" / "0 cut.jpg")
    dataset = datasets.ImageFolder(str(folder), CROPS)
    loader = native(dataset, batch_size=3, num_workers=workers, shuffle=True)
    torch.manual_seed(3)
    iterator = iter(loader)
    seen = []
    states = []
    for _ in range(5):
        try:
            seen.append(next(iterator))
        except OSError:
            seen.append(None)
        states.append(loader.state_dict())
    assert seen.count(None) == 1
    failed = seen.index(None)
    torch.manual_seed(4)
    resumed = native(dataset, batch_size=3, num_workers=2 - workers, shuffle=True)
    resumed.load_state_dict(states[failed])
    assert same(list(resumed), seen[failed + 1 :])


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_do_not_fit_are_collated_as_torch_does(folder: Path, workers: int) -> None:
    make_ppm(folder / "class1" / "0 really a ppm.jpg")
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    for label in (0.5, "one"):
        ours = native(dataset, batch_size=4, num_workers=workers)
        iterator = iter(ours)
        index = next(i for i, (path, _) in enumerate(dataset.samples) if "ppm" in path)
        kept = dataset.samples[index]
        dataset.samples[index] = (kept[0], label)  # behind the engine's back
        theirs = data.DataLoader(dataset, batch_size=4, num_workers=workers)
        check_same_outcomes(outcomes(iterator), outcomes(theirs))
        dataset.samples[index] = kept


@pytest.mark.parametrize("workers", [0, 2])
def test_a_few_files_with_other_names_leave_the_rest_to_the_engine(
    folder: Path, workers: int
) -> None:
    for i in range(30):
        (folder / "class1" / f"{i}.jpg").symlink_to(PHOTOS[i])
    make_ppm(folder / "class1" / "one.ppm")
    make_ppm(folder / "class2" / "two.ppm")
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    loader = native(dataset, batch_size=9, num_workers=workers)
    assert "one.ppm by Python" in str(loader.explain())
    for epoch in (1, 2):
        check_same_outcomes(outcomes(loader), outcomes(data.DataLoader(dataset, batch_size=9)))
        assert loader.stats()["samples_by_python"] == 2 * epoch
    make_ppm(folder / "class2" / "three.ppm")
    more = DataLoader(datasets.ImageFolder(str(folder), CENTRE), batch_size=9)
    assert more.explain().engine == "partly" and "and 2 more" in more.explain().reason


def test_random_transforms_in_python_follow_from_the_seed(folder: Path) -> None:
    for name in ("class0/0.jpg", "class1/1 ppm.jpg", "class2/2 ppm.jpg"):
        make_ppm(folder / name)
    dataset = datasets.ImageFolder(str(folder), CROPS)

    def run(workers: int, seed: int = 5) -> list[Any]:
        torch.manual_seed(seed)
        loader = native(dataset, batch_size=4, shuffle=True, num_workers=workers)
        batches = [[part.clone() for part in batch] for _ in range(2) for batch in loader]
        assert loader.stats()["samples_by_python"] == 6
        return batches

    first = run(0)
    before = torch.get_rng_state()
    assert same(first, run(2))
    assert not same(first, run(2, seed=6))
    torch.set_rng_state(before)
    torch.manual_seed(5)
    loader = native(dataset, batch_size=4, shuffle=True, num_workers=1)
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    resumed = native(dataset, batch_size=4, shuffle=True, num_workers=0)
    resumed.load_state_dict(state)
    assert same(list(resumed), first[1:4])


def test_a_file_that_blocks_ends_with_the_timeout(folder: Path) -> None:
    pipe = folder / "class1" / "0 a pipe.jpg"
    os.mkfifo(pipe)
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    loader = native(dataset, batch_size=4, num_workers=1, timeout=0.5)
    iterator = iter(loader)
    assert next(iterator)[1].tolist() == [0, 0, 0, 0]
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.5 seconds"):
            next(iterator)
    # Now the sample is an empty file, and the worker goes on.
    os.close(os.open(pipe, os.O_WRONLY))
    with pytest.raises(Exception, match="cannot identify image file"):
        while True:
            try:
                next(iterator)
            except RuntimeError as error:
                assert "timed out" in str(error)
    assert [len(labels) for _, labels in iterator] == [4, 1]


def test_threads_share_an_iterator(folder: Path) -> None:
    make_ppm(folder / "class1" / "0 really a ppm.jpg")
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    loader = native(dataset, sampler=[i % 13 for i in range(400)], batch_size=2, num_workers=2)
    for _ in range(3):
        iterator = iter(loader)
        found: list[Any] = []
        ends: list[Any] = []

        def consume(iterator: Any = iterator, found: Any = found, ends: Any = ends) -> None:
            try:
                while True:
                    found.append(next(iterator)[1].tolist())
            except BaseException as end:
                ends.append(type(end))

        threads = [threading.Thread(target=consume) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert ends == [StopIteration] * 6
        expected = [
            [dataset.targets[i % 13], dataset.targets[(i + 1) % 13]] for i in range(0, 400, 2)
        ]
        assert sorted(found) == sorted(expected)


class AlarmError(BaseException):
    """As KeyboardInterrupt."""


def test_a_signal_ends_the_wait_behind_another_thread(folder: Path) -> None:
    pipe = folder / "class1" / "0 a pipe.jpg"
    os.mkfifo(pipe)
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    iterator = iter(native(dataset, batch_size=13, num_workers=1))
    ends: list[Any] = []

    def consume() -> None:
        try:
            next(iterator)
        except Exception as end:
            ends.append(str(end))

    def ring(number: int, frame: Any) -> None:
        raise AlarmError

    thread = threading.Thread(target=consume)
    thread.start()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(AlarmError):
            next(iterator)
    finally:
        signal.signal(signal.SIGALRM, before)
    while thread.is_alive():
        with contextlib.suppress(OSError):  # while nobody reads
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        thread.join(0.05)
    assert len(ends) == 1 and "cannot identify image file" in ends[0]
    assert next(iterator, None) is None


def test_a_worker_that_is_killed_is_an_error_and_another_takes_over(folder: Path) -> None:
    pipe = folder / "class1" / "0 a pipe.jpg"
    os.mkfifo(pipe)
    make_ppm(folder / "class2" / "0 really a ppm.jpg")
    dataset = datasets.ImageFolder(str(folder), CENTRE)
    iterator = iter(native(dataset, batch_size=2, num_workers=1, timeout=0.5))
    others = set(multiprocessing.active_children())
    assert [next(iterator)[1].tolist() for _ in range(2)] == [[0, 0], [0, 0]]
    with pytest.raises(RuntimeError, match="timed out"):
        next(iterator)
    pipe.unlink()
    make_ppm(pipe)
    (worker,) = set(multiprocessing.active_children()) - others
    with contextlib.suppress(RuntimeError):  # torch's signal handler may speak at any time
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join(60)
    found = outcomes(iterator)
    errors = [kind for kind, _ in found if isinstance(kind, type)]
    assert errors in ([], [RuntimeError])
    batches = [labels for images, labels in found if isinstance(images, torch.Tensor)]
    assert batches == [[1, 1], [1, 1], [1, 2], [2, 2], [2, 2]][len(errors) :]


def damaged_forms(draw: random.Random) -> Iterator[bytes]:
    """Photographs that were cut, cut and padded, or have something behind their end."""
    small, thumbnail, progressive = io.BytesIO(), io.BytesIO(), io.BytesIO()
    picture = Image.open(PHOTOS[2]).resize((160, 120))
    picture.save(small, format="jpeg")
    picture.resize((16, 12)).save(thumbnail, format="jpeg")
    picture.save(progressive, format="jpeg", progressive=True)
    plain, inner, scans = (made.getvalue() for made in (small, thumbnail, progressive))
    app1 = b"\xff\xe1" + (len(inner) + 2).to_bytes(2, "big") + inner
    embedded = plain[:2] + app1 + plain[2:]
    yield embedded[: 2 + len(app1)]
    for jpeg in (plain, scans, embedded):
        yield from (
            jpeg,
            jpeg + b"\0" * 5000,
            jpeg + b"garbage \xff\xd8\xff\xe0" * 9,
            jpeg + b"\xff",
        )
        for missing in [*range(1, 20), *(draw.randrange(20, len(jpeg)) for _ in range(25))]:
            yield jpeg[:-missing]
        for missing in (1, 2, 3, 300, len(jpeg) // 2):
            yield jpeg[:-missing] + b"\0" * missing
            yield jpeg[:-missing] + b"\xff" * 9
            if jpeg != scans:  # what is made up for lost ones depends on libjpeg's version
                yield jpeg[:-missing] + b"\xff\xd9"


@pytest.mark.parametrize("tolerant", [False, True])
def test_cut_files_are_broken_where_they_are_for_pillow(
    tmp_path: Path, tolerant: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a crop needs of them: that of the test ends in the middle."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", tolerant)
    (tmp_path / "only").mkdir()
    forms = list(damaged_forms(random.Random(1)))
    for i, content in enumerate(forms):
        (tmp_path / "only" / f"{i:03}.jpg").write_bytes(content)
    half = transforms.Compose([transforms.CenterCrop((16, 16)), transforms.PILToTensor()])
    dataset = datasets.ImageFolder(str(tmp_path), half)
    loader = native(dataset, batch_size=1)
    ours, theirs = outcomes(loader), outcomes(data.DataLoader(dataset, batch_size=1))
    check_same_outcomes(ours, theirs)
    errors = sum(isinstance(found, type) for found, _ in theirs)
    by_engine = len(forms) - errors - loader.stats()["samples_by_python"]
    assert by_engine >= 20, "sound files, whatever follows their end"
    # Files that are cut within their headers are no image to anybody.
    assert errors < len(forms) / 4 if tolerant else errors > len(forms) / 2


@pytest.fixture(scope="module")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """70,000 files in 70 classes, nearly all of them links to the same few."""
    root = tmp_path_factory.mktemp("many")
    for kind in range(4):
        colour = (60 * kind, 200 - 50 * kind, 90)
        Image.new("RGB", (8, 8), colour).save(root / f"{kind}.source", format="jpeg")
    for label in range(70):
        folder = root / "data" / f"class{label:02}"
        folder.mkdir(parents=True)
        for i in range(1000):
            os.link(root / f"{(label + i) % 4}.source", folder / f"{i:04}.jpg")
    yield root / "data"


def replaced(root: Path, index: int) -> Path:
    """The file at that index, which is gone."""
    path = root / f"class{index // 1000:02}" / f"{index % 1000:04}.jpg"
    path.unlink()
    return path


def test_a_data_set_as_large_as_imagenet_has_odd_files(many_files: Path) -> None:
    """The engine once took at most 65,536 samples at a time of those that lay behind."""
    make_ppm(replaced(many_files, 66_001))
    cmyk = Image.open(PHOTOS[0]).resize((50, 40)).convert("CMYK")
    cmyk.save(replaced(many_files, 68_003), format="jpeg")
    cut(replaced(many_files, 69_005))
    dataset = datasets.ImageFolder(str(many_files), TINY)
    assert len(dataset) == 70_000
    loader = native(dataset, batch_size=500, num_workers=2)
    iterator = iter(loader)
    state: dict[str, Any] = {}

    def labels_of(iterator: Any, begin: int) -> list[int]:
        nonlocal state
        labels: list[int] = dataset.targets[:begin]
        errors = []
        while len(labels) < 70_000:
            first = len(labels)
            try:
                images, some = next(iterator)
            except OSError as error:
                errors.append(str(error))
                labels += dataset.targets[first : first + 500]
                continue
            labels += some.tolist()
            for index in (66_001, 68_003):
                if first <= index < len(labels):
                    assert apart(images[index - first], dataset[index][0]) <= 1
            if len(labels) == 67_500:
                state = loader.state_dict()
        assert len(errors) == 1 and "truncated" in errors[0]
        assert next(iterator, None) is None
        return labels

    assert labels_of(iterator, 0) == dataset.targets
    assert loader.stats()["samples_by_python"] == 1, "the other one raised"
    resumed = native(dataset, batch_size=500, num_workers=2)
    resumed.load_state_dict(state)
    assert labels_of(iter(resumed), 67_500) == dataset.targets
