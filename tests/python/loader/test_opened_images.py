"""Images that a data set's own Python opens: the engine decodes what a composition gets."""

from __future__ import annotations

import copy
import io
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from made_photos import make_photos
from PIL import Image, ImageOps
from pillow_decodes import count_decoding, decodes
from torch.utils import data
from torchvision import transforms as v1
from torchvision.transforms import v2

WORKERS = {"num_workers": 1, "batch_size": 4}
EVALUATION = v1.Compose([v1.Resize(48), v1.CenterCrop(40), v1.ToTensor()])
#: Pillow's resizing is 2 from torchvision's own in a few values.
NEAR = 2.1 / 255


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("photos"), 90, 70)


class Photos(data.Dataset[Any]):  # type: ignore[misc]
    """As people write it; `seen` says who decoded, in the worker's own process."""

    def __init__(self, root: Path, transform: Any) -> None:
        self.paths = sorted(root.iterdir())
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def open(self, index: int) -> Any:
        return Image.open(self.paths[index]).convert("RGB")

    def __getitem__(self, index: int) -> Any:
        before = decodes()
        image = self.transform(self.open(index))
        return image, index, decodes() - before


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count_decoding(monkeypatch)


def passes(dataset: Any, **options: Any) -> Iterator[list[Any]]:
    """Batches of torch's loader and of ours, beside each other."""
    arguments = {**WORKERS, **options}
    both = (cls(dataset, **arguments) for cls in (data.DataLoader, unstarve.DataLoader))
    yield from (list(pair) for pair in zip(*both, strict=True))


def test_a_composition_gets_what_pillow_would_give(folder: Path) -> None:
    dataset = Photos(folder, EVALUATION)
    loader = unstarve.DataLoader(dataset, **WORKERS)
    explanation = loader.explain()
    assert explanation.engine == "workers"
    assert any("decoded natively" in note for note in explanation.notes)
    decoded = []
    for (expected, numbers, _), (images, own, by_pillow) in passes(dataset):
        assert torch.equal(numbers, own)
        assert float((images - expected).abs().max()) <= NEAR
        decoded += by_pillow.tolist()
    # The first three are compared with Pillow's.
    assert decoded == [1] * 3 + [0] * 9


def test_it_is_so_where_the_hook_counts_decoding(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import ImageFile

    kind = ImageFile.ImageFile
    original = kind.convert

    def convert(image: Any, *given: Any, **more: Any) -> Any:
        return original(image, *given, **more)

    # `unstarve run` puts its own in the class that files have in common.
    monkeypatch.setattr(kind, "convert", convert, raising=False)
    loader = unstarve.DataLoader(Photos(folder, EVALUATION), **WORKERS)
    assert [int(one) for batch in loader for one in batch[2]] == [1] * 3 + [0] * 9


def test_random_crops_follow_from_torchs_seed(folder: Path) -> None:
    transform = v2.Compose(
        [v2.ToImage(), v2.RandomResizedCrop(24, antialias=True), v2.ToDtype(torch.float32)]
    )
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        loader = unstarve.DataLoader(Photos(folder, transform), shuffle=True, **WORKERS)
        runs.append([batch[0] for batch in loader])
    assert all(torch.equal(a, b) for a, b in zip(runs[0], runs[1], strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(runs[0], runs[2], strict=True))


def test_what_the_engine_does_not_know_gets_pillows_image(folder: Path) -> None:
    class Looks:
        def __call__(self, image: Any) -> Any:
            assert type(image) is Image.Image and image.mode == "RGB"
            return image.rotate(90)

    transform = v1.Compose([v1.Resize((40, 40)), Looks(), v1.ToTensor()])
    for (expected, _, _), (images, _, by_pillow) in passes(Photos(folder, transform)):
        assert float((images - expected).abs().max()) <= NEAR
        assert by_pillow.sum() <= 3


#: What scripts do with an image besides: each gives an array.
USES: dict[str, Callable[[Any], Any]] = {
    "array": np.asarray,
    "crop": lambda image: np.asarray(image.crop((5, 6, 35, 36))),
    "convert": lambda image: np.asarray(image.convert("RGB").convert("L").resize((9, 9))),
    "copy": lambda image: np.asarray(image.copy()),
    "deepcopy": lambda image: np.asarray(copy.deepcopy(image)),
    "pickle": lambda image: np.asarray(pickle.loads(pickle.dumps(image))),
    "bytes": lambda image: np.frombuffer(image.tobytes(), np.uint8),
    "pixel": lambda image: np.asarray(image.getpixel((3, 4))),
    "access": lambda image: np.asarray(image.load()[3, 4]),
    "split": lambda image: np.asarray(image.split()[1]),
    "flip": lambda image: np.asarray(ImageOps.mirror(image)),
    "paste": lambda image: (image.paste((1, 2, 3), (0, 0, 9, 9)), np.asarray(image))[1],
    "equal": lambda image: np.asarray([image == image.copy(), image.size == image.copy().size]),
    "exif": lambda image: np.asarray(ImageOps.exif_transpose(image)),
    "save": lambda image: np.frombuffer(_saved(image), np.uint8),
    "functional": lambda image: v1.functional.pil_to_tensor(image).numpy(),
    "v2": lambda image: v2.functional.to_image(image).numpy(),
    "blend": lambda image: np.asarray(Image.blend(image, image.transpose(0), 0.5)),
    "thumbnail": lambda image: (image.thumbnail((30, 30)), np.asarray(image))[1],
}


def _saved(image: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize("name", USES)
def test_whoever_wants_pixels_gets_pillows_own(folder: Path, name: str) -> None:
    use = USES[name]

    def transform(image: Any) -> Any:
        assert isinstance(image, Image.Image) and image.mode == "RGB"
        return use(image).copy()

    dataset = Photos(folder, transform)
    for (expected, _, _), (images, _, _) in passes(dataset, batch_size=None):
        assert np.array_equal(np.asarray(images), np.asarray(expected))


def test_images_that_no_composition_gets_are_soon_left_to_pillow(folder: Path) -> None:
    class Kinds(Photos):
        def __getitem__(self, index: int) -> Any:
            image = self.open(index % 12)
            kind = type(image).__name__
            assert np.asarray(image).any() and type(image) is Image.Image
            return index, kind

        def __len__(self) -> int:
            return 60

    loader = unstarve.DataLoader(Kinds(folder, None), batch_size=None, num_workers=1)
    kinds = [kind for _, kind in loader]
    assert kinds == ["OpenedImage"] * 32 + ["Image"] * 28


class Opens(Photos):
    """In other ways."""

    def open(self, index: int) -> Any:
        path = self.paths[index]
        if index % 4 == 0:
            with path.open("rb") as file:
                return Image.open(file).convert("RGB")
        if index % 4 == 1:
            return Image.open(io.BytesIO(path.read_bytes()))
        if index % 4 == 2:
            image = Image.open(path)
            image.draft("RGB", (20, 20))
            return image.convert("RGB")
        image = Image.open(path)
        image.load()
        return image.convert("RGB")


def test_open_files_bytes_drafts_and_what_is_loaded_already(folder: Path) -> None:
    for (expected, _, _), (images, _, by_pillow) in passes(Opens(folder, EVALUATION)):
        assert float((images - expected).abs().max()) <= NEAR
        # A draft and a loaded image are not what the file holds: they are Pillow's.
        assert by_pillow.tolist()[2:] == [1, 1]


def test_the_image_that_was_converted_needs_no_file(folder: Path) -> None:
    class Keeps(Photos):
        def __getitem__(self, index: int) -> Any:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                with self.paths[index].open("rb") as file:
                    image = Image.open(file)
                    made = self.transform(image.convert("RGB"))
                    place = file.tell()
                again = self.transform(Image.open(self.paths[index]).convert("RGB"))
                assert torch.equal(made, again) and place >= 0
                pixels = np.asarray(image.crop((0, 0, 50, 50)))  # the file is closed
            unclosed = [one for one in seen if one.category is ResourceWarning]
            return torch.from_numpy(pixels.copy()), made, len(unclosed)

    for (pixels, made, unclosed), (own, images, left) in passes(Keeps(folder, EVALUATION)):
        assert torch.equal(own, pixels)
        assert float((images - made).abs().max()) <= NEAR
        assert int(unclosed.sum()) == int(left.sum()) == 0


def test_files_of_other_kinds_are_pillows(tmp_path: Path, folder: Path) -> None:
    picture = Image.open(folder / "03.jpg").convert("RGB")
    picture.save(tmp_path / "0.tif")
    picture.convert("L").save(tmp_path / "1.jpg")
    picture.convert("CMYK").save(tmp_path / "2.jpg")
    picture.save(tmp_path / "3.webp")
    for (expected, _, _), (images, _, by_pillow) in passes(Photos(tmp_path, EVALUATION)):
        assert torch.equal(images, expected) and by_pillow.tolist() == [1] * 4


def test_a_file_that_is_cut_off_raises_where_it_would(tmp_path: Path, folder: Path) -> None:
    whole = (folder / "00.jpg").read_bytes()
    (tmp_path / "0.jpg").write_bytes(whole[:-200])

    class Careful(Photos):
        def __getitem__(self, index: int) -> Any:
            try:
                image = self.open(index)
            except OSError:
                return torch.zeros(3, 40, 40), index, 0
            return self.transform(image), index, 1

    dataset = Careful(tmp_path, EVALUATION)
    ((theirs, ours),) = passes(dataset)
    assert theirs[2].tolist() == ours[2].tolist() == [0]


def test_a_composition_that_changes_is_read_again(folder: Path) -> None:
    class Grows(Photos):
        """Progressive resizing, within the worker."""

        def __getitem__(self, index: int) -> Any:
            size = 20 if index < 6 else 30
            self.transform.transforms[0].size = [size, size]
            if index == 9:
                self.transform.transforms.insert(1, v1.RandomHorizontalFlip(1.0))
            return self.transform(self.open(index))

    def dataset() -> Any:
        return Grows(folder, v1.Compose([v1.Resize([9, 9]), v1.ToTensor()]))

    both = (
        cls(dataset(), batch_size=None, num_workers=1)
        for cls in (data.DataLoader, unstarve.DataLoader)
    )
    for expected, image in zip(*both, strict=True):
        assert image.shape == expected.shape
        assert float((image - expected).abs().max()) <= NEAR


class Preset:
    def __init__(self) -> None:
        self.crop = v1.Compose([v1.Resize([20, 20])])

    def __call__(self, image: Any) -> Any:
        return self.crop(image)


def test_what_a_preset_holds_counts_as_well(folder: Path) -> None:
    class Grows(Photos):
        def __getitem__(self, index: int) -> Any:
            inner = self.transform.transforms[0].crop.transforms[0]
            inner.size = [20, 20] if index < 6 else [30, 25]
            return self.transform(self.open(index))

    dataset = Grows(folder, v1.Compose([Preset(), v1.ToTensor()]))
    sizes = [
        tuple(image.shape[1:])
        for image in unstarve.DataLoader(dataset, batch_size=None, num_workers=1)
    ]
    assert sizes == [(20, 20)] * 6 + [(30, 25)] * 6


def test_a_new_composition_for_each_sample_takes_no_memory(folder: Path) -> None:
    class Fresh(Photos):
        def __getitem__(self, index: int) -> Any:
            from unstarve.engine import opened_images

            transform = v1.Compose([v1.Resize((20, 20)), v1.ToTensor()])
            before = decodes()
            image = transform(self.open(index % 12))
            known = len(opened_images._thread.compositions)
            return image, known, decodes() - before

        def __len__(self) -> int:
            return 200

    dataset = Fresh(folder, None)
    loader = unstarve.DataLoader(dataset, batch_size=200, num_workers=1)
    ((_, known, by_pillow),) = list(loader)
    assert int(known.max()) <= 64
    assert int(by_pillow.sum()) == 30


def test_a_subclass_of_compose_is_left_alone(folder: Path) -> None:
    class Mine(v1.Compose):  # type: ignore[misc]
        def __call__(self, image: Any) -> Any:
            return super().__call__(image.rotate(180))

    for (expected, _, _), (images, _, _) in passes(
        Photos(folder, Mine([v1.Resize((20, 20)), v1.ToTensor()]))
    ):
        assert torch.equal(images, expected)


def test_threads_of_a_data_set_do_not_share_memory(folder: Path) -> None:
    class Threaded(Photos):
        """Makes the samples of a batch in threads, behind which Python goes on."""

        def __getitems__(self, indices: list[int]) -> list[Any]:
            with ThreadPoolExecutor(4) as pool:
                made = pool.map(lambda index: self.transform(self.open(index % 12)), indices)
            return [(image, index) for image, index in zip(made, indices, strict=True)]

        def __len__(self) -> int:
            return 240

    class Looks:
        def __call__(self, image: Any) -> Any:
            return image.rotate(180)

    transform = v1.Compose([v1.Resize((120, 160)), Looks(), v1.ToTensor()])
    for (expected, _), (images, _) in passes(Threaded(folder, transform), batch_size=60):
        away = (images - expected).abs()
        assert float(away.max()) <= NEAR


def test_two_views_of_an_image_are_drawn_apart(folder: Path) -> None:
    base = v1.Compose([v1.RandomResizedCrop(24), v1.ToTensor()])

    class TwoViews:
        def __call__(self, image: Any) -> Any:
            return torch.stack([base(image), base(image)])

    loader = unstarve.DataLoader(Photos(folder, TwoViews()), **WORKERS)
    for views, _, by_pillow in loader:
        assert views.shape == (4, 2, 3, 24, 24)
        assert not torch.equal(views[:, 0], views[:, 1])
        assert by_pillow.sum() <= 6


def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSTARVE_NATIVE_IMAGES", "0")
    dataset = Photos(folder, EVALUATION)
    loader = unstarve.DataLoader(dataset, **WORKERS)
    assert not any("decoded natively" in note for note in loader.explain().notes)
    for (expected, _, _), (images, _, by_pillow) in passes(dataset):
        assert torch.equal(images, expected) and by_pillow.tolist() == [1] * 4


def test_this_process_stays_as_it_was(folder: Path) -> None:
    before = Image.Image.convert, v1.Compose.__call__, v2.Compose.forward
    for _ in unstarve.DataLoader(Photos(folder, EVALUATION), **WORKERS):
        pass
    assert (Image.Image.convert, v1.Compose.__call__, v2.Compose.forward) == before
    assert os.environ.get("UNSTARVE_NATIVE_IMAGES") is None


def test_workers_that_are_spawned_do_the_same(folder: Path) -> None:
    loader = unstarve.DataLoader(
        Photos(folder, EVALUATION), multiprocessing_context="spawn", **WORKERS
    )
    expected = [batch[0] for batch in data.DataLoader(Photos(folder, EVALUATION), batch_size=4)]
    for (images, _, _), theirs in zip(loader, expected, strict=True):
        assert float((images - theirs).abs().max()) <= NEAR
