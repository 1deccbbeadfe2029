"""What the compiled loader is told, from an ImageLoader's arguments."""

from __future__ import annotations

import os
from typing import Literal

from unstarve.image_loader.compiled import _native

OnErrorPolicy = Literal["raise", "skip", "replace"]
RankRemainder = Literal["pad", "drop"]

_ON_ERROR = {
    "raise": _native.OnError.raise_,
    "skip": _native.OnError.skip,
    "replace": _native.OnError.replace,
}


def native_options(
    root: str | os.PathLike[str],
    *,
    transform: _native.TransformPlan,
    threads: int | None,
    prefetch: int | None,
    rank_remainder: RankRemainder,
    on_error: OnErrorPolicy,
    cache_dir: str | os.PathLike[str] | None,
    **same: int,
) -> _native.LoaderOptions:
    """The arguments in `same` are called the same on both sides.

    Raises:
        ValueError: a policy that does not exist.
    """
    if on_error not in _ON_ERROR:
        raise ValueError(f"on_error is {on_error!r}, must be one of {sorted(_ON_ERROR)}")
    if rank_remainder not in ("pad", "drop"):
        raise ValueError(f"rank_remainder is {rank_remainder!r}, must be 'pad' or 'drop'")
    options = _native.LoaderOptions()
    options.root = os.fspath(root)
    options.transform = transform
    options.threads = 0 if threads is None else threads
    options.prefetch_batches = 0 if prefetch is None else prefetch
    options.rank_remainder = getattr(_native.RankRemainder, rank_remainder)
    options.on_error = _ON_ERROR[on_error]
    options.cache_dir = "" if cache_dir is None else os.fspath(cache_dir)
    for name, value in same.items():
        setattr(options, name, value)
    return options


def image_plan(
    size: int,
    *,
    train: bool,
    scale: tuple[float, float],
    ratio: tuple[float, float],
    flip: float,
    resize: int | None,
) -> _native.TransformPlan:
    """RandomResizedCrop and a flip for training; else Resize, by default to size * 256 / 224, and
    CenterCrop."""
    if not train:
        return _native.evaluation_crop(size, size * 256 // 224 if resize is None else resize)
    plan = _native.training_crop(size)
    plan.geometry.scale_min, plan.geometry.scale_max = scale
    plan.geometry.ratio_min, plan.geometry.ratio_max = ratio
    plan.geometry.horizontal_flip_probability = flip
    return plan
