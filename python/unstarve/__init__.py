"""unstarve: feeds a GPU training job, and says why it starves.

Importing the package loads nothing compiled; names that need the compiled half load it when they
are first used.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as a type checker takes it: `typing` alone would take most of the import
if TYPE_CHECKING:
    from typing import Any

    from unstarve.dataloader import DataLoader
    from unstarve.device.to_device import to_device
    from unstarve.engine.image_files import imread, open_image
    from unstarve.loader import ImageFolderLoader, ImageLoader, LoaderError
    from unstarve.notebook.shown import compare, report
    from unstarve.sample_cache.dataset import cached
    from unstarve.watching.watch import watch

__version__ = "0.1.0"

# Where each public name lives; loaded on first use.
_HOME = {
    "DataLoader": "unstarve.dataloader",
    "ImageFolderLoader": "unstarve.loader",  # the earlier name of ImageLoader
    "ImageLoader": "unstarve.loader",
    "LoaderError": "unstarve.loader",
    "cached": "unstarve.sample_cache.dataset",
    "compare": "unstarve.notebook.shown",
    "imread": "unstarve.engine.image_files",
    "open_image": "unstarve.engine.image_files",
    "report": "unstarve.notebook.shown",
    "to_device": "unstarve.device.to_device",
    "watch": "unstarve.watching.watch",
}

__all__ = [
    "DataLoader",
    "ImageFolderLoader",
    "ImageLoader",
    "LoaderError",
    "__version__",
    "cached",
    "compare",
    "imread",
    "open_image",
    "report",
    "to_device",
    "watch",
]


def __getattr__(name: str) -> Any:
    """Loads a public name from its module the first time it is asked for."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'unstarve' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
