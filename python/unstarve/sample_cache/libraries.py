"""What is known of code that is not the user's."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path

#: Packages whose functions give the same for the same arguments and draw, if at all, from the
#: generators that are watched. Their Python is not read.
KNOWN = frozenset(
    [
        *("torch", "torchvision", "torchaudio", "numpy", "PIL", "cv2", "scipy", "pandas"),
        *("sklearn", "skimage", "h5py", "pyarrow", "datasets", "tokenizers", "transformers"),
        *("librosa", "soundfile", "_soundfile_data", "cffi", "_cffi_backend", "numba", "einops"),
        *("albumentations", "albucore", "audiomentations", "tqdm", "regex", "ftfy", "lxml"),
        *("unstarve", "_unstarve_hook", "msgpack", "orjson", "yaml", "tifffile", "imageio"),
        *("networkx", "shapely", "stringzilla", "simsimd", "numkong", "pydantic", "pydantic_core"),
        *("numpy_minmax", "_numpy_minmax", "numpy_rms", "_numpy_rms", "python_stretch"),
    ]
)

#: What objects of a library note of their last call, and nobody reads in the next one. Of classes
#: of the library's own, by its name.
NOTES = {
    "albumentations": frozenset(("params", "_images_was_list", "_masks_was_list")),
    "audiomentations": frozenset(("parameters",)),
}

_STANDARD = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
_OURS = tuple(
    f"{path}/" for path in (Path(__file__).parents[1], Path(__file__).resolve().parents[1])
)
_PACKAGES = ("site-packages", "dist-packages")


def top_name(module: str | None) -> str:
    return (module or "").partition(".")[0]


def is_known_module(module: str | None) -> bool:
    name = top_name(module)
    return name in KNOWN or name in sys.stdlib_module_names


@cache
def is_ours(path: str) -> bool:
    return path.startswith(_OURS)


@cache
def is_known_file(path: str) -> bool:
    """Whether code of that file is of the standard library or of a known package."""
    if path.startswith("<frozen"):
        return True
    parts = Path(path).parts
    for name in _PACKAGES:
        if name in parts:
            after = parts[parts.index(name) + 1 :]
            return bool(after) and after[0].removesuffix(".py") in KNOWN
    return path.startswith(_STANDARD) or is_ours(path)


__all__ = ["KNOWN", "NOTES", "is_known_file", "is_known_module", "is_ours", "top_name"]
