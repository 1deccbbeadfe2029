"""Whether the workers of an iterable data set give the same samples: each of them iterates over all
of it, unless it divides itself by torch.utils.data.get_worker_info()."""

from __future__ import annotations

import sys
import zlib
from typing import Any

from . import dataset_words
from .recorder import RECORDER

_MAP_STYLE = 0
#: A batch has fewer parts that tell anything.
_MOST_PARTS = 8
#: Of each part; more tell nothing more.
_MOST_NUMBERS = 1 << 16
#: Fewer may be alike by chance, as labels are.
_FEWEST_NUMBERS = 8


#: Loaders whose workers were compared, by their numbers.
_compared: set[int] = set()
RECORDER.after_fork.append(_compared.clear)


def of_pass(loader: Any, loader_id: int) -> Repeats | None:
    """None where it is known already, or its first batches do not come from one worker each."""
    is_stream = getattr(loader, "_dataset_kind", _MAP_STYLE) != _MAP_STYLE
    in_order = getattr(loader, "in_order", True)
    if not is_stream or loader.num_workers < 2 or not in_order or loader_id in _compared:
        return None
    return Repeats(loader_id, loader.num_workers)


class Repeats:
    """Of one pass over a loader. Keeps sums of its first batches, and none of their memory."""

    def __init__(self, loader_id: int, workers: int) -> None:
        self._loader_id = loader_id
        self._workers = workers
        self._batches = 0
        self._sums: list[list[Any]] = []

    def got(self, batch: Any) -> bool:
        """Is given the first batches: one of each worker, and the first one's second. Says in the
        ring's text whether the first two are the same, if that is known. Whether it has to be
        given more."""
        try:
            number, self._batches = self._batches, self._batches + 1
            if number in (0, 1, self._workers):
                self._sums.append([_sum(part) for part in _parts(batch)])
            if number < self._workers:
                return True
            _compared.add(self._loader_id)
            # A part that is alike in two batches of one worker, as positions are, tells nothing.
            told = [
                first == second
                for first, second, third in zip(*self._sums)
                if None not in (first, second, third) and first != third
            ]
            # Transforms draw other numbers in each worker: a part that is the same tells it all.
            if told:
                dataset_words.add(self._loader_id, workers_repeat=any(told))
        except Exception as error:
            RECORDER.note_error(error)
        return False


def _parts(batch: Any) -> list[Any]:
    values = list(batch.values()) if isinstance(batch, dict) else batch
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if parts and all(isinstance(one, str) for one in parts):
        return [parts]
    return parts[:_MOST_PARTS]


def _sum(part: Any) -> Any:
    """None where it is not known, or would be the same in batches of other samples."""
    torch: Any = sys.modules["torch"]
    if isinstance(part, (list, tuple)):
        texts = [one for one in part if isinstance(one, str)]
        return tuple(texts) if len(set(texts)) >= _FEWEST_NUMBERS // 2 else None
    if not isinstance(part, torch.Tensor) or part.device.type != "cpu" or part.is_sparse:
        return None
    flat = part.detach().reshape(-1)[:_MOST_NUMBERS]
    if flat.numel() < _FEWEST_NUMBERS or bool((flat == flat[0]).all()):
        return None
    octets = flat.contiguous().view(torch.uint8).numpy().tobytes()
    return tuple(part.shape), str(part.dtype), zlib.crc32(octets)
