"""transformers' image processors whose steps are transformers' own: those of its torchvision
backend of version 5."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

from unstarve.lowering import geometry, values
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan

MODULE = "transformers.image_processing_backends"
_CLASS = "TorchvisionBackend"
#: What leads from a call to the pixels.
_STEPS = (
    "__call__",
    "preprocess",
    "_preprocess_image_like_inputs",
    "_prepare_image_like_inputs",
    "process_image",
    "_preprocess",
    "resize",
    "center_crop",
    "rescale_and_normalize",
    "normalize",
    "_fuse_mean_std_and_rescale_factor",
)
#: Of Pillow and torchvision: whether it is bicubic.
RESAMPLINGS = {2: False, 3: True, "bilinear": False, "bicubic": True}


@dataclass(frozen=True, eq=False)
class Processed:
    """A step: what a processor makes of one image, as a tensor of torch."""

    processor: Any

    def __repr__(self) -> str:
        return type(self.processor).__name__


def backend() -> Any:
    """The class, where this process has imported it."""
    return getattr(sys.modules.get(MODULE), _CLASS, None)


def has_own_steps(processor: Any) -> bool:
    """Whether neither its class nor itself has other steps than the backend."""
    kind = type(processor)
    base = backend()
    own = [name for name in _STEPS if getattr(kind, name, None) is not getattr(base, name, None)]
    return not own and not vars(processor).keys() & set(_STEPS)


def is_processor(part: Any) -> bool:
    base = backend()
    return base is not None and isinstance(part, base)


def processed(image: PartialPlan, part: Processed) -> None:
    """Adds what the processor does to an RGB image: it is resized to one size, and normalised."""
    processor = part.processor
    if not has_own_steps(processor) or not _is_transformers():
        raise NotLowerable("it has steps of its own")
    if image.form != "pil" or image.geometry is not None or image.pending_resize is not None:
        raise NotLowerable("comes after other transforms")
    others = {name for name, value in vars(processor).items() if _does_more(name, value)}
    if others:
        raise NotLowerable(f"{', '.join(sorted(others))} is set")
    geometry.resize(image, _resize_of(processor))
    values.to_uint8_tensor(image, part)
    values.to_float(image, "float32", scale=True, by_reciprocal=False)
    values.normalize(image, SimpleNamespace(mean=processor.image_mean, std=processor.image_std))


#: They must be on.
_WANTED = ("do_resize", "do_rescale", "do_normalize")


def _does_more(name: str, value: Any) -> bool:
    if name in _WANTED:
        return value is not True
    if name == "rescale_factor":
        return bool(value != 1 / 255)
    is_switch = name.startswith("do_") and name != "do_convert_rgb"
    return bool(value) if is_switch or name in ("device", "data_format") else False


def _resize_of(processor: Any) -> Any:
    size = processor.size
    others = {name for name, value in vars(size).items() if value is not None}
    if others != {"height", "width"}:
        raise NotLowerable("it gives images of different shapes, or crops them")
    resample = getattr(processor.resample, "value", processor.resample)
    if resample not in RESAMPLINGS:
        raise NotLowerable(f"resampling {resample!r}: only bilinear and bicubic run natively")
    return SimpleNamespace(
        size=[size.height, size.width],
        max_size=None,
        interpolation="bicubic" if RESAMPLINGS[resample] else "bilinear",
        antialias=True,
    )


def _is_transformers() -> bool:
    """Whether the backend's steps are what transformers wrote."""
    for name in _STEPS:
        step = getattr(backend(), name, None)
        if not isinstance(step, FunctionType):  # behind functools.lru_cache
            step = getattr(step, "__wrapped__", None)
        step = getattr(step, "unstarve_original", step)  # which we exchange in our workers
        if not isinstance(step, FunctionType):
            return False
        if not str(step.__globals__.get("__name__")).startswith("transformers."):
            return False
    return True


__all__ = [
    "MODULE",
    "RESAMPLINGS",
    "Processed",
    "backend",
    "has_own_steps",
    "is_processor",
    "processed",
]
