"""The training of train.py, fed by unstarve.ImageLoader: it reads shards too, and copies ahead.

unstarve pack DATA SHARDS && python examples/train_image_loader.py SHARDS
python examples/train_image_loader.py DATA --cache LOCAL_DIR
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from train import MEAN, STD, argument_parser, train
from unstarve import ImageLoader


class ColourPlanes:
    """Batches laid out as train.py's are: which kernels a GPU takes, and for how long, depends on
    it. (Left as they come, with channels last, they make the step shorter.)"""

    def __init__(self, loader: ImageLoader) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        for images, labels in self._loader:
            yield images.contiguous(), labels


if __name__ == "__main__":
    parser = argument_parser()
    parser.add_argument("--cache", help="keep copies of the images here, for later epochs")
    args = parser.parse_args()
    loader = ImageLoader(
        args.data,
        args.batch_size,
        shuffle=True,
        threads=args.workers or None,
        cache_dir=args.cache,
        device="cuda",  # in page-locked memory, copied while the batch before is computed
        normalize=(MEAN, STD),  # there: a quarter of the bytes crosses the bus
    )
    train(ColourPlanes(loader), args)
