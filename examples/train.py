"""Trains ResNet-50 on a folder of images, the way a first script does it.

    python examples/train.py --data DIR               # DIR/CLASS/IMAGE.jpg
    python examples/train.py --data DIR --workers 4
    python examples/train.py --data DIR --loader unstarve
    python examples/train.py --data DIR --loader unstarve --copy-ahead
    python examples/train.py --data DIR --loader unstarve --cache LOCAL_DIR
    unstarve pack DIR SHARDS && python examples/train.py --data SHARDS --loader unstarve

Without a CUDA device it runs on unstarve's emulated A100, which takes the time of a real one and
computes nothing.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make_loader(args: argparse.Namespace, device: Any) -> Any:
    if args.loader == "unstarve":
        import unstarve

        ahead = {"device": device, "normalize": (MEAN, STD)} if args.copy_ahead else {}
        return unstarve.ImageLoader(
            args.data,
            args.batch_size,
            shuffle=True,
            threads=args.workers or None,
            cache_dir=args.cache,
            **ahead,
        )
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )
    dataset = datasets.ImageFolder(args.data, augment)
    return DataLoader(dataset, args.batch_size, shuffle=True, num_workers=args.workers)


def make_model(device_name: str) -> tuple[Any, Any, Callable[[Any], Any]]:
    """The model, its optimizer, and what brings a batch to the device."""
    if device_name.startswith("emulated-"):
        from unstarve import emulated

        gpu = emulated.Gpu(device_name[len("emulated-") :])
        print(f"{gpu.name}: takes the time of a real one, computes nothing (the loss is nan)")
        model = gpu.resnet50()
        return model, gpu.optimizer(model), gpu.upload
    model = models.resnet50().to(device_name)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    return model, optimizer, lambda batch: normalise(batch.to(device_name))


def normalise(batch: torch.Tensor) -> torch.Tensor:
    """Only pixels that came as bytes; the others were normalised by their transform."""
    if batch.dtype != torch.uint8:
        return batch
    mean = 255 * torch.tensor(MEAN, device=batch.device).view(3, 1, 1)
    std = 255 * torch.tensor(STD, device=batch.device).view(3, 1, 1)
    return (batch - mean) / std


def train(args: argparse.Namespace) -> None:
    device_name = args.device
    if device_name == "auto":
        device_name = "cuda" if torch.cuda.is_available() else "emulated-a100"
    model, optimizer, upload = make_model(device_name)
    criterion = torch.nn.CrossEntropyLoss()
    loader = make_loader(args, getattr(model, "device", device_name))
    if args.copy_ahead:
        upload = lambda batch: batch  # noqa: E731  (it is there already)
    start = logged = time.monotonic()
    step = images_seen = 0
    running_loss = 0.0
    for epoch in itertools.count():
        for images, labels in loader:
            loss = criterion(model(upload(images)), upload(labels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            step += 1
            images_seen += len(images)
            if step % 10 == 0:
                now = time.monotonic()
                rate = images_seen / (now - logged)
                print(f"epoch {epoch} step {step} loss {running_loss / 10:.3f} {rate:.0f} images/s")
                logged, images_seen, running_loss = now, 0, 0.0
            if step == args.steps or time.monotonic() - start > args.seconds:
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="one folder per class, or shards")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many (0: never)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--workers", type=int, default=0, help="unstarve: threads (0: it decides)")
    parser.add_argument("--loader", choices=["torch", "unstarve"], default="torch")
    copy_help = "copy the next batch while this one is computed; needs --loader unstarve"
    parser.add_argument("--copy-ahead", action="store_true", help=copy_help)
    parser.add_argument("--cache", help="unstarve's loader keeps what it read here")
    devices = ["auto", "cuda", "emulated-a100", "emulated-h100"]
    parser.add_argument("--device", choices=devices, default="auto")
    arguments = parser.parse_args()
    if arguments.copy_ahead and arguments.loader != "unstarve":
        parser.error("--copy-ahead needs --loader unstarve")
    train(arguments)
