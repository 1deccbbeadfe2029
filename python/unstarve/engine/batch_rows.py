"""How the engine's images become what the loop gets, and rows of a data set's Python fit in."""

from __future__ import annotations

import sys
from array import array
from typing import Any, Protocol

import torch

from unstarve.lowering.tables.collation import Stacked
from unstarve.lowering.tables.data_set import TableRows
from unstarve.lowering.work import Work


class Rows(Protocol):
    """Of one kind of data set."""

    def batch(self, images: Any, labels: Any, files: array[int]) -> Any:
        """What the loop gets, where all rows are images of the engine's shape and type."""

    def fill(self, images: Any, labels: Any, row: int, sample: Any) -> None:
        """Puts a sample that fits among the engine's rows."""

    def fits(self, sample: Any, images: Any) -> bool:
        """Whether a sample of the data set is what the engine's rows are, so that the batch is what
        torch makes of them."""

    def sample(self, images: Any, labels: Any, files: array[int], row: int) -> Any:
        """One of the engine's rows as the data set would have given it."""


def rows_of(work: Work) -> Rows:
    return PairRows(work.plan.is_tv_image) if work.rows is None else DictRows(work)


class PairRows:
    """(image, label)."""

    def __init__(self, is_tv_image: bool) -> None:
        self._make = sys.modules["torchvision.tv_tensors"].Image if is_tv_image else _as_it_is

    def batch(self, images: Any, labels: Any, _files: array[int]) -> Any:
        return [images, labels]

    def fill(self, images: Any, labels: Any, row: int, sample: Any) -> None:
        images[row], labels[row] = sample

    def fits(self, sample: Any, images: Any) -> bool:
        if type(sample) is not tuple or len(sample) != 2 or type(sample[1]) is not int:
            return False
        return _is_like(sample[0], images)

    def sample(self, images: Any, labels: Any, _files: array[int], row: int) -> Any:
        return self._make(images[row]), int(labels[row])


class DictRows:
    """A dict of an image and of numbers, which stand in columns of a table."""

    def __init__(self, work: Work) -> None:
        assert work.rows is not None
        self._rows: TableRows = work.rows
        self._is_tv_image = work.plan.is_tv_image

    def batch(self, images: Any, _labels: Any, files: array[int]) -> Any:
        return self._formed(self._rows.form, images, torch.tensor(files, dtype=torch.int64))

    def _formed(self, form: Any, images: Any, files: Any) -> Any:
        if isinstance(form, dict):
            return {key: self._formed(part, images, files) for key, part in form.items()}
        if isinstance(form, list | tuple):
            return type(form)(self._formed(part, images, files) for part in form)
        if isinstance(form, Stacked):
            return images
        return self._rows.values[form][files]

    def fill(self, images: Any, _labels: Any, row: int, sample: Any) -> None:
        images[row] = sample[self._rows.image_key]

    def fits(self, sample: Any, images: Any) -> bool:
        return type(sample) is dict and _is_like(sample.get(self._rows.image_key), images)

    def sample(self, images: Any, _labels: Any, files: array[int], row: int) -> Any:
        values = self._rows.values
        numbers = {key: values[leaf][files[row]].item() for key, leaf in self._rows.keys.items()}
        image = images[row]
        if self._is_tv_image:
            image = sys.modules["torchvision.tv_tensors"].Image(image)
        return {**numbers, self._rows.image_key: image}


def _as_it_is(image: Any) -> Any:
    return image


def _is_like(image: Any, images: Any) -> bool:
    return (
        isinstance(image, torch.Tensor)
        and image.shape == images.shape[1:]
        and image.dtype == images.dtype
        and not image.requires_grad
    )


__all__ = ["Rows", "rows_of"]
