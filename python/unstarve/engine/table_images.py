"""Images of a table's column, in the engine: whether it can load them, and the compiled loader."""

from __future__ import annotations

import io
import sys
from typing import Any

from unstarve.errors import UnstarveError
from unstarve.lowering.tables.data_set import TableImages, TableRows
from unstarve.lowering.work import Work

#: So many rows, evenly spread, are looked at,
_LOOKED_AT = 64
#: of which so many may be such as only Python loads.
_OTHERS_RATIO_MAX = 0.05
#: So many images are compared with those that the data set gives.
_COMPARED = 3


def table_obstacle(work: Work, dataset: Any) -> str | None:
    """Why the engine cannot load the column, or None. Some rows are looked at, once."""
    if work.rows is None:
        return None
    images = work.rows.images
    seen = (str(dataset._fingerprint), work.rows.only_rgb)
    if seen not in images.obstacles:
        try:
            images.obstacles[seen] = _look(work.rows, dataset)
        except (UnstarveError, ImportError, ValueError) as error:
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


def _look(rows: TableRows, dataset: Any) -> str | None:
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
    return None


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
