"""timm's own transforms, where they differ from torchvision's."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

from unstarve.lowering import geometry, values
from unstarve.lowering.augment import size_of
from unstarve.lowering.colours import add_colour
from unstarve.lowering.originals import is_plain
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan
from unstarve.lowering.plan import Augment, Change, Colour, Erasing


def random_resized_crop(image: PartialPlan, part: Any) -> None:
    """With one way of interpolating, or one of two drawn for each image."""
    given = part.interpolation
    is_drawn = isinstance(given, tuple)
    if is_drawn and {_name(mode) for mode in given} != {"bilinear", "bicubic"}:
        raise NotLowerable(f"interpolation {given!r}")
    geometry.random_resized_crop(
        image,
        SimpleNamespace(
            size=part.size,
            scale=part.scale,
            ratio=part.ratio,
            interpolation="bilinear" if is_drawn else given,
            antialias=True,
        ),
    )
    if is_drawn and image.geometry is not None:
        image.geometry.interpolation = "either"


def _name(mode: Any) -> Any:
    return getattr(mode, "value", mode)


def maybe_to_tensor(image: PartialPlan, part: Any) -> None:
    if image.form == "pil":
        values.to_tensor(image, part)


def maybe_to_uint8_tensor(image: PartialPlan, part: Any) -> None:
    if image.form == "pil":
        values.to_uint8_tensor(image, part)


def random_erasing(image: PartialPlan, part: Any) -> None:
    if part.rand_color:
        raise NotLowerable("RandomErasing with one random colour")
    if (part.min_count, part.max_count) != (1, 1):
        raise NotLowerable("RandomErasing of several rectangles")
    low, high = (math.exp(value) for value in part.log_aspect_ratio)
    erasing = Erasing(
        float(part.probability),
        (float(part.min_area), float(part.max_area)),
        (low, high),
        None if part.per_pixel else (0.0, 0.0, 0.0),
    )
    values.add_erasing(image, erasing)


#: A normal distribution of magnitudes is so many values, each as likely as the others.
_VALUES = 512
_LEVELS = 10.0


def _magnitudes(op: Any) -> list[float]:
    """Of timm's scale, as AugmentOp draws them."""
    spread, most = op.magnitude_std, op.magnitude_max or _LEVELS
    parts = [(number + 0.5) / _VALUES for number in range(_VALUES)]
    if spread == math.inf:
        found = [op.magnitude * part for part in parts]
    elif spread > 0:
        normal = statistics.NormalDist(op.magnitude, spread)
        found = [normal.inv_cdf(part) for part in parts]
    else:
        found = [op.magnitude]
    return [max(0.0, min(float(value), most)) for value in found]


def _kept_bits(level: float) -> int:
    return int(level / _LEVELS * 4)


def _threshold(level: float) -> int:
    return min(256, int(level / _LEVELS * 256))


def _both_ways(level: float) -> list[float]:
    """An enhancement's factor, less one: above and below."""
    return [max(0.1, 1 + sign * level / _LEVELS * 0.9) - 1 for sign in (1, -1)]


Row = tuple[str, Callable[[float, Any, tuple[int, int]], list[float]], bool]


def _row(kind: str, make: Callable[..., Any], is_signed: bool = False) -> Row:
    def values_of(level: float, hparams: Any, size: tuple[int, int]) -> list[float]:
        made = make(level, hparams, size)
        return made if isinstance(made, list) else [float(made)]

    return kind, values_of, is_signed


def _enhanced(kind: str) -> Row:
    return _row(kind, lambda level, *_: level / _LEVELS * 1.8 - 0.9)


def _increasing(kind: str) -> Row:
    return _row(kind, lambda level, *_: _both_ways(level))


def _share(hparams: Any) -> float:
    return float(hparams.get("translate_pct", 0.45))


#: By timm's name: the engine's, the magnitudes of a level for an image of (height, width), and
#: whether they are negated half of the time.
_OPS: dict[str, Row] = {
    "AutoContrast": _row("autocontrast", lambda *_: 0),
    "Equalize": _row("equalize", lambda *_: 0),
    "Invert": _row("invert", lambda *_: 0),
    "Rotate": _row("rotate", lambda level, *_: level / _LEVELS * 30, True),
    "Posterize": _row("posterize", lambda level, *_: _kept_bits(level)),
    "PosterizeIncreasing": _row("posterize", lambda level, *_: 4 - _kept_bits(level)),
    "PosterizeOriginal": _row("posterize", lambda level, *_: min(8, _kept_bits(level) + 4)),
    "Solarize": _row("solarize", lambda level, *_: _threshold(level)),
    "SolarizeIncreasing": _row("solarize", lambda level, *_: 256 - _threshold(level)),
    "SolarizeAdd": _row("solarize_add", lambda level, *_: min(128, int(level / _LEVELS * 110))),
    "Color": _enhanced("saturation"),
    "ColorIncreasing": _increasing("saturation"),
    "Contrast": _enhanced("contrast"),
    "ContrastIncreasing": _increasing("contrast"),
    "Brightness": _enhanced("brightness"),
    "BrightnessIncreasing": _increasing("brightness"),
    "Sharpness": _enhanced("sharpness"),
    "SharpnessIncreasing": _increasing("sharpness"),
    "ShearX": _row("shear_x", lambda level, *_: level / _LEVELS * 0.3, True),
    "ShearY": _row("shear_y", lambda level, *_: level / _LEVELS * 0.3, True),
    "TranslateX": _row(
        "translate_x", lambda level, h, _: level / _LEVELS * float(h["translate_const"]), True
    ),
    "TranslateY": _row(
        "translate_y", lambda level, h, _: level / _LEVELS * float(h["translate_const"]), True
    ),
    "TranslateXRel": _row(
        "translate_x", lambda level, h, size: level / _LEVELS * _share(h) * size[1], True
    ),
    "TranslateYRel": _row(
        "translate_y", lambda level, h, size: level / _LEVELS * _share(h) * size[0], True
    ),
}


def _change(op: Any, size: tuple[int, int]) -> Change:
    module = sys.modules["timm.data.auto_augment"]
    of_timm = type(op) is module.AugmentOp and is_plain(op)
    if not of_timm or op.aug_fn is not module.NAME_TO_OP.get(op.name):
        raise NotLowerable("an operation of your own")
    if not isinstance(op.aug_fn, FunctionType) or op.aug_fn.__globals__ is not vars(module):
        raise NotLowerable("an operation that has been exchanged")
    if op.level_fn is not module.LEVEL_TO_ARG.get(op.name) or op.name not in _OPS:
        raise NotLowerable(f"{op.name}, which the engine does not know")
    kind, values_of, is_signed = _OPS[op.name]
    found = [value for level in _magnitudes(op) for value in values_of(level, op.hparams, size)]
    if len(set(found)) == 1:
        found = found[:1]
    return Change(kind, min(1.0, float(op.prob)), tuple(found), is_signed)


def _between(ops: list[Any]) -> tuple[Any, tuple[int, int, int]]:
    """How values between moved pixels are made, and the fill: the same for all."""
    pillow = sys.modules["PIL.Image"].Resampling
    names = {pillow.NEAREST: "nearest", pillow.BILINEAR: "bilinear", pillow.BICUBIC: "bicubic"}
    given = ops[0].kwargs
    if any(op.kwargs != given for op in ops):
        raise NotLowerable("operations that move pixels in different ways")
    fill, mode = given.get("fillcolor"), given.get("resample")
    if set(given) != {"fillcolor", "resample"} or not isinstance(fill, tuple) or len(fill) != 3:
        raise NotLowerable(f"operations with {given!r}")
    if isinstance(mode, (list, tuple)):
        if len(mode) != 2 or {names.get(one) for one in mode} != {"bilinear", "bicubic"}:
            raise NotLowerable(f"resample={mode!r}")
        return "either", (int(fill[0]), int(fill[1]), int(fill[2]))
    if mode not in names:
        raise NotLowerable(f"resample={mode!r}")
    return names[mode], (int(fill[0]), int(fill[1]), int(fill[2]))


def rand_augment(image: PartialPlan, part: Any) -> None:
    if image.form != "pil":
        raise NotLowerable("timm's RandAugment of a tensor")
    if part.choice_weights is not None or not part.ops:
        raise NotLowerable("operations with weights, which are drawn once each")
    size = size_of(image)
    sets = [[_change(op, size)] for op in part.ops]
    between, fill = _between(part.ops)
    augment = Augment(sets, int(part.num_layers), between, fill)
    add_colour(image, Colour("augment", augment=augment))


#: By module and class name.
READERS: dict[tuple[str, str], Callable[[PartialPlan, Any], None]] = {
    ("timm.data.transforms", "RandomResizedCropAndInterpolation"): random_resized_crop,
    ("timm.data.transforms", "MaybeToTensor"): maybe_to_tensor,
    ("timm.data.transforms", "MaybePILToTensor"): maybe_to_uint8_tensor,
    ("timm.data.auto_augment", "RandAugment"): rand_augment,
    ("timm.data.random_erasing", "RandomErasing"): random_erasing,
}
