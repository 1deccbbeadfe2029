"""Our loaders' way to a GPU, with torch's own streams, events and page-locked memory."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from emulation import BUILD, PYTHON, ROOT, Emulation

PHOTOS = ROOT / "tests/data/photos"

PREPARED = """
import sys, time, warnings
warnings.simplefilter("error")
import torch, unstarve
from torchvision import datasets, transforms
from unstarve.device import cuda_lane
folder, = sys.argv[1:]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
def image_loader(**more):
    return unstarve.ImageLoader(folder, 4, size=64, threads=1, **more)
def data_loader(**more):
    steps = transforms.Compose([transforms.RandomResizedCrop(64), transforms.ToTensor()])
    return unstarve.DataLoader(datasets.ImageFolder(folder, steps), 4, num_workers=1, **more)
# What lies where when a copy is started, and on which stream that is.
seen = []
start = cuda_lane.CudaLane.start
def watched(lane, batch):
    copy = start(lane, batch)
    side = lane._stream != torch.cuda.current_stream()
    seen.append((all(tensor.is_pinned() for tensor in batch), side))
    return copy
cuda_lane.CudaLane.start = watched
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve photographs in three classes."""
    for i, photo in enumerate(sorted(PHOTOS.glob("*.jpg"))[::5]):
        target = tmp_path / "images" / f"class{i % 3}" / photo.name
        target.parent.mkdir(exist_ok=True, parents=True)
        target.symlink_to(photo)
    return tmp_path / "images"


@pytest.fixture
def run(emulated: Callable[..., Emulation], folder: Path) -> Callable[[str], str]:
    """Runs a script on an emulated A100; what it prints."""

    def on_a100(script: str) -> str:
        done: subprocess.CompletedProcess[str] = emulated("a100").run(
            PYTHON,
            "-c",
            PREPARED + script,
            folder,
            env={"PYTHONPATH": str(BUILD / "python")},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return on_a100


def test_image_loader_copies_from_page_locked_slots_on_a_side_stream(
    run: Callable[[str], str],
) -> None:
    run(
        """
loader = image_loader(device="cuda", normalize=(MEAN, STD))
for _ in range(3):
    batches = list(loader)
    assert len(batches) == 3
    for images, labels in batches:
        assert images.is_cuda and images.shape == (4, 3, 64, 64)
        assert images.dtype == torch.float32
        assert images.is_contiguous(memory_format=torch.channels_last)
        assert labels.is_cuda and labels.dtype == torch.int64
assert seen == [(True, True)] * 9, seen
memory = loader._memory
assert (memory.pinned_slots > 0, memory.pageable_slots, memory.why_pageable) == (True, 0, "")
"""
    )


def test_the_drop_in_writes_into_page_locked_slots_for_to_device(
    run: Callable[[str], str],
) -> None:
    run(
        """
moved = unstarve.to_device(data_loader(), "cuda")
batches = list(moved)
assert [images.shape for images, _ in batches] == [(4, 3, 64, 64)] * 3
assert all(images.is_cuda and labels.is_cuda for images, labels in batches)
assert seen == [(True, True)] * 3, seen
assert moved.explain().engine == "native"
"""
    )


@pytest.mark.parametrize("make", ["image_loader", "data_loader"])
def test_pin_memory_pins(run: Callable[[str], str], make: str) -> None:
    run(
        f"""
assert all(tensor.is_pinned() for batch in {make}(pin_memory=True) for tensor in batch)
assert not any(tensor.is_pinned() for batch in {make}() for tensor in batch)
"""
    )


def test_the_loop_does_not_wait_for_the_copy_of_the_next_batch(run: Callable[[str], str]) -> None:
    """The consumer's stream is busy; the next batch's copy ends all the same."""
    run(
        """
a = torch.zeros(8192, 8192, device="cuda")
batch = (torch.zeros(64, 3, 64, 64).pin_memory(),)
lane = unstarve.to_device([], "cuda")._lane
lane.start(batch).wait()
a @ a  # what is done at the first time is done
torch.cuda.synchronize()
busy = torch.cuda.Event()
for _ in range(20):
    a @ a  # more than 100 ms of work in all
busy.record()
copy = lane.start(batch)
copy.wait()
assert not busy.query(), "the copy came behind the work of another stream"
torch.cuda.synchronize()
assert busy.query() and copy.is_over()
"""
    )


def test_a_slot_is_not_used_again_while_its_copy_is_under_way(run: Callable[[str], str]) -> None:
    """A copy that waits behind others on the bus keeps the slot that it reads."""
    run(
        """
blocker = torch.zeros(1 << 28).pin_memory()  # 1 GiB: some 40 ms on the bus
loader = image_loader(device="cuda", prefetch=2)
under_way = {}
def kept(lane, batch):
    blocker.cuda(non_blocking=True)
    address = batch[0].data_ptr()
    before = under_way.get(address)
    assert before is None or before.is_over(), "written while it was read"
    under_way[address] = copy = start(lane, batch)
    return copy
cuda_lane.CudaLane.start = kept
for _ in range(4):
    for images, labels in loader:
        pass
assert len(under_way) > 1
"""
    )


def test_a_device_that_is_not_there_is_refused(run: Callable[[str], str]) -> None:
    run(
        """
try:
    image_loader(device="cuda:1")
    list(image_loader(device="cuda:1"))
except RuntimeError as error:
    print(error)
else:
    raise AssertionError("there is one device")
"""
    )
