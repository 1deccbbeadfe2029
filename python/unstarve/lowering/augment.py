"""Augmentations that draw which changes they make, and the single changes of that kind.

Their magnitudes are what torchvision's own tables say for the size of the image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from unstarve.lowering.colours import add_colour
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan, pair
from unstarve.lowering.plan import Affine, Augment, Change, Colour, Elastic, Mix, Perspective

#: Of torchvision's names: the engine's.
_KINDS = {
    "Identity": "identity",
    "ShearX": "shear_x",
    "ShearY": "shear_y",
    "TranslateX": "translate_x",
    "TranslateY": "translate_y",
    "Rotate": "rotate",
    "Brightness": "brightness",
    "Color": "saturation",
    "Contrast": "contrast",
    "Sharpness": "sharpness",
    "Posterize": "posterize",
    "Solarize": "solarize",
    "AutoContrast": "autocontrast",
    "Equalize": "equalize",
    "Invert": "invert",
}
#: An angle of a range is one of so many, each as likely as the others.
_ANGLES = 512
#: Bins of AutoAugment's magnitudes.
_BINS = 10


class _Row(NamedTuple):
    magnitudes: list[float]  # none where there is one alone, which is zero
    is_signed: bool


def _is_v2(part: Any) -> bool:
    return ".v2." in type(part).__module__


def size_of(image: PartialPlan) -> tuple[int, int]:
    """Height and width.

    Raises:
        NotLowerable: it has none yet.
    """
    if image.geometry is None:
        raise NotLowerable("a change of the pixels before the image has its size")
    return image.geometry.size


def _table(part: Any, bins: int, size: tuple[int, int]) -> dict[str, _Row]:
    """What torchvision has for each change, with this many magnitudes, for an image of `size`."""
    found = {}
    if _is_v2(part):
        space = part._AUGMENTATION_SPACE
        if not getattr(part, "all_ops", True):  # of AugMix
            space = part._PARTIAL_AUGMENTATION_SPACE
        for name, (make, is_signed) in space.items():
            given = make(bins, *size)
            scale = 255.0 if name == "Solarize" else 1.0  # there a share of the largest value
            found[name] = _Row([] if given is None else (given * scale).tolist(), is_signed)
    else:
        by_size = [] if type(part).__name__ == "TrivialAugmentWide" else [size]
        for name, (given, is_signed) in part._augmentation_space(bins, *by_size).items():
            found[name] = _Row(given.tolist() if given.ndim else [], is_signed)
    unknown = sorted(set(found) - set(_KINDS))
    if unknown:
        raise NotLowerable(f"{unknown[0]}, which the engine does not know")
    return found


def _change(name: str, row: _Row, picked: Sequence[float], probability: float = 1.0) -> Change:
    # Pixels are moved by whole ones, and as many bits are kept.
    whole = name in ("TranslateX", "TranslateY", "Posterize")
    values = tuple(float(int(value) if whole else value) for value in picked)
    return Change(_KINDS[name], probability, values or (0.0,), row.is_signed)


def _moves(image: PartialPlan, part: Any) -> tuple[Any, tuple[int, int, int]]:
    """How values between pixels are made, and the colour where there are none."""
    name = getattr(part.interpolation, "value", part.interpolation)
    if name not in ("nearest", "bilinear", "bicubic"):
        raise NotLowerable(f"interpolation {name!r} of pixels that are moved")
    if name == "bicubic" and image.form != "pil":
        raise NotLowerable("bicubic moves of a tensor, whose cubic is another one")
    fill = part.fill
    if fill is None:
        fill = 0
    if isinstance(fill, (int, float)):
        fill = [fill] * 3
    if not isinstance(fill, (list, tuple)) or len(fill) not in (1, 3):
        raise NotLowerable(f"fill={part.fill!r}")
    values = [int(value) for value in (list(fill) * 3)[:3]]
    if not all(0 <= value <= 255 for value in values):
        raise NotLowerable(f"fill={part.fill!r}")
    return name, (values[0], values[1], values[2])


def _add(image: PartialPlan, part: Any, sets: list[list[Change]], rounds: int = 1) -> None:
    between, fill = _moves(image, part)
    add_colour(image, Colour("augment", augment=Augment(sets, rounds, between, fill)))


def rand_augment(image: PartialPlan, part: Any) -> None:
    table = _table(part, part.num_magnitude_bins, size_of(image))
    number = int(part.magnitude)
    sets = [[_change(name, row, row.magnitudes[number:][:1])] for name, row in table.items()]
    _add(image, part, sets, int(part.num_ops))


def trivial_augment_wide(image: PartialPlan, part: Any) -> None:
    table = _table(part, part.num_magnitude_bins, size_of(image))
    _add(image, part, [[_change(name, row, row.magnitudes)] for name, row in table.items()])


def auto_augment(image: PartialPlan, part: Any) -> None:
    table = _table(part, _BINS, size_of(image))
    policies = part._policies if _is_v2(part) else part.policies
    sets = []
    for policy in policies:
        changes = []
        for name, probability, number in policy:
            row = table[name]
            picked = [] if number is None else row.magnitudes[number:][:1]
            changes.append(_change(name, row, picked, float(probability)))
        sets.append(changes)
    _add(image, part, sets)


def aug_mix(image: PartialPlan, part: Any) -> None:
    table = _table(part, part._PARAMETER_MAX, size_of(image))
    # PIL images become tensors on the way.
    between, fill = _moves(image, part)
    if between == "bicubic":
        raise NotLowerable("bicubic moves of a tensor, which torchvision does not make")
    alpha, width = float(part.alpha), int(part.mixture_width)
    depth, severity = max(int(part.chain_depth), 0), int(part.severity)
    if not (0.01 <= alpha <= 1e6 and 1 <= width <= 64 and depth <= 64):
        raise NotLowerable(f"alpha={alpha}, mixture_width={width}, chain_depth={depth}")
    changes = [_change(name, row, row.magnitudes[:severity]) for name, row in table.items()]
    filled = None if part.fill is None else fill
    add_colour(image, Colour("mix", mix=Mix(changes, width, depth, alpha, between, filled)))


def elastic(image: PartialPlan, part: Any) -> None:
    alpha, sigma = pair(part.alpha), pair(part.sigma)
    # PIL images become tensors on the way.
    between, fill = _moves(image, part)
    if between == "bicubic":
        raise NotLowerable("bicubic moves of a tensor, whose cubic is another one")
    is_blurred = [deviation > 0 for deviation in sigma]
    # Mirrored beyond the edges, half of the blur's taps have to be there.
    half = max(int(8 * deviation + 1) // 2 for deviation in sigma)
    if len(set(is_blurred)) > 1 or min(sigma) < 0 or max(sigma) > 31 or half >= min(size_of(image)):
        raise NotLowerable(f"sigma={part.sigma} of {size_of(image)} pixels")
    filled = None if part.fill is None else fill
    add_colour(image, Colour("elastic", elastic=Elastic(alpha, sigma, between, filled)))


def jpeg(image: PartialPlan, part: Any) -> None:
    size_of(image)
    low, high = (int(quality) for quality in part.quality)
    add_colour(image, Colour("jpeg", jpeg=(low, high)))


def _alone(kind: str, value: Callable[[Any], float], probability: Callable[[Any], float]) -> Any:
    """The reader of one change with one magnitude."""

    def reader(image: PartialPlan, part: Any) -> None:
        size_of(image)
        change = Change(kind, float(probability(part)), (float(value(part)),), False)
        add_colour(image, Colour("augment", augment=Augment([[change]])))

    return reader


def random_rotation(image: PartialPlan, part: Any) -> None:
    if part.expand or part.center is not None:
        raise NotLowerable("a rotation that enlarges the image, or around another place")
    size_of(image)
    low, high = (float(degrees) for degrees in part.degrees)
    steps = _ANGLES if high > low else 1
    angles = tuple(low + (high - low) * (number + 0.5) / steps for number in range(steps))
    _add(image, part, [[Change("rotate", 1.0, angles, False)]])


def random_affine(image: PartialPlan, part: Any) -> None:
    if part.center is not None:
        raise NotLowerable("an affine map around another place than the centre")
    size_of(image)
    between, fill = _moves(image, part)
    shear = [0.0, 0.0] if part.shear is None else [float(degrees) for degrees in part.shear]
    down = pair(shear[2:]) if len(shear) == 4 else (0.0, 0.0)
    scale = (1.0, 1.0) if part.scale is None else pair(part.scale)
    affine = Affine(
        pair(part.degrees),
        (0.0, 0.0) if part.translate is None else pair(part.translate),
        scale,
        pair(shear[:2]),
        down,
        between,
        fill,
    )
    if not (1 / 64 <= scale[0] <= scale[1] <= 64 and max(map(abs, shear)) <= 80):
        raise NotLowerable(f"scale={part.scale}, shear={part.shear}: hardly anything is left")
    add_colour(image, Colour("affine", affine=affine))


def random_perspective(image: PartialPlan, part: Any) -> None:
    if min(size_of(image)) < 2 or not 0 <= part.distortion_scale <= 1:
        raise NotLowerable(f"distortion_scale={part.distortion_scale} of {size_of(image)} pixels")
    between, fill = _moves(image, part)
    if between == "bicubic":
        raise NotLowerable("a bicubic perspective")
    of_tensor = image.form != "pil"
    if of_tensor and part.fill is None:
        raise NotLowerable("fill=None of a tensor, whose edges fade")
    perspective = Perspective(float(part.distortion_scale), between, fill, of_tensor)
    add_colour(image, Colour("perspective", float(part.p), perspective=perspective))


def _p(part: Any) -> float:
    return float(part.p)


#: By class name; both torchvision.transforms and torchvision.transforms.v2 have them.
READERS: dict[str, Callable[[PartialPlan, Any], None]] = {
    "AugMix": aug_mix,
    "JPEG": jpeg,
    "AutoAugment": auto_augment,
    "ElasticTransform": elastic,
    "RandAugment": rand_augment,
    "TrivialAugmentWide": trivial_augment_wide,
    "RandomAffine": random_affine,
    "RandomPerspective": random_perspective,
    "RandomAdjustSharpness": _alone("sharpness", lambda part: part.sharpness_factor - 1, _p),
    "RandomAutocontrast": _alone("autocontrast", lambda part: 0, _p),
    "RandomEqualize": _alone("equalize", lambda part: 0, _p),
    "RandomInvert": _alone("invert", lambda part: 0, _p),
    "RandomPosterize": _alone("posterize", lambda part: part.bits, _p),
    "RandomRotation": random_rotation,
    "RandomSolarize": _alone("solarize", lambda part: part.threshold, _p),
}
