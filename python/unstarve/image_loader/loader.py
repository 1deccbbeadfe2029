"""Feeds a training loop with batches of images, from a folder of JPEGs or what else holds them.

Reading, decoding, cropping and resizing happen in native threads; a batch reaches Python as views
of the memory it was decoded into. Order and random crops depend on (seed, epoch, index) alone, so
the number of threads does not change the data.

    loader = unstarve.ImageLoader("imagenet/train", 256, size=224)
    for epoch in range(90):
        loader.set_epoch(epoch)
        for images, labels in loader:        # uint8 NCHW (channels last), int64
            ...
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from unstarve.device.ahead import DeviceIterator, Progress, taking
from unstarve.device.lane import Normalize
from unstarve.device.open_lane import open_lane
from unstarve.errors import CancelledError, UnstarveError
from unstarve.image_loader.compiled import _native
from unstarve.image_loader.options import (
    OnErrorPolicy,
    RankRemainder,
    image_plan,
    native_options,
)
from unstarve.image_loader.output import Output, converter, pinning

LoaderError = UnstarveError


@dataclass(frozen=True)
class Crop:
    """The rectangle that is cut out of an image, and whether it is mirrored."""

    x: int
    y: int
    width: int
    height: int
    flip: bool


@dataclass(frozen=True)
class SampleFailure:
    """One sample that could not be loaded."""

    index: int
    epoch: int
    message: str  # names the file


class ImageLoader:
    """Batches of (images, labels) from a folder of images, a zip, tars, an array or shards.

    Classes are the sorted sub-folders, as in `torchvision.datasets.ImageFolder`; a folder with
    images and no sub-folders is one class. JPEG, PNG, WebP, BMP, TIFF and GIF are read; a
    folder with files of other formats is refused unless `skip_other_formats`, and names that
    end in .gif are passed over, as by torchvision.

    Images are uint8, N x 3 x size x size with channels-last memory: turn them into floats on the
    device (`images.to(device, non_blocking=True).float()`), where it is cheap and the copy is a
    quarter of the size. A batch's memory is reused when its last tensor is gone; a consumer that
    keeps batches gets new memory for each further one.

    Args:
        root: a folder with one sub-folder of images per class, or with images alone; a zip of
            such a folder; a tar, a folder of tars or a pattern that ends in .tar; an .npy file of
            images; a shard or a folder of shards that `unstarve pack` made.
        batch_size: images per batch.
        size: width and height of the images that come out.
        train: True for RandomResizedCrop(size, scale, ratio) and RandomHorizontalFlip(flip);
            False for Resize(resize) and CenterCrop(size). Both antialiased, within 1 of 255 of
            torchvision's results for the same box.
        shuffle: a new order in each epoch; by default what `train` says.
        seed: with the epoch and a sample's index, decides order, crops and flips.
        threads: loading threads, which run no Python; by default a controller keeps as many at
            work, up to the CPUs that the process may use, as the consumer needs: see `explain()`.
        prefetch: batches that may be under way or ready before they are asked for; by default the
            controller's choice, within `memory_bytes`.
        drop_last: leave out the last batch if it is not full.
        rank, world_size: this process takes every `world_size`-th sample of the order, as torch's
            DistributedSampler does. All ranks get the same number of batches.
        rank_remainder: where the samples do not divide by the ranks: "pad" with the first ones of
            the order, or "drop" the last ones.
        memory_bytes: bounds the batches that lie ready.
        on_error: what a broken file does: "raise" with its path, "skip" it (its batch gets
            smaller), or "replace" it by another sample, chosen by (seed, epoch, index).
        scale, ratio, flip: as in torchvision's RandomResizedCrop and RandomHorizontalFlip.
        resize: length of the shorter side before the centre crop; by default size * 256 / 224.
        accept_damaged: take what libjpeg makes of broken image data, as PIL does; a file that
            ends too early is an error all the same.
        max_pixels: refuse larger images.
        skip_other_formats: leave out image files of other formats.
        cache_dir: a folder on a fast local disk, below which copies of the images that were read
            are kept, in a form that later epochs, later runs and other ranks of the node read
            several times as fast, with the same pixels. A copy counts only while the file's size
            and times are what they were. By default nothing is kept.
        cache_bytes: that the copies of this data set may take; what does not fit is read from its
            file in every epoch.
        output: "torch", "numpy", or "auto": torch where it is installed.
        pin_memory: copy each batch into page-locked memory, as torch's DataLoader does, for copies
            to the device that you start. Not needed with `device`.
        device: a CUDA device as PyTorch names it: batches come as tensors there, each copied on a
            stream of its own while the one before is computed, straight from page-locked memory
            that it was decoded into.
        normalize: (mean, std), three numbers each in 0..1: with a `device`, images become float32
            (x / 255 - mean) / std there.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        batch_size: int = 64,
        *,
        size: int = 224,
        train: bool = True,
        shuffle: bool | None = None,
        seed: int = 0,
        threads: int | None = None,
        prefetch: int | None = None,
        drop_last: bool = False,
        rank: int = 0,
        world_size: int = 1,
        rank_remainder: RankRemainder = "pad",
        memory_bytes: int = 1 << 30,
        on_error: OnErrorPolicy = "raise",
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        flip: float = 0.5,
        resize: int | None = None,
        accept_damaged: bool = False,
        max_pixels: int = 178_956_970,
        skip_other_formats: bool = False,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_bytes: int = 64 << 30,
        output: Output = "auto",
        pin_memory: bool = False,
        device: Any = None,
        normalize: Normalize | None = None,
    ) -> None:
        self._options = native_options(
            root,
            transform=image_plan(
                size, train=train, scale=scale, ratio=ratio, flip=flip, resize=resize
            ),
            threads=threads,
            prefetch=prefetch,
            rank_remainder=rank_remainder,
            on_error=on_error,
            cache_dir=cache_dir,
            batch_size=batch_size,
            shuffle=train if shuffle is None else shuffle,
            seed=seed,
            memory_bytes=memory_bytes,
            drop_last=drop_last,
            rank=rank,
            world_size=world_size,
            accept_damaged=accept_damaged,
            max_pixels=max_pixels,
            skip_other_formats=skip_other_formats,
            cache_bytes=cache_bytes,
        )
        if normalize is not None and device is None:
            raise ValueError("normalize needs a device: pixels become floats there")
        self._lane = None if device is None else open_lane(device, normalize)
        self._memory = None if self._lane is None else self._lane.pinned_memory()
        self._progress: Progress | None = None
        self._native = _native.Loader(self._options, self._memory)
        self._convert = converter(output, goes_on=self._lane is not None)
        if pin_memory and self._lane is None:
            self._convert = pinning(self._convert)
        self._next_epoch = 0
        self._iterations = 0
        self.batch_size = batch_size
        self.prefetch = prefetch
        self.drop_last = drop_last

    def __len__(self) -> int:
        """Batches per epoch (an upper bound if broken files are skipped)."""
        return self._native.batch_count

    @property
    def classes(self) -> list[str]:
        """Names of the classes; a label is an index into them."""
        return self._native.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def sample_count(self) -> int:
        """Images in the folder."""
        return self._native.sample_count

    @property
    def threads(self) -> int:
        """Loading threads."""
        return self._native.thread_count

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next `iter()` runs; without it they count up from 0."""
        self._next_epoch = epoch

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Starts an epoch, and ends the one under way if there is one."""
        self._native.begin_epoch(self._next_epoch)
        self._next_epoch += 1
        self._iterations += 1
        epoch = _EpochIterator(self, self._iterations)
        if self._lane is None:
            return epoch
        note = taking(self._loaded_state)
        ahead = DeviceIterator(epoch, self._lane, memory=self._memory, note_state=note)
        self._progress = ahead.progress
        return ahead

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer is, in a few hundred bytes that JSON takes.

        The batches that a loop has got count, those that lie ready do not; after the last one of an
        epoch it is the begin of the next. It is the same on all ranks that have taken as many
        batches.
        """
        if self._progress is not None and self._progress.noted is not None:
            return self._progress.noted()
        return self._loaded_state()

    def _loaded_state(self) -> dict[str, Any]:
        """Behind the last batch that left the native loader."""
        state: dict[str, Any] = json.loads(self._native.state())
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next `iter()` goes on where `state` was taken, with exactly the samples that were
        left, each with identical pixels; threads, ranks and batch size may be others.

        Raises:
            InvalidArgumentError: the state belongs to another data set, seed or order.
            CorruptDataError: it is no such state.
        """
        self._native.restore(json.dumps(state))
        self._progress = None
        self._next_epoch = int(state["epoch"])

    def explain(self) -> list[str]:
        """What is left out of the data set; what the controller has changed, and why (nothing where
        `threads` and `prefetch` were given); and with a `cache_dir` what the cache did."""
        return self._native.explain()

    def crop_of(self, epoch: int, index: int, size: tuple[int, int]) -> Crop:
        """What is cut out of sample `index` (width, height = `size`) in an epoch."""
        return Crop(*_native.sample_geometry(self._options, epoch, index, size))

    def stats(self) -> dict[str, int]:
        """Sums since the loader was made: images, bytes, ns per stage, waits, failures,
        and under `cache_` samples read from copies (hits), copies written (kept), the bytes that
        all copies take."""
        return self._native.stats()

    def errors(self) -> list[SampleFailure]:
        """Samples that could not be loaded (the first thousand; stats()["failed"] counts all)."""
        return [SampleFailure(*failure) for failure in self._native.failures()]


#: The name that it had when it read folders alone.
ImageFolderLoader = ImageLoader


class _EpochIterator:
    """One epoch of a loader."""

    def __init__(self, loader: ImageLoader, iteration: int) -> None:
        self._loader = loader
        self._iteration = iteration
        self._over = False

    def __iter__(self) -> _EpochIterator:
        return self

    def __next__(self) -> tuple[Any, Any]:
        batch: tuple[Any, Any] = self._take(self._loader._native.next)
        return batch

    def next_if_ready(self) -> Any:
        """The next batch, or False where `next()` would wait."""
        return self._take(self._loader._native.next_if_ready)

    def _take(self, next_batch: Callable[[], Any]) -> Any:
        if self._over:
            raise StopIteration
        loader = self._loader
        if self._iteration != loader._iterations:
            raise CancelledError("a later iter() on the same loader ended this epoch")
        batch = next_batch()
        if batch is None:
            self._over = True
            raise StopIteration
        return batch if batch is False else loader._convert(*batch)
