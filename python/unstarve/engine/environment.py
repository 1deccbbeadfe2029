"""What the environment may say to a script of which only the import was changed."""

from __future__ import annotations

import functools
import os
import re
import tempfile
import warnings
from pathlib import Path

from unstarve.errors import InvalidArgumentError

_UNITS = "KMGT"
_SIZE = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*(?:([{_UNITS}])I?)?B?\s*", re.IGNORECASE | re.ASCII)
_MOST_BYTES = (1 << 63) - 1


def size_of(name: str) -> int | None:
    """The size in bytes that an environment variable names, or None where it is not set.

    Units are powers of 1024, as the command line has them: 64G, 64GB and 64GiB are the same.

    Raises:
        InvalidArgumentError: it is not a size.
    """
    text = os.environ.get(name)
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    if found is not None:
        number, unit = found.groups()
        scale = 1024 ** (_UNITS.index(unit.upper()) + 1) if unit else 1
        size = int(float(number) * scale) if "." in number else int(number) * scale
        if size <= _MOST_BYTES:
            return size
    raise InvalidArgumentError(
        f"{name} is {text!r}, which is not a size: give bytes as a number, with K, M, G or T for "
        f"powers of 1024, such as {name}=64G"
    )


def cache_folder() -> str:
    """The folder that UNSTARVE_CACHE_DIR names, made where it was not there; "" where there is
    none. One in which nothing can be kept is warned of, and the job goes on without copies."""
    folder = os.environ.get("UNSTARVE_CACHE_DIR", "")
    return folder if folder and _can_keep(folder) else ""


@functools.cache  # asked by each epoch and each worker process
def _can_keep(folder: str) -> bool:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = error.strerror or error
        warnings.warn(
            f"no copies are kept: UNSTARVE_CACHE_DIR={folder} cannot be written ({why})",
            stacklevel=2,
        )
        return False
    return True


__all__ = ["cache_folder", "size_of"]
