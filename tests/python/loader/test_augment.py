"""Augmentations: the engine's pixels and draws against torchvision's and Pillow's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import unstarve
from distributions import distance
from PIL import Image
from torchvision import datasets
from torchvision import transforms as v1
from torchvision.transforms import functional as v1_functional
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional
from unstarve import _native
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import read_transform
from unstarve.lowering.plan import Augment, Blur, Change, Colour, Geometry, Plan

SIDES = (48, 64)  # height and width
BLENDED = v1.InterpolationMode.BILINEAR


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve pictures with smooth parts, edges, greys and saturated colours, in two classes."""
    root = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(5)
    for number in range(12):
        coarse = random.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        pixels = np.array(Image.fromarray(coarse).resize((90, 70), Image.Resampling.BICUBIC))
        pixels[20:30, 10:50] = [255, 0, 128]
        pixels[40:, 45:] = pixels[40:, 45:, :1]
        if number == 3:
            pixels[...] = 77
        path = root / "ab"[number % 2] / f"{number:02}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(path.with_suffix(".jpg"), quality=95)
    return root


def run(folder: Path, colour: list[Colour]) -> Any:
    """A batch of uint8, N x 3 x H x W, that is resized and then changed."""
    options = _native.LoaderOptions()
    options.root = str(folder)
    options.shuffle = False
    options.batch_size = 12
    options.transform = native_plan(Plan(Geometry("resize", SIDES), colour=colour))
    loader = _native.Loader(options)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    return torch.from_dlpack(batch[0]).clone()


def augment(kind: str, magnitude: float, between: Any = "nearest") -> list[Colour]:
    change = Change(kind, 1.0, (magnitude,), False)
    return [Colour("augment", augment=Augment([[change]], 1, between, (9, 80, 200)))]


VALUES: dict[str, tuple[list[float], Callable[[Any, float], Any]]] = {
    "brightness": ([-0.9, 0.4], lambda x, m: functional.adjust_brightness(x, 1 + m)),
    "saturation": ([-0.5, 0.9], lambda x, m: functional.adjust_saturation(x, 1 + m)),
    "contrast": ([-0.7, 0.9], lambda x, m: functional.adjust_contrast(x, 1 + m)),
    "sharpness": ([-1, -0.3, 0.0, 0.9], lambda x, m: functional.adjust_sharpness(x, 1 + m)),
    "posterize": ([0, 3, 4.7, 8], lambda x, m: functional.posterize(x, int(m))),
    "solarize": ([0, 100.5, 128, 255], functional.solarize),
    "autocontrast": ([0], lambda x, m: functional.autocontrast(x)),
    "equalize": ([0], lambda x, m: functional.equalize(x)),
    "invert": ([0], lambda x, m: functional.invert(x)),
    "identity": ([0], lambda x, m: x),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_torchvisions(folder: Path, kind: str) -> None:
    magnitudes, reference = VALUES[kind]
    before = run(folder, [])
    for magnitude in magnitudes:
        changed = run(folder, augment(kind, magnitude))
        apart = (changed.int() - reference(before, magnitude).int()).abs()
        assert int(apart.max()) <= 1, magnitude
        assert float((apart > 0).float().mean()) < 0.01, magnitude


@pytest.mark.parametrize(("taps", "sigma"), [((3, 3), 0.4), ((9, 5), 1.5), ((23, 23), 2.0)])
def test_blurring_is_torchvisions(folder: Path, taps: tuple[int, int], sigma: float) -> None:
    before = run(folder, [])
    blurred = run(folder, [Colour("blur", blur=Blur(taps, (sigma, sigma)))])
    expected = functional.gaussian_blur(before, list(taps), [sigma, sigma])
    apart = (blurred.int() - expected.int()).abs()
    assert int(apart.max()) <= 1 and float((apart > 0).float().mean()) < 1e-3


def moved_by_torchvision(picture: Any, kind: str, magnitude: float, mode: Any, fill: Any) -> Any:
    """As RandAugment moves it."""
    still = {"angle": 0.0, "translate": [0, 0], "scale": 1.0, "shear": [0.0, 0.0]}
    lean = math.degrees(math.atan(magnitude))
    given: dict[str, Any] = {
        "shear_x": {"shear": [lean, 0.0], "center": [0, 0]},
        "shear_y": {"shear": [0.0, lean], "center": [0, 0]},
        "translate_x": {"translate": [int(magnitude), 0]},
        "translate_y": {"translate": [0, int(magnitude)]},
    }
    if kind == "rotate":
        return v1_functional.rotate(picture, magnitude, interpolation=mode, fill=fill)
    arguments = {**still, **given[kind]}
    return v1_functional.affine(picture, **arguments, interpolation=mode, fill=fill)


MOVES = {
    "shear_x": [0.3, -0.99],
    "shear_y": [0.27, -0.6],
    "translate_x": [7.0, -31.0, 0.0, 500.0],
    "translate_y": [5.0, -3.0],
    "rotate": [4.5, -30.0, 90.0, 135.0],
}


@pytest.mark.parametrize("between", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("kind", MOVES)
def test_pixels_are_moved_as_pillow_moves_them(folder: Path, kind: str, between: str) -> None:
    before = run(folder, [])
    mode = v1.InterpolationMode(between)
    for magnitude in MOVES[kind]:
        changed = run(folder, augment(kind, magnitude, between))
        for image, own in zip(before, changed, strict=True):
            picture = Image.fromarray(image.permute(1, 2, 0).numpy())
            moved = moved_by_torchvision(picture, kind, magnitude, mode, [9, 80, 200])
            expected = torch.from_numpy(np.array(moved)).permute(2, 0, 1)
            apart = (own.int() - expected.int()).abs()
            assert int(apart.max()) <= (between != "nearest"), magnitude
            if between == "bicubic":
                continue  # torchvision's on tensors is another cubic
            # On tensors torchvision takes the other neighbour in ties, and blends with the fill.
            tensor = moved_by_torchvision(image, kind, magnitude, mode, [9.0, 80.0, 200.0])
            near = ((own.int() - tensor.int()).abs() <= 1).all(0)
            assert float(near.float().mean()) > 0.9, magnitude


POLICIES = {
    "RandAugment": {},
    "RandAugment, three of five bins": {"num_ops": 3, "magnitude": 4, "num_magnitude_bins": 5},
    "TrivialAugmentWide": {},
    "AutoAugment": {},
    "AutoAugment of SVHN": {"policy": v1.AutoAugmentPolicy.SVHN},
}


def native_draws(transform: Any, count: int) -> Counter[str]:
    plan, verdicts = read_transform(v1.Compose([v1.Resize(SIDES), transform, v1.PILToTensor()]))
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    found: Counter[str] = Counter()
    for index in range(count):
        draws = _native.sample_draws(options, 0, index, (SIDES[1], SIDES[0]))["colour"]
        _count(found, transform, [_words(name, value) for name, value in draws])
    return found


def _count(found: Counter[str], transform: Any, words: list[str]) -> None:
    """Rounds of RandAugment know nothing of each other: three make thousands of combinations."""
    if isinstance(transform, v1.RandAugment):
        found.update(words)
        found["nothing"] += transform.num_ops - len(words)
    else:
        found[" ".join(words)] += 1


def _words(name: str, value: Any) -> str:
    if name == "places":
        return "places " + " ".join(f"{number:.3f}" for number in value)
    return f"{name} {value:.4f}"


def torchvisions_draws(transform: Any, count: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What _apply_op() is asked to do, in the engine's words."""
    asked: list[tuple[str, float]] = []
    module = v1.autoaugment

    def note(image: Any, name: str, magnitude: float, **_: Any) -> Any:
        asked.append((name, magnitude))
        return image

    monkeypatch.setattr(module, "_apply_op", lambda *given, **more: note(*given[:3]))
    picture = Image.new("RGB", (SIDES[1], SIDES[0]))
    found: Counter[str] = Counter()
    for _ in range(count):
        asked.clear()
        transform(picture)
        words = [_native_words(name, magnitude) for name, magnitude in asked]
        _count(found, transform, [word for word in words if word])
    return found


def _native_words(name: str, magnitude: float) -> str:
    values = {"Brightness", "Contrast", "Sharpness"}
    if name == "Identity":
        return ""
    if name in values:
        return _words(name.lower(), 1 + magnitude)
    if name == "Color":
        return _words("saturation", 1 + magnitude)
    if name in ("Posterize", "Solarize", "AutoContrast", "Equalize", "Invert"):
        return _words(name.lower(), magnitude)
    return _words("places", _places(name, magnitude))


def _places(name: str, m: float) -> tuple[float, ...]:
    if name == "Rotate":
        cos, sin = math.cos(math.radians(m)), math.sin(math.radians(m))
        x, y = SIDES[1] / 2, SIDES[0] / 2
        return cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y
    return {
        "ShearX": (1, m, 0, 0, 1, 0),
        "ShearY": (1, 0, 0, m, 1, 0),
        "TranslateX": (1, 0, -int(m), 0, 1, 0),
        "TranslateY": (1, 0, 0, 0, 1, -int(m)),
    }[name]


@pytest.mark.parametrize("name", POLICIES)
def test_what_is_drawn_is_distributed_as_torchvisions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two samples of one distribution, by a chi-squared test over what was drawn often enough."""
    torch.manual_seed(3)
    count = 20_000
    transform = getattr(v1, name.split(",")[0].split()[0])(**POLICIES[name])
    ours = native_draws(transform, count)
    theirs = torchvisions_draws(transform, count, monkeypatch)
    unseen = set(ours) ^ set(theirs)
    assert sum(ours[one] + theirs[one] for one in unseen) < count / 50, sorted(unseen)[:5]
    often = [one for one in ours if ours[one] + theirs[one] >= 20]
    squares = sum((ours[one] - theirs[one]) ** 2 / (ours[one] + theirs[one]) for one in often)
    # Of so many degrees of freedom, p = 0.001.
    free = len(often) - 1
    limit = free * (1 - 2 / (9 * free) + 3.09 * math.sqrt(2 / (9 * free))) ** 3
    assert len(often) > 10 and squares < limit


def pipelines(library: Any) -> dict[str, Any]:
    begin = [library.RandomResizedCrop(32, antialias=True), library.RandomHorizontalFlip()]
    single = [
        library.GaussianBlur((3, 5), (0.2, 3.0)),
        library.RandomApply([library.GaussianBlur(23)], p=0.7),
        library.RandomRotation((-20, 70), interpolation=BLENDED, fill=9),
        library.RandomAffine(30, (0.1, 0.2), (0.8, 1.3), (-5, 5, -9, 3), BLENDED, 9),
        library.RandomPosterize(3),
        library.RandomSolarize(100),
        library.RandomAutocontrast(),
        library.RandomEqualize(),
        library.RandomInvert(),
        library.RandomAdjustSharpness(1.5),
    ]
    policies = [
        library.RandAugment(interpolation=BLENDED),
        library.TrivialAugmentWide(fill=[1, 2, 3]),
        library.AutoAugment(v1.AutoAugmentPolicy.CIFAR10, fill=7),
    ]
    return {
        f"{type(part).__name__}{number}": v1.Compose([*begin, part, v1.ToTensor()])
        for number, part in enumerate([*single, *policies])
    }


NAMES = list(pipelines(v1))


@pytest.mark.parametrize("library", [v1, v2])
@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_runs_natively(folder: Path, library: Any, name: str) -> None:
    dataset = datasets.ImageFolder(folder, pipelines(library)[name])
    loader = unstarve.DataLoader(dataset, batch_size=12)
    assert loader.explain().engine == "native", loader.explain()
    means = []
    for _ in range(8):
        (images, labels), *_ = loader
        assert images.shape == (12, 3, 32, 32) and images.dtype == torch.float32
        assert labels.tolist() == [0] * 6 + [1] * 6
        means.append(float(images.mean()))
    assert len(set(means)) == 8


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (v1.RandAugment(interpolation=v1.InterpolationMode.LANCZOS), "lanczos"),
        (v1.RandAugment(fill=[300, 0, 0]), "fill"),
        (v2.RandAugment(fill={torch.Tensor: 1, "others": 0}), "fill"),
    ],
)
def test_what_stays_python_says_why(part: Any, why: str) -> None:
    plan, verdicts = read_transform(v1.Compose([v1.Resize((8, 8)), part, v1.ToTensor()]))
    assert plan is None
    assert any(why in str(verdict.obstacle) for verdict in verdicts)


def test_a_flip_behind_what_moves_pixels_stays_python() -> None:
    parts = [v1.Resize((8, 8)), v1.TrivialAugmentWide(), v1.RandomHorizontalFlip(), v1.ToTensor()]
    plan, verdicts = read_transform(v1.Compose(parts))
    assert plan is None and "may move pixels" in str(verdicts[2].obstacle)


def test_a_table_of_the_scripts_own_is_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    part = v2.RandAugment(magnitude=1, num_magnitude_bins=2)
    table = {"Invert": (lambda *_: None, False), "Rotate": (lambda *_: torch.tensor([0, 5]), True)}
    monkeypatch.setattr(v2.RandAugment, "_AUGMENTATION_SPACE", table)
    transform = v2.Compose([v2.ToImage(), v2.Resize((8, 8), antialias=True), part])
    plan, verdicts = read_transform(transform)
    assert plan is not None, verdicts
    assert plan.colour[0].augment == Augment(
        [[Change("invert", 1.0, (0.0,), False)], [Change("rotate", 1.0, (5.0,), True)]], 2
    )
    monkeypatch.setitem(table, "Blot", (lambda *_: None, False))
    assert read_transform(transform)[0] is None


def timms_draws(transform: Any, count: int) -> dict[str, list[float]]:
    """By the engine's name of each change: what timm's functions are given."""
    names = {"Color": "saturation", "AutoContrast": "autocontrast", "SolarizeAdd": "solarize_add"}
    found: dict[str, list[float]] = {}
    for op in transform.ops:
        plain = op.name.removesuffix("Increasing").removesuffix("Rel")
        kind = names.get(plain, plain.lower())
        across = {"X": SIDES[1], "Y": SIDES[0]}.get(plain[-1], 1) if "Translate" in plain else 1
        values = found.setdefault(kind, [])

        def note(
            image: Any, *given: float, values: Any = values, by: int = across, **_: Any
        ) -> Any:
            values.append(given[0] * by if given else 0.0)
            return image

        op.aug_fn = note
    for _ in range(count):
        transform(None)
    return found


def engines_draws(transform: Any, count: int) -> dict[str, list[float]]:
    plan, verdicts = read_transform(v1.Compose([v1.Resize(SIDES), transform, v1.PILToTensor()]))
    assert plan is not None, verdicts
    options = _native.LoaderOptions()
    options.transform = native_plan(plan)
    found: dict[str, list[float]] = {}
    for index in range(count):
        draws = _native.sample_draws(options, 0, index, (SIDES[1], SIDES[0]))["colour"]
        for name, value in draws:
            kind, number = (name, value) if name != "places" else _move(value)
            found.setdefault(kind, []).append(number)
    return found


def _move(places: Any) -> tuple[str, float]:
    a, b, c, d, _, f = places
    if a != 1:
        return "rotate", math.degrees(-math.asin(b))
    kinds = {"shearx": b, "sheary": d, "translatex": c, "translatey": f}
    return next(((kind, value) for kind, value in kinds.items() if value), ("rotate", 0.0))


def test_angles_are_drawn_evenly() -> None:
    ours = engines_draws(v1.RandomRotation((-20, 70)), 20_000)
    even = [-20 + 90 * (number + 0.5) / 20_000 for number in range(20_000)]
    assert list(ours) == ["rotate"]
    assert distance(ours["rotate"], even) < 1.95 * math.sqrt(2 / 20_000)


AFFINE: dict[str, Any] = {
    "degrees": (-40, 70),
    "translate": (0.3, 0.1),
    "scale": (0.7, 1.4),
    "shear": (-8, 12, -20, 5),
}


@pytest.mark.parametrize("library", [v1, v2])
def test_affine_maps_are_drawn_as_torchvisions(library: Any) -> None:
    """Each of a map's six numbers, and their order among those of one draw, which says how they
    hang together."""
    count = 20_000
    options = _native.LoaderOptions()
    composition = v1.Compose([v1.Resize(SIDES), library.RandomAffine(**AFFINE), v1.PILToTensor()])
    plan, verdicts = read_transform(composition)
    assert plan is not None, verdicts
    options.transform = native_plan(plan)
    size = (SIDES[1], SIDES[0])
    drawn = (_native.sample_draws(options, 0, index, size)["colour"] for index in range(count))
    ours = np.array([value for [(_, value)] in drawn])
    torch.manual_seed(5)
    centre = [size[0] * 0.5, size[1] * 0.5]
    given = (AFFINE[name] for name in ("degrees", "translate", "scale", "shear"))
    ranges = list(given)
    theirs = np.array(
        [
            v1_functional._get_inverse_affine_matrix(
                centre, *v1.RandomAffine.get_params(*ranges, list(size))
            )
            for _ in range(count)
        ]
    )
    # Of two distributions that are the same, further apart in one of a thousand.
    limit = 1.95 * math.sqrt(2 / count)
    for column in range(6):
        assert distance(list(ours[:, column]), list(theirs[:, column])) < limit, column
        for other in range(column):
            sums = [
                one[:, column] / one[:, column].std() + one[:, other] / one[:, other].std()
                for one in (ours, theirs)
            ]
            assert distance(list(sums[0]), list(sums[1])) < 1.5 * limit, (column, other)


@pytest.mark.parametrize("library", [v1, v2])
def test_an_affine_map_gives_pillows_pixels(folder: Path, library: Any) -> None:
    for degrees, translate, scale, shear in (
        (30, None, None, None),
        (0, None, (0.5, 0.5), None),
        (90, None, (1.5, 1.5), (10, 10)),
        (-20, None, (1.2, 1.2), (5, 5, -8, -8)),
    ):
        affine = library.RandomAffine((degrees, degrees), translate, scale, shear, BLENDED, 5)
        transform = v1.Compose([v1.Resize((40, 48)), affine, v1.PILToTensor()])
        dataset = datasets.ImageFolder(folder, transform)
        loader = unstarve.DataLoader(dataset, batch_size=12)
        assert loader.explain().engine == "native", loader.explain()
        [(ours, _)] = loader
        theirs = torch.stack([image for image, _ in dataset])
        # Resizing differs by 2 from Pillow's in a few values, and they are blended.
        assert float(((ours.int() - theirs.int()).abs() > 2).float().mean()) < 2e-3


#: timm is installed beside the newest PyTorch alone (requirements/test.txt).
HAS_TIMM = pytest.mark.skipif(
    int(torch.__version__.split(".")[1]) < 9, reason="an older PyTorch, without timm"
)


@HAS_TIMM
@pytest.mark.parametrize("config", ["rand-m9-mstd0.5-inc1", "rand-m7-n3-mstd101", "rand-m6-p1.0"])
def test_timms_rand_augment_is_drawn_as_timm_draws_it(config: str) -> None:
    from timm.data.auto_augment import rand_augment_transform

    count = 20_000
    options = {"translate_const": 100, "img_mean": (124, 116, 104)}
    transform = rand_augment_transform(config, options)
    ours = engines_draws(transform, count)
    theirs = timms_draws(transform, count)
    assert set(ours) == set(theirs)
    for kind, values in theirs.items():
        sizes = len(values), len(ours[kind])
        assert abs(sizes[0] - sizes[1]) < 5 * math.sqrt(sum(sizes)), kind
        limit = 1.95 * math.sqrt(sum(sizes) / (sizes[0] * sizes[1]))  # p = 0.001
        # The last bits are not of the distribution.
        rounded = [[round(value, 6) for value in drawn] for drawn in (values, ours[kind])]
        assert distance(*rounded) < limit, kind


@HAS_TIMM
def test_timms_rand_augment_is_read_with_its_fill_and_its_ways() -> None:
    from timm.data.auto_augment import rand_augment_transform

    def augment_of(transform: Any) -> Any:
        plan, _ = read_transform(v1.Compose([v1.Resize(SIDES), transform, v1.PILToTensor()]))
        return None if plan is None else plan.colour[0].augment

    options = {"translate_const": 100, "img_mean": (124, 116, 104)}
    plain = augment_of(rand_augment_transform("rand-m9-n4", dict(options)))
    assert (plain.between, plain.fill, plain.rounds) == ("either", (124, 116, 104), 4)
    bicubic = {**options, "interpolation": Image.Resampling.BICUBIC}
    assert augment_of(rand_augment_transform("rand-m9", bicubic)).between == "bicubic"
    assert augment_of(rand_augment_transform("rand-m9-tweights", dict(options))) is None
    exchanged = rand_augment_transform("rand-m9", dict(options))
    exchanged.ops[3].aug_fn = lambda image, *_, **__: image
    assert augment_of(exchanged) is None
