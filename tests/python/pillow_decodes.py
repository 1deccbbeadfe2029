"""How often Pillow decodes, in this process and in workers that are forked from it."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import ImageFile

_DECODED = [0]


def decodes() -> int:
    """Files until now, since counting began."""
    return _DECODED[0]


def count_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    load = ImageFile.ImageFile.load

    def counting(image: Any) -> Any:
        if image.tile:
            _DECODED[0] += 1
        return load(image)

    monkeypatch.setattr(ImageFile.ImageFile, "load", counting)
