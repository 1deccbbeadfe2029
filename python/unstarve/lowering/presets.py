"""Presets of libraries: a transform that stands for several."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from unstarve.lowering import geometry, values
from unstarve.lowering.partial_plan import PartialPlan


def image_classification(image: PartialPlan, part: Any) -> None:
    """What `weights.transforms()` of torchvision's models of classification gives."""
    geometry.resize(
        image,
        SimpleNamespace(
            size=part.resize_size,
            max_size=None,
            interpolation=part.interpolation,
            antialias=part.antialias,
        ),
    )
    size = list(part.crop_size)
    geometry.center_crop(image, SimpleNamespace(size=size * 2 if len(size) == 1 else size))
    if image.form == "pil":
        values.to_uint8_tensor(image, part)
    values.to_float(image, "float32", scale=True, by_reciprocal=False)
    values.normalize(image, part)


#: By module and class name.
READERS: dict[tuple[str, str], Callable[[PartialPlan, Any], None]] = {
    ("torchvision.transforms._presets", "ImageClassification"): image_classification
}
