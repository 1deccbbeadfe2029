"""Which loaders' worker processes decode the images that the data set's own Python opens."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

#: 0: every image is Pillow's.
SWITCH = "UNSTARVE_NATIVE_IMAGES"
#: Its versions; others may do otherwise.
ALBUMENTATIONS = frozenset({"2.0.8"})


def opens_images() -> bool:
    """Whether there may be any that Pillow opens for torchvision."""
    loaded = "PIL.Image" in sys.modules and "torchvision.transforms" in sys.modules
    return loaded and _is_switched_on()


def reads_arrays() -> bool:
    """Whether there may be any that OpenCV reads for an albumentations that is known."""
    library = sys.modules.get("albumentations")
    is_known = getattr(library, "__version__", None) in ALBUMENTATIONS and "cv2" in sys.modules
    return is_known and importlib.util.find_spec("PIL") is not None and _is_switched_on()


def _is_switched_on() -> bool:
    return os.environ.get(SWITCH, "1") != "0"


class OpeningView:
    """A DataLoader as torch's iterators see it, whose worker processes do so."""

    def __init__(self, loader: Any) -> None:
        _import_what_workers_need()
        self._loader = loader
        self.worker_init_fn = _Start(loader.worker_init_fn)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _import_what_workers_need() -> None:
    """Those that are forked then have it already."""
    with contextlib.suppress(Exception):
        import unstarve._native
        import unstarve.engine.opened_images

        if "torchvision.tv_tensors" in sys.modules:
            import unstarve.engine.late_tensors  # noqa: F401


class _Start:
    """Of a worker process: behind the user's own `worker_init_fn`."""

    def __init__(self, function: Callable[[int], None] | None) -> None:
        self._function = function

    def __call__(self, worker: int) -> None:
        if self._function is not None:
            self._function(worker)
        with contextlib.suppress(Exception):  # the images are Pillow's then
            from unstarve.engine import opened_images

            opened_images.install()


__all__ = ["SWITCH", "OpeningView", "opens_images", "reads_arrays"]
