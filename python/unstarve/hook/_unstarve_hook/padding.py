"""How much of a loader's batches of token ids is padding that no sample of the batch needs.

Texts that are padded to a fixed length (`padding="max_length"`) take the model as long as ones that
have it. Padding each batch to its longest text gives the same with fewer columns.
"""

from __future__ import annotations

import sys
from typing import Any

from . import dataset_words
from .recorder import RECORDER

_MASK = "attention_mask"
#: Shorter rows are no texts.
_FEWEST_COLUMNS = 16
#: A batch of fewer samples may be short by chance.
_FEWEST_ROWS = 2
#: Larger batches would take long to look at.
_MOST_NUMBERS = 1 << 22
#: Token ids reach further; pixels, classes and flags, which may end in zeros, do not.
_FEWEST_IDS = 256
#: It is said after so many batches that could be looked at, and again after so many.
_SAID_AFTER = (2, 8)
#: Of any kind; then no more are looked at.
_MOST_BATCHES = 16

#: By the loader's number. A pass may have a batch or two: those after it count too.
_of_loaders: dict[int, Padding] = {}
RECORDER.after_fork.append(_of_loaders.clear)


def of_pass(loader_id: int) -> Padding | None:
    """None where enough of the loader's batches were looked at."""
    padding = _of_loaders.setdefault(loader_id, Padding(loader_id))
    return None if padding.is_known else padding


class Padding:
    """Of one loader. Keeps numbers of its first batches, and none of their memory."""

    def __init__(self, loader_id: int) -> None:
        self.is_known = False
        self._loader_id = loader_id
        self._batches = 0
        self._looked_at = 0
        self._columns = 0
        self._needed = 0

    def got(self, batch: Any) -> bool:
        """Is given the first batches. Whether it has to be given more."""
        try:
            self._batches += 1
            columns = _columns_of(batch)
            if columns is not None:
                self._looked_at += 1
                self._columns += columns[0]
                self._needed += columns[1]
                if self._looked_at in _SAID_AFTER:
                    dataset_words.add(self._loader_id, columns=[self._columns, self._needed])
            texts = columns is not None or self._batches > 1
            enough = self._looked_at >= _SAID_AFTER[-1] or self._batches >= _MOST_BATCHES
            self.is_known = enough or not texts
        except Exception as error:
            self.is_known = True
            RECORDER.note_error(error)
        return not self.is_known


def _columns_of(batch: Any) -> tuple[int, int] | None:
    """How many columns a batch of texts has, and how many of them some text needs; None where it is
    no batch of texts, or nobody can tell."""
    kind = type(batch)
    if callable(getattr(kind, "get", None)) and callable(getattr(kind, "values", None)):
        mask = batch.get(_MASK)
        if mask is not None:
            table = _table(mask)
            return None if table is None else _needed(table != 0)
        batch = next(iter(batch.values()), None)
    elif isinstance(batch, (list, tuple)):
        batch = batch[0] if batch else None
    ids = _table(batch)
    if ids is None or int(ids.max()) - int(ids.min()) < _FEWEST_IDS:
        return None
    # Without a mask: a padded text ends, or begins, with one id again and again.
    both = (_needed(ids != ids[0, -1]), _needed(ids != ids[0, 0]))
    return min(both, key=lambda columns: columns[1])


def _table(part: Any) -> Any:
    """Its numbers, as numpy's: torch would start threads for a large one. None where it is none of
    texts."""
    torch: Any = sys.modules["torch"]
    if (
        "numpy" not in sys.modules
        or not isinstance(part, torch.Tensor)
        or part.device.type != "cpu"
        or part.layout != torch.strided
        or part.dim() != 2
        or part.is_floating_point()
        or part.shape[0] < _FEWEST_ROWS
        or part.shape[1] < _FEWEST_COLUMNS
        or part.numel() > _MOST_NUMBERS
    ):
        return None
    return part.detach().numpy()


def _needed(is_text: Any) -> tuple[int, int]:
    """Between the first and the last column in which a text has anything."""
    columns = is_text.any(0).nonzero()[0]
    width = int(is_text.shape[1])
    return width, int(columns[-1] - columns[0]) + 1 if len(columns) else width
