"""Names all that a data set's samples depend on: the code that makes them, what the data set holds,
the libraries' versions and the machine. Another name is another cache.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
import pickle
import platform
import sys
import types
from collections.abc import Iterable
from typing import Any

from unstarve.sample_cache.generators import is_generator
from unstarve.sample_cache.graph import Graph
from unstarve.sample_cache.libraries import KNOWN
from unstarve.sample_cache.noticing import FileMark

#: Of records and of what they are named by.
_FORMAT = 1
_SCRIPT = ("__main__", "__mp_main__")


class CannotNameError(Exception):
    """Something that samples depend on has no name that a later run could find again."""


def name_of(
    dataset: Any, graph: Graph, files: Iterable[FileMark], bytes_most: float = math.inf
) -> str:
    """Thirty-two letters and digits. `bytes_most`: that are looked at. Raises CannotNameError."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (_FORMAT, *_of_the_machine(), *_versions(), *map(tuple, files)):
        digest.update(repr(part).encode())
    digest.update(content_of(dataset, graph, bytes_most).encode())
    return digest.hexdigest()


def content_of(dataset: Any, graph: Graph, bytes_most: float = math.inf) -> str:
    """Of the code that makes the samples and all that it may read in this process: equal for a copy
    in another process of this run. Raises CannotNameError."""
    digest = hashlib.blake2b(str(len(dataset)).encode(), digest_size=16)
    for code in sorted(map(_code_text, graph.codes)):
        digest.update(code.encode())
    budget = _Budget(bytes_most)
    items = [("", dataset), *graph.values]
    # In no order: names are found in another one by another process.
    for item in sorted(_item_text(name, item, budget) for name, item in items):
        digest.update(item.encode())
    return digest.hexdigest()


def _of_the_machine() -> list[str]:
    torch = sys.modules["torch"]
    capability = getattr(torch.backends, "cpu", None)
    return [
        platform.machine(),
        platform.python_version(),
        "" if capability is None else capability.get_cpu_capability(),
        str(torch.get_default_dtype()),
    ]


def _versions() -> list[str]:
    found = []
    for name in sorted(KNOWN & sys.modules.keys()):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} {getattr(sys.modules[name], '__version__', '')}")
    return found


def _code_text(code: types.CodeType) -> str:
    """What it does, wherever it stands in its file."""
    constants = [
        _code_text(part) if isinstance(part, types.CodeType) else _constant_text(part)
        for part in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return repr((code.co_name, code.co_code, constants, names, code.co_flags))


def _constant_text(constant: Any) -> str:
    if isinstance(constant, frozenset):  # whose order is another one in another process
        return repr(sorted(map(repr, constant)))
    return repr(constant)


class _Budget:
    """Bytes that may be looked at, of all items together."""

    def __init__(self, bytes_most: float) -> None:
        self._left = bytes_most

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise CannotNameError("it is too large to be looked at")


class _Digesting:
    """A file that keeps nothing of what is written to it."""

    def __init__(self, digest: Any, budget: _Budget) -> None:
        self._digest = digest
        self._budget = budget

    def write(self, data: Any) -> int:
        count = memoryview(data).nbytes
        self._budget.take(count)
        self._digest.update(data)
        return count


class _Pickler(pickle.Pickler):
    """Without a copy of arrays and tensors, which may be as large as memory."""

    def __init__(self, digest: Any, budget: _Budget) -> None:
        self._file = _Digesting(digest, budget)

        def take(buffer: pickle.PickleBuffer) -> None:
            self._file.write(buffer.raw())

        super().__init__(self._file, protocol=5, buffer_callback=take)

    def persistent_id(self, item: Any) -> Any:
        # The script's module has another name in a process that is spawned.
        if isinstance(item, (type, types.FunctionType)) and item.__module__ in _SCRIPT:
            found: Any = sys.modules.get(item.__module__)
            for name in item.__qualname__.split("."):
                found = getattr(found, name, None)
            if found is item:
                return item.__qualname__
        return None

    def reducer_override(self, item: Any) -> Any:
        torch = sys.modules["torch"]
        if is_generator(item):  # nothing is kept of what draws; many are seeded by the clock
            return str, (type(item).__qualname__,)
        if type(item) is torch.Tensor and item.device.type == "cpu" and not item.requires_grad:
            plain = item.contiguous()
            self._file.write(memoryview(plain.reshape(-1).view(torch.uint8).numpy()))
            return str, (f"{item.dtype} {tuple(item.shape)}",)
        return NotImplemented


def _item_text(name: str, item: Any, budget: _Budget) -> str:
    digest = hashlib.blake2b(digest_size=16)
    try:
        _Pickler(digest, budget).dump(item)
    except Exception as error:
        raise CannotNameError(f"{name or 'it'} cannot be pickled ({error})") from error
    return f"{name} {digest.hexdigest()}"


__all__ = ["CannotNameError", "content_of", "name_of"]
