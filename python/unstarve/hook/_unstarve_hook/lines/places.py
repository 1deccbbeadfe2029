"""Whose code a file holds, and what a place in it is called: `train.py:57`, `cell 3:8`."""

from __future__ import annotations

import os
import sys
from typing import Any

from .. import started_in as _started_in

#: What the code of a file is.
USERS, LIBRARY, OURS = 0, 1, 2

#: Travels to spawned workers, which may start elsewhere, with `multiprocessing`'s configuration.
_DIRECTORY_KEY = "unstarve_directory"
_OUR_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
#: Libraries also where they are imported from a checkout of theirs.
_KNOWN = ("torch", "torchvision", "numpy", "PIL", "unstarve")

_kinds: dict[str, int] = {}


def kind_of(file: str) -> int:
    """Of the file that a code object names."""
    kind = _kinds.get(file)
    if kind is None:
        kind = _kinds[file] = _find_kind(file)
    return kind


def _find_kind(file: str) -> int:
    if file.startswith(_OUR_FOLDER) or "_unstarve_hook" in file:
        return OURS
    if _is_cell(file):
        return USERS
    if file.startswith(("<", _STANDARD_LIBRARY)) or any(part in file for part in _INSTALLED):
        return LIBRARY
    return LIBRARY if _known_package(file) else USERS


def _known_package(file: str) -> bool:
    for name in _KNOWN:
        init = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(init, str) and file.startswith(os.path.dirname(init) + os.sep):
            return True
    return False


def _is_cell(file: str) -> bool:
    if file.startswith("<ipython-input-"):
        return True
    return os.path.basename(os.path.dirname(file)).startswith("ipykernel_")


def place(file: str, line: int) -> str:
    """Files below the directory in which the job started are named from there on."""
    return f"{_cell(file) or _from_start(file)}:{line}"


def _cell(file: str) -> str:
    """`cell 3` for the third cell that a notebook ran; empty for what is no cell."""
    if not _is_cell(file):
        return ""
    shell: Any = sys.modules.get("IPython")
    try:
        number = shell.get_ipython().compile._filename_map[file]
    except Exception:  # An IPython that keeps no such list: old ones put it into the name.
        number = file.rpartition("<ipython-input-")[2].partition("-")[0]
    return f"cell {number}" if str(number).isdigit() else "notebook cell"


def _from_start(file: str) -> str:
    base = directory()
    whole = os.path.normpath(os.path.join(base, file))
    if base and whole.startswith(base.rstrip(os.sep) + os.sep):
        return whole[len(base.rstrip(os.sep)) + 1 :]
    return whole if os.path.isabs(whole) else file


def directory() -> str:
    """In which the job started; empty where nobody knows."""
    found = _configuration().get(_DIRECTORY_KEY, _started_in)
    return found if isinstance(found, str) else ""


def tell_workers() -> None:
    """Leaves the directory where workers that are about to start will find it."""
    _configuration()[_DIRECTORY_KEY] = directory()


def _configuration() -> dict[str, Any]:
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return {}
    configuration: dict[str, Any] = process.current_process()._config
    return configuration


def library_name(file: str) -> str:
    """`PIL/Image.py`, `queue.py`: a library's file as its readers know it."""
    for part in _INSTALLED:
        _, found, rest = file.rpartition(part + os.sep)
        if found:
            return rest
    if file.startswith(_STANDARD_LIBRARY):
        return file[len(_STANDARD_LIBRARY) :]
    return os.sep.join(file.split(os.sep)[-2:])
