"""Single images as they are behind the first transforms of a composition, made by the engine."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import sys
from collections.abc import Callable
from typing import Any

from unstarve.engine.native_options import ask_for_cache, most_pixels
from unstarve.engine.native_plan import native_plan
from unstarve.lowering.composition import Prefix


class PrefixImages:
    """Thread rule: one thread at a time."""

    def __init__(self, prefix: Prefix, files: Any = None) -> None:
        from unstarve import _native

        plan = prefix.plan
        options: Any = _native.LoaderOptions()
        interleaved = prefix.is_pil or plan.is_interleaved
        options.transform = native_plan(plan, "nhwc" if interleaved else "nchw")
        options.accept_damaged = True  # PIL takes what libjpeg makes of it
        options.max_pixels = most_pixels()
        if files is not None:
            ask_for_cache(options)
        self._native = _native.SampleLoader(options, files)
        if files is not None and multiprocessing.parent_process() is not None:
            # Copies that wait are written before the worker process ends.
            multiprocessing.util.Finalize(None, self._native.close, exitpriority=1)
        self.rest = prefix.rest
        self._height, self._width = plan.geometry.size
        self._make = self._as_pil if prefix.is_pil else self._as_tensor
        self._plan = plan
        self._pixels = bytearray(self._native.image_bytes)

    def of_file(self, path: str, epoch: int, index: int, repeat: int) -> Any:
        """A PIL image, or a tensor of shape 3 x H x W; errors.UnstarveError where the engine
        cannot read the file. The numbers say what is drawn."""

        def fill(out: Any) -> None:
            self._native.load(os.fsencode(path), epoch, index, repeat, out)

        return self._make(fill)

    def of_bytes(self, encoded: bytes, epoch: int, index: int) -> Any:
        """The same of a file that somebody has read."""

        def fill(out: Any) -> None:
            self._native.load_bytes(encoded, epoch, index, out)

        return self._make(fill)

    def _as_pil(self, fill: Callable[[Any], None]) -> Any:
        from PIL import Image

        fill(self._pixels)
        return Image.frombytes("RGB", (self._width, self._height), self._pixels)

    def _as_tensor(self, fill: Callable[[Any], None]) -> Any:
        torch = sys.modules["torch"]
        dtype = getattr(torch, self._plan.dtype)
        if self._plan.is_interleaved:
            image = torch.empty((self._height, self._width, 3), dtype=dtype)
            fill(image.view(-1).view(torch.uint8))
            image = image.permute(2, 0, 1)
        else:
            image = torch.empty((3, self._height, self._width), dtype=dtype)
            fill(image.view(-1).view(torch.uint8))
        if self._plan.is_tv_image:
            image = sys.modules["torchvision.tv_tensors"].Image(image)
        return image


__all__ = ["PrefixImages"]
