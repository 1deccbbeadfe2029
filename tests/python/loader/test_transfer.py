"""Batches on their way to a device: order, errors, state; no memory is written while it is read."""

from __future__ import annotations

import contextlib
import ctypes
from collections import UserDict, UserList
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import unstarve
from command_line import BUILD
from torchvision import datasets, transforms
from torchvision.transforms.v2 import functional
from unstarve import _native as native
from unstarve import errors
from unstarve.device import cuda_lane
from unstarve.device.ahead import DeviceIterator
from unstarve.device.lane import map_tensors

PHOTOS = Path(__file__).resolve().parents[2] / "data" / "photos"
# A driver with which memory can be pinned where there is no GPU.
FAKE_DRIVER = BUILD / "src/device/cuda/testing/fake_driver/libunstarve_fake_cuda.so"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class SlowCopy:
    """Reads the host's memory only when it is told to, as late as a real copy may."""

    def __init__(self, images: Any) -> None:
        self.address, self.nbytes = images.data_ptr(), images.nbytes
        self.expected = self.read()
        self.over = self.finished = self.torn = False

    def read(self) -> bytes:
        return ctypes.string_at(self.address, self.nbytes)

    def is_over(self) -> bool:
        return self.over

    def wait(self) -> None:
        if not self.finished:
            self.torn = self.read() != self.expected
        self.over = self.finished = True

    def hand_over(self) -> Any:
        return self


class SlowLane:
    """`lag` copies are under way at a time."""

    def __init__(self, lag: int) -> None:
        self.lag = lag
        self.copies: list[SlowCopy] = []
        self.memory = native.pinned_by_cuda(0, str(FAKE_DRIVER))

    @property
    def torn(self) -> int:
        return sum(copy.torn for copy in self.copies)

    def start(self, batch: Any) -> SlowCopy:
        self.copies.append(SlowCopy(batch[0]))
        if len(self.copies) > self.lag:
            self.copies[-1 - self.lag].wait()
        return self.copies[-1]

    def pinned_memory(self) -> Any:
        return self.memory


class HastyLane(SlowLane):
    """Says too early that a copy is over: what the others must not do."""

    def start(self, batch: Any) -> SlowCopy:
        copy = super().start(batch)
        copy.over = True
        return copy


def use_lane(monkeypatch: pytest.MonkeyPatch, lane: Any) -> None:
    for user in ("unstarve.image_loader.loader", "unstarve.device.to_device"):
        monkeypatch.setattr(f"{user}.open_lane", lambda *_: lane)


def copy_epochs(folder: Path, epochs: int) -> Any:
    loader = unstarve.ImageLoader(
        folder, 1, size=32, threads=1, prefetch=2, device="the patched lane"
    )
    for _ in range(epochs):
        for _ in loader:
            pass
    return loader


def test_no_slot_is_written_while_a_copy_reads_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = SlowLane(lag=2)
    use_lane(monkeypatch, lane)
    loader = copy_epochs(folder, 8)
    assert len(lane.copies) == 8 * 12
    assert lane.torn == 0
    # Slots come back, so that they do not grow with the batches.
    assert loader.stats()["slots_allocated"] <= 6
    assert (lane.memory.pinned_slots > 0, lane.memory.pageable_slots) == (True, 0)


def test_the_test_above_would_see_a_torn_batch(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = HastyLane(lag=3)
    use_lane(monkeypatch, lane)
    copy_epochs(folder, 8)
    assert lane.torn > 0


def test_memory_is_kept_until_the_copies_of_an_abandoned_epoch_are_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = SlowLane(lag=100)
    use_lane(monkeypatch, lane)
    loader = unstarve.ImageLoader(folder, 4, size=32, threads=1, device="the patched lane")
    iterator = iter(loader)
    next(iterator)
    assert not lane.copies[0].over
    del iterator
    assert all(copy.over for copy in lane.copies)


class Plain:
    """A lane that hands over what it gets."""

    def __init__(self) -> None:
        self.batches: list[Any] = []

    def start(self, batch: Any) -> Any:
        self.batches.append(map_tensors(batch, lambda tensor: tensor.clone()))
        copied = self.batches[-1]

        class Done:
            is_over = staticmethod(lambda: True)
            wait = staticmethod(lambda: None)
            hand_over = staticmethod(lambda: copied)

        return Done

    def pinned_memory(self) -> Any:
        return None


def host(*items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, Exception):
            raise item
        yield item


def test_batches_come_in_order_and_an_error_in_its_turn() -> None:
    batches = DeviceIterator(host(1, 2, KeyError("third")), Plain())
    assert next(batches) == 1
    assert next(batches) == 2
    with pytest.raises(KeyError, match="third"):
        next(batches)
    assert list(DeviceIterator(host(), Plain())) == []


def test_a_batch_that_is_not_ready_is_not_waited_for() -> None:
    class Late:
        """Ready only when it is asked for and waited for."""

        asked = 0

        def __iter__(self) -> Late:
            return self

        def __next__(self) -> int:
            self.asked += 1
            if self.asked > 3:
                raise StopIteration
            return self.asked

        def next_if_ready(self) -> bool:
            return False

    late = Late()
    batches = DeviceIterator(late, Plain())
    assert next(batches) == 1
    assert late.asked == 1
    assert list(batches) == [2, 3]


class Two(NamedTuple):
    first: Any
    second: Any


class Numbers(UserDict[str, Any]):
    """Has more than its items."""

    source = "here"


@dataclass(frozen=True)
class Sample:
    image: Any
    name: str


@dataclass(frozen=True, slots=True)
class Slotted:
    image: Any
    name: str


class Pinned:
    """torch pins it by its own method."""

    def __init__(self, image: Any) -> None:
        self.parts = [image]

    def pin_memory(self) -> Pinned:
        return self


class Graphs:
    """Goes to a device by methods of its own."""

    def __init__(self, where: str) -> None:
        self.where = where

    def to(self, device: Any, non_blocking: bool = False) -> Graphs:
        return Graphs(device)

    def record_stream(self, stream: Any) -> None:
        """So that its memory is not used again too early."""


class Listed(tuple):  # type: ignore[type-arg]
    """Made of its parts one by one."""

    def __new__(cls, *parts: Any) -> Listed:
        return super().__new__(cls, parts)


def add_one(batch: Any) -> Any:
    return map_tensors(batch, lambda tensor: tensor + 1, lambda graphs: graphs.to("there"))


def test_nested_batches_keep_their_form() -> None:
    one, two = torch.ones(2), [2, 2]
    moved = add_one({"a": [one, "text"], "b": (one, 3), "c": Two(one, None)})
    assert moved["a"][0].tolist() == two and moved["a"][1] == "text"
    assert isinstance(moved["b"], tuple) and moved["b"][1] == 3
    assert isinstance(moved["c"], Two) and moved["c"].first.tolist() == two
    numbers = Numbers(image=one)
    numbers.source = "there"
    moved = add_one(numbers)
    assert type(moved) is Numbers and moved.source == "there"
    assert moved["image"].tolist() == two and numbers["image"].tolist() == [1, 1]
    assert add_one(Sample(one, "a")).image.tolist() == two
    assert add_one(Slotted(one, "a")).image.tolist() == two
    assert add_one(Pinned(one)).parts[0].tolist() == two
    assert add_one([Graphs("here")])[0].where == "there"
    assert [part.tolist() for part in add_one(Listed(one, one))] == [two, two]
    assert add_one(UserList([one]))[0].tolist() == two
    assert add_one(np.ones(2)).tolist() == two


def test_what_is_no_number_stays_where_it_is() -> None:
    for batch in (np.array(["a", "b"]), np.array([{}, None]), "text", b"bytes", None, 3, range(3)):
        assert add_one([batch])[0] is batch


def test_a_packed_sequence_keeps_its_sizes() -> None:
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)])
    moved = add_one(packed)
    assert type(moved) is type(packed)
    assert moved.batch_sizes.tolist() == packed.batch_sizes.tolist() == [2, 2, 1]
    assert moved.data.tolist() == [2] * 5


def test_a_tokenizer_s_batch_stays_one() -> None:
    from transformers import BatchEncoding

    moved = add_one(BatchEncoding({"input_ids": torch.ones(1, 2)}, n_sequences=1))
    assert type(moved) is BatchEncoding and moved.n_sequences == 1
    assert moved.input_ids.tolist() == [[2, 2]]


def image_folder_loader(folder: Path, device: Any) -> Any:
    return unstarve.ImageLoader(folder, 2, size=32, threads=2, device=device)


def data_loader(folder: Path, device: Any) -> Any:
    steps = [transforms.RandomResizedCrop(32), transforms.ToTensor()]
    data = datasets.ImageFolder(str(folder), transforms.Compose(steps))
    loader = unstarve.DataLoader(data, batch_size=2, num_workers=2)
    return loader if device is None else unstarve.to_device(loader, device)


@pytest.mark.parametrize("make", [image_folder_loader, data_loader])
def test_the_state_is_the_consumers_though_copies_are_ahead(
    folder: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    use_lane(monkeypatch, Plain())
    torch.manual_seed(5)
    loader = make(folder, "the patched lane")
    iterator = iter(loader)
    for _ in range(2):
        next(iterator)
    state = loader.state_dict()
    expected = [(images.clone(), labels.clone()) for images, labels in iterator]
    assert len(expected) == 4
    resumed = make(folder, None)
    resumed.load_state_dict(state)
    for (images, labels), (own, own_labels) in zip(resumed, expected, strict=True):
        assert torch.equal(images, own) and torch.equal(labels, own_labels)


def test_data_loader_writes_into_pinned_slots_for_the_device_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = SlowLane(lag=0)
    use_lane(monkeypatch, lane)
    loader = data_loader(folder, None)
    moved = unstarve.to_device(loader, "the patched lane")
    assert len(moved) == 6
    assert len(list(moved)) == 6
    assert (lane.memory.pinned_slots > 0, lane.memory.pageable_slots) == (True, 0)
    for _ in loader:  # for the host
        assert lane.memory.pinned_slots == 0
    assert moved.batch_size == 2  # asked of the loader
    assert moved.explain().engine == "native"


def test_pin_memory_without_a_gpu_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="there is no GPU"):
        loader = unstarve.ImageLoader(folder, 4, size=32, pin_memory=True)
    assert len(list(loader)) == 3


def test_devices_that_are_not_there_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="must be a CUDA device"):
        unstarve.to_device([], "cpu")
    with pytest.raises(ValueError, match="needs a device"):
        unstarve.ImageLoader(folder, normalize=(MEAN, STD))
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="no CUDA device"):
            unstarve.ImageLoader(folder, device="cuda")


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(errors.NotFoundError, match="libno_such_cuda"):
        native.pinned_by_cuda(0, "libno_such_cuda.so.1")


def test_normalising_is_torchvisions() -> None:
    images = torch.randint(0, 256, (2, 5, 7, 3), dtype=torch.uint8).permute(0, 3, 1, 2)
    mean, std = (255 * torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    floats = cuda_lane.normalise(images, mean, std)
    assert floats.dtype == torch.float32
    assert floats.is_contiguous(memory_format=torch.channels_last)
    expected = functional.normalize(images.float() / 255, list(MEAN), list(STD))
    assert torch.allclose(floats, expected, atol=1e-5)
    assert cuda_lane.normalise(images, mean, std, torch.bfloat16).dtype == torch.bfloat16


class FakeCuda:
    """torch.cuda's streams and events, which write down what is done with them."""

    def __init__(self) -> None:
        self.log: list[str] = []
        cuda = self

        class Stream:
            def __init__(self, name: Any) -> None:
                self.name = "consumer" if name == "consumer" else "side"

            def wait_event(self, event: Any) -> None:
                cuda.log.append(f"{self.name} waits for event {event.number}")

        class Event:
            made = 0

            def __init__(self, blocking: bool = False) -> None:
                Event.made += 1
                self.number = Event.made

            def record(self, stream: Any) -> None:
                cuda.log.append(f"event {self.number} in {stream.name}")

            def query(self) -> bool:
                return False

            def synchronize(self) -> None:
                cuda.log.append(f"host waits for event {self.number}")

        self.Stream, self.Event = Stream, Event

    @contextlib.contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        self.log.append(f"in {stream.name}")
        yield
        self.log.append("out")

    def current_stream(self, device: Any) -> Any:
        return self.Stream("consumer")


def test_cuda_copies_wait_and_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = FakeCuda()
    lane = cuda_lane.CudaLane(torch.device("cpu"), (MEAN, STD), None, cuda)
    monkeypatch.setattr(
        cuda_lane, "_used_by", lambda tensor, stream: cuda.log.append(f"used by {stream.name}")
    )
    batch = (torch.zeros(1, 3, 2, 2, dtype=torch.uint8), torch.zeros(1, dtype=torch.int64))
    copy = lane.start(batch)
    assert cuda.log == ["in side", "event 1 in side", "event 2 in side", "out"]
    cuda.log.clear()
    assert not copy.is_over()
    images, labels = copy.hand_over()
    assert cuda.log == ["consumer waits for event 2", *["used by consumer"] * 2]
    assert images.dtype == torch.float32 and labels.dtype == torch.int64
    cuda.log.clear()
    copy.wait()
    assert cuda.log == ["host waits for event 1"]


@pytest.mark.gpu
def test_batches_arrive_on_a_cuda_device(folder: Path) -> None:
    arguments: Any = {"size": 64, "threads": 2, "seed": 3}
    expected = list(unstarve.ImageLoader(folder, 2, **arguments))
    loader = unstarve.ImageLoader(folder, 2, device="cuda", normalize=(MEAN, STD), **arguments)
    assert loader._memory is not None and loader._memory.why_pageable == ""
    mean, std = (255 * torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    busy = torch.randn(2048, 2048, device="cuda")
    for (images, labels), (own, own_labels) in zip(loader, expected, strict=True):
        busy = busy @ busy / 2048  # so that copies run beside kernels
        assert images.is_cuda and images.is_contiguous(memory_format=torch.channels_last)
        assert torch.allclose(images.cpu(), cuda_lane.normalise(own, mean, std), atol=1e-5)
        assert torch.equal(labels.cpu(), own_labels)
    assert loader._memory.pinned_slots > 0 and loader._memory.pageable_slots == 0


@pytest.mark.gpu
def test_cuda_calls_our_slots_pinned_and_they_are_never_torn(folder: Path) -> None:
    loader = unstarve.ImageLoader(folder, 1, size=512, threads=4, prefetch=2, shuffle=False)
    expected = [images for images, _ in loader]
    loader = unstarve.ImageLoader(
        folder, 1, size=512, threads=4, prefetch=2, shuffle=False, device="cuda"
    )
    seen = []
    busy = torch.randn(4096, 4096, device="cuda")
    for images, _ in loader:
        for _ in range(20):
            busy = busy @ busy / 4096  # the consumer's stream lags far behind
        seen.append(images.clone())
    assert all(torch.equal(a.cpu(), b) for a, b in zip(seen, expected, strict=True))


@pytest.mark.gpu
def test_slots_are_pinned_for_torch() -> None:
    memory = native.pinned_by_cuda(torch.cuda.current_device())
    options = native.LoaderOptions()
    options.root = str(PHOTOS)
    loader = native.Loader(options, memory)
    loader.begin_epoch(0)
    batch = loader.next()
    assert batch is not None
    assert torch.from_dlpack(batch[0]).is_pinned()
