"""Columns of images of an Arrow table, which another library hands over."""

from __future__ import annotations

import gc
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_arrow import MadeColumn
from made_photos import make_photos
from PIL import Image
from unstarve import _native, errors


@pytest.fixture
def files(tmp_path: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(make_photos(tmp_path, 90, 70).iterdir())]


@pytest.mark.parametrize("kind", [b"z", b"Z"])
def test_rows_are_the_files(files: list[bytes], kind: bytes) -> None:
    column = MadeColumn(files, kind)
    images = _native.ArrowImages(column.__arrow_c_stream__())
    assert len(images) == 12
    assert [images.encoded(row) for row in range(12)] == files
    with pytest.raises(errors.InvalidArgumentError, match="row 12 of 12"):
        images.encoded(12)


def options(side: int) -> Any:
    made = _native.LoaderOptions()
    made.transform.geometry.kind = _native.GeometryPlan.Kind.resize
    made.transform.geometry.height = made.transform.geometry.width = side
    made.batch_size, made.shuffle = 12, False
    return made


def batch_of(loader: Any) -> Any:
    return loader.next(0)


def test_a_loader_reads_them_as_it_reads_files(files: list[bytes], tmp_path: Path) -> None:
    paths = sorted(tmp_path.iterdir())
    listed = _native.FileList(
        b"".join(bytes(path) + b"\0" for path in paths), np.zeros(12, dtype=np.int64)
    )
    column = MadeColumn(files)
    images = _native.ArrowImages(column.__arrow_c_stream__())
    loaders = [
        _native.open_list(options(32), listed),
        _native.open_arrow(options(32), images),
    ]
    batches = []
    for loader in loaders:
        loader.begin_epoch(0)
        pixels, labels = batch_of(loader)
        batches.append(np.from_dlpack(pixels).copy())
        assert not np.from_dlpack(labels).any()
    assert np.array_equal(*batches) and batches[0].any()
    del images, loaders, loader, pixels, labels
    gc.collect()
    assert column.released == 1


def test_a_column_lives_as_long_as_a_loader_reads_it(files: list[bytes]) -> None:
    column = MadeColumn(files)
    loader = _native.open_arrow(options(8), _native.ArrowImages(column.__arrow_c_stream__()))
    gc.collect()
    assert column.released == 0
    loader.begin_epoch(0)
    assert np.from_dlpack(batch_of(loader)[0]).shape[0] == 12
    del loader
    gc.collect()
    assert column.released == 1


def encoded(image: Any, kind: str, **more: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **more)
    return stream.getvalue()


def test_only_rgb_means_what_pillow_opens_so(files: list[bytes]) -> None:
    photo = Image.open(io.BytesIO(files[0]))
    made = [
        *files[:1],
        encoded(photo, "JPEG", progressive=True),
        *(encoded(photo.convert(mode), "JPEG") for mode in ("L", "CMYK")),
        *(encoded(photo.convert(mode), "PNG") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
        *(encoded(photo.convert(mode), "WEBP") for mode in ("RGB", "RGBA")),
        *(encoded(photo.convert(mode), "WEBP", lossless=True) for mode in ("RGB", "RGBA")),
    ]
    column = MadeColumn(made)
    images = _native.ArrowImages(column.__arrow_c_stream__())
    modes = []
    for row, file in enumerate(made):
        assert images.encoded(row) == file
        mode = Image.open(io.BytesIO(file)).mode
        modes.append(mode)
        if mode == "RGB":
            assert images.encoded(row, only_rgb=True) == file
        else:
            with pytest.raises(errors.NotSupportedError, match="other colours"):
                images.encoded(row, only_rgb=True)
    assert set(modes) == {"1", "CMYK", "L", "LA", "P", "RGB", "RGBA"}


def test_what_is_no_stream_of_images_is_refused(files: list[bytes]) -> None:
    kept = MadeColumn(files)
    stream = kept.__arrow_c_stream__()
    _native.ArrowImages(stream)
    with pytest.raises(ValueError, match="used up"):
        _native.ArrowImages(stream)
    for no_stream in (3, b"arrow_array_stream"):
        with pytest.raises(ValueError, match="PyCapsule"):
            _native.ArrowImages(no_stream)
    other = MadeColumn(files, b"i")
    with pytest.raises(errors.NotSupportedError, match="no `bytes` of type binary"):
        _native.ArrowImages(other.__arrow_c_stream__())
