"""The training of train.py, fed by unstarve.ImageLoader: it reads shards too, and copies ahead.

unstarve pack DATA SHARDS && python examples/train_image_loader.py SHARDS
python examples/train_image_loader.py DATA --cache LOCAL_DIR
"""

from __future__ import annotations

from train import MEAN, STD, argument_parser, train
from unstarve import ImageLoader

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
    train(loader, args)
