"""Images of a table's column, in the engine: whether it can load them, and the compiled loader."""

from __future__ import annotations

import io
import sys
from typing import Any

import torch

from unstarve.engine.prefix_images import PrefixImages
from unstarve.errors import UnstarveError
from unstarve.lowering.composition import Prefix
from unstarve.lowering.plan import Plan
from unstarve.lowering.tables.data_set import TableImages, TableRows
from unstarve.lowering.work import Work

#: So many rows, evenly spread, are looked at,
_LOOKED_AT = 64
#: of which so many may be such as only Python loads.
_OTHERS_RATIO_MAX = 0.05
#: So many images are compared with those that the data set gives.
_COMPARED = 3
#: Of 255: results of two decoders and resizers.
_NEAR = 2.5


def table_obstacle(work: Work, dataset: Any) -> str | None:
    """Why the engine cannot load the column, or None. Some rows are looked at, once."""
    if work.rows is None:
        return None
    images = work.rows.images
    plan = repr(work.plan) if work.rows.compares_results else None
    seen = (str(dataset._fingerprint), work.rows.only_rgb, plan)
    if seen not in images.obstacles:
        try:
            images.obstacles[seen] = _look(work, work.rows, dataset)
        except Exception as error:  # of `datasets` or of the user's function, too
            images.obstacles[seen] = f"column {images.column}: {error}"
    return images.obstacles[seen]


def compiled_images(images: TableImages) -> Any:
    """The compiled half's view of the column, which all loaders of it share.

    Raises:
        UnstarveError: it is not a column of images, or its arrays do not fit together.
    """
    if images.compiled is None:
        from unstarve import _native

        images.compiled = _native.ArrowImages(images.stream())
    return images.compiled


def _look(work: Work, rows: TableRows, dataset: Any) -> str | None:
    compiled, column = compiled_images(rows.images), rows.images.column
    count = len(dataset)
    step = max(1, count // _LOOKED_AT)
    looked_at = range(0, count, step)[:_LOOKED_AT]
    files = [(index, _encoded(compiled, _row(dataset, index), rows)) for index in looked_at]
    readable = [(index, file) for index, file in files if file is not None]
    others = len(looked_at) - len(readable)
    if others > _OTHERS_RATIO_MAX * len(looked_at):
        colours = ", of other colours than RGB" if rows.only_rgb else ""
        return (
            f"column {column}: of {len(looked_at)} images that were looked at, {others} are such "
            f"as only Python loads: of other formats{colours}, turned by their EXIF, or not there"
        )
    for index, file in readable[:_COMPARED]:
        if not _is_same(file, _image(dataset, column, index), rows):
            return f"column {column}: the data set gives other pixels than its files have"
        if rows.compares_results and _differs(work.plan, file, dataset[index][rows.image_key]):
            return f"column {column}: the image processor gives other results than the engine"
    return None


def _differs(plan: Plan, file: bytes, expected: Any) -> bool:
    """Whether bytes are further apart than those of two resizers are."""
    from unstarve.engine.opened_image import FURTHER_MAX  # which needs Pillow

    own = PrefixImages(Prefix(plan, False, 0, ())).of_bytes(file, 0, 0)
    if not isinstance(expected, torch.Tensor) or expected.shape != own.shape:
        return True
    deviation = torch.tensor(plan.std).view(3, 1, 1)
    away = (own - expected).abs() * 255 * deviation
    return float((away > _NEAR).float().mean()) > FURTHER_MAX


def _row(dataset: Any, index: int) -> int:
    indices = dataset._indices
    return index if indices is None else int(indices.column(0)[index].as_py())


def _encoded(compiled: Any, row: int, rows: TableRows) -> bytes | None:
    try:
        file: bytes = compiled.encoded(row, rows.only_rgb)
    except UnstarveError:
        return None
    return file


def _image(dataset: Any, column: str, index: int) -> Any:
    """As the function given to set_transform() gets it."""
    row = dataset._getitem(
        index, format_type=None, format_columns=[column], output_all_columns=False, format_kwargs={}
    )
    return row[column]


def _is_same(file: bytes, image: Any, rows: TableRows) -> bool:
    pillow = sys.modules["PIL.Image"]
    with pillow.open(io.BytesIO(file)) as opened:
        own = opened.convert("RGB")
    if rows.only_rgb and image.mode != "RGB":
        return False
    other = image.convert("RGB")
    return bool(own.size == other.size and own.tobytes() == other.tobytes())


__all__ = ["compiled_images", "table_obstacle"]
