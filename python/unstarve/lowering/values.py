"""Transforms of the values: from bytes to tensors and floats, normalisation, erasing."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from unstarve.lowering.partial_plan import NotLowerable, PartialPlan, channels, pair
from unstarve.lowering.plan import Erasing, Noise


def to_tensor(image: PartialPlan, _part: Any) -> None:
    if image.form != "pil":
        raise NotLowerable("ToTensor on a tensor")
    torch = sys.modules["torch"]
    if torch.get_default_dtype() is not torch.float32:
        raise NotLowerable(f"torch's default type is {torch.get_default_dtype()}")
    image.form = "tensor"
    image.plan.dtype = "float32"
    image.plan.scale_to_unit = True


def to_uint8_tensor(image: PartialPlan, _part: Any) -> None:
    if image.form != "pil":
        raise NotLowerable("PILToTensor on a tensor")
    image.form = "tensor"
    image.plan.is_interleaved = True


def to_image(image: PartialPlan, _part: Any) -> None:
    if image.form == "pil":
        image.plan.is_interleaved = True
    image.form = "tensor"
    image.plan.is_tv_image = True


def to_pure_tensor(image: PartialPlan, _part: Any) -> None:
    image.plan.is_tv_image = False


def leave_alone(image: PartialPlan, _part: Any) -> None:
    """Identity, and RGB on what is RGB already."""


def to_float(image: PartialPlan, wanted: Any, *, scale: bool, by_reciprocal: bool) -> None:
    if image.form == "pil":
        raise NotLowerable("has no effect on a PIL image")
    name = str(wanted).removeprefix("torch.")
    if name == image.plan.dtype:
        return
    if image.plan.noise is not None:
        raise NotLowerable(f"conversion to {name} after GaussianNoise")
    if name not in ("float32", "float16", "bfloat16") or image.plan.erasing is not None:
        raise NotLowerable(f"conversion from {image.plan.dtype} to {name} at this place")
    if not image.is_float:
        if name != "float32":
            raise NotLowerable(f"{name} straight from uint8 is computed in {name}: go by float32")
        image.plan.scale_to_unit = scale
        image.plan.scale_by_reciprocal = scale and by_reciprocal
    elif image.plan.dtype != "float32":
        raise NotLowerable(f"conversion from {image.plan.dtype} to {name}")
    image.plan.dtype = name  # type: ignore[assignment]


def convert_image_dtype(image: PartialPlan, part: Any) -> None:
    is_v2 = ".v2." in type(part).__module__
    to_float(image, part.dtype, scale=True, by_reciprocal=is_v2)


def to_dtype(image: PartialPlan, part: Any) -> None:
    if isinstance(part.dtype, dict):
        raise NotLowerable("a type per kind of input")
    to_float(image, part.dtype, scale=bool(part.scale), by_reciprocal=True)


def normalize(image: PartialPlan, part: Any) -> None:
    if image.plan.dtype != "float32":
        raise NotLowerable(f"Normalize on {image.plan.dtype} pixels")
    if image.plan.mean is not None:
        raise NotLowerable("a second Normalize")
    mean, std = channels(part.mean, "mean"), channels(part.std, "std")
    if not all(math.isfinite(value) and value > 0 for value in std):
        raise NotLowerable(f"a standard deviation of {min(std)}")
    erasing = image.plan.erasing
    if erasing is not None:
        if erasing.value is None:
            raise NotLowerable("Normalize after RandomErasing with noise")
        red, green, blue = (
            (value - m) / s for value, m, s in zip(erasing.value, mean, std, strict=True)
        )
        erasing.value = (red, green, blue)
    image.plan.mean, image.plan.std = mean, std


def gaussian_noise(image: PartialPlan, part: Any) -> None:
    if image.form == "pil" or image.plan.dtype != "float32" or image.geometry is None:
        raise NotLowerable("GaussianNoise on other than float32 pixels of a known size")
    if image.plan.noise is not None or image.plan.erasing is not None:
        raise NotLowerable("GaussianNoise a second time, or after RandomErasing")
    mean, sigma = float(part.mean), float(part.sigma)
    if not (abs(mean) <= 1e6 and 0 <= sigma <= 1e6):
        raise NotLowerable(f"mean={part.mean}, sigma={part.sigma}")
    image.plan.noise = Noise(mean, sigma, bool(part.clip), image.plan.mean is not None)


def add_erasing(image: PartialPlan, erasing: Erasing) -> None:
    """At the end.

    Raises:
        NotLowerable: the image is not what the engine erases rectangles of.
    """
    if not image.is_float:
        raise NotLowerable("RandomErasing on what is not a floating-point tensor")
    if image.geometry is None or image.plan.erasing is not None:
        raise NotLowerable("RandomErasing before the size is known, or a second one")
    image.plan.erasing = erasing


def random_erasing(image: PartialPlan, part: Any) -> None:
    value = part.value
    if isinstance(value, str):
        value = None
    elif isinstance(value, int | float):
        value = [value]
    erasing = Erasing(
        float(part.p),
        pair(part.scale),
        pair(part.ratio),
        None if value is None else channels(value, "value"),
    )
    add_erasing(image, erasing)


#: By class name; both torchvision.transforms and torchvision.transforms.v2 have most of them.
READERS: dict[str, Callable[[PartialPlan, Any], None]] = {
    "ToTensor": to_tensor,
    "PILToTensor": to_uint8_tensor,
    "ToImage": to_image,
    "ToPureTensor": to_pure_tensor,
    "Identity": leave_alone,
    "RGB": leave_alone,
    "ConvertImageDtype": convert_image_dtype,
    "ToDtype": to_dtype,
    "Normalize": normalize,
    "GaussianNoise": gaussian_noise,
    "RandomErasing": random_erasing,
}
