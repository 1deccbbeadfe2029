"""The module that `unstarve run` watches for in a job: the name of the image loader to others."""

from __future__ import annotations

from unstarve.image_loader.loader import ImageFolderLoader, ImageLoader, LoaderError

__all__ = ["ImageFolderLoader", "ImageLoader", "LoaderError"]
