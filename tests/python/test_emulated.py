"""The emulated GPU as a training script sees it, and what it writes down."""

from __future__ import annotations

import math
import multiprocessing
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from unstarve import emulated
from unstarve.device import emulated_gpu

BATCH = 64
KERNEL, MEMCPY, RUNTIME = 10, 1, 5


def images_of(batch: int = BATCH, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    images: np.ndarray[Any, Any] = np.zeros((batch, 3, 224, 224), dtype)
    return images


def train(device: Any, steps: int, batches: Any = None) -> None:
    model = device.resnet50()
    optimizer = device.optimizer(model)
    criterion = torch.nn.CrossEntropyLoss()
    resident = device.upload(images_of())
    labels = device.upload(np.zeros(BATCH, np.int64))
    for _ in range(steps):
        images = resident if batches is None else batches(device)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert math.isnan(loss.item())


def records(ring: Path, kind: int) -> list[bytes]:
    data = ring.read_bytes()
    assert data[:8] == b"UNSTRING"
    (count,) = struct.unpack_from("<Q", data, 32)
    found = []
    for slot in range(count):
        start = 4096 + 256 * slot
        record_kind, size = struct.unpack_from("<II", data, start)
        if record_kind == kind:
            found.append(data[start + 8 : start + 8 + size])
    return found


def kernel_time_s(ring: Path) -> float:
    spans = [struct.unpack_from("<QQ", record, 16) for record in records(ring, KERNEL)]
    total_ns: int = sum(end - start for start, end in spans)
    return total_ns * 1e-9


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSTARVE_RUN_DIR", str(tmp_path))
    monkeypatch.setattr(emulated.Gpu, "_opened", 0)
    return tmp_path


@pytest.mark.parametrize(("profile", "reference_s"), [("a100", 0.435), ("h100", 0.224)])
def test_step_time_is_the_published_one(run_dir: Path, profile: str, reference_s: float) -> None:
    steps = 6
    device = emulated.Gpu(profile)
    train(device, 1)
    device.synchronize()
    start = time.monotonic()
    train(device, steps)
    elapsed = time.monotonic() - start
    expected = reference_s * BATCH / 400
    busy = kernel_time_s(run_dir / "rings" / "gpu-0.ring") / (steps + 1)
    assert busy == pytest.approx(expected, rel=0.01)
    assert elapsed / steps >= busy


def test_step_time_does_not_depend_on_the_feeder(run_dir: Path) -> None:
    def slow(device: Any) -> Any:
        time.sleep(0.05)
        return device.upload(images_of())

    def fast(device: Any) -> Any:
        return device.upload(emulated.pin_memory(torch.zeros(BATCH, 3, 224, 224)))

    times = []
    for index, feeder in enumerate((slow, fast)):
        train(emulated.Gpu("a100"), 3, feeder)
        times.append(kernel_time_s(run_dir / "rings" / f"gpu-{index}.ring"))
    assert times[0] == pytest.approx(times[1], rel=1e-6)


def test_copies_say_where_the_bytes_came_from(run_dir: Path) -> None:
    device = emulated.Gpu("a100")
    tensor = torch.zeros(BATCH, 3, 224, 224)
    device.upload(tensor)
    device.upload(emulated.pin_memory(tensor), non_blocking=True)
    copies = records(run_dir / "rings" / "gpu-0.ring", MEMCPY)
    assert [copy[5] for copy in copies] == [1, 2]  # source: pageable, pinned
    assert [struct.unpack_from("<Q", copy, 8)[0] for copy in copies] == [tensor.nbytes] * 2
    assert struct.unpack_from("<I", records(run_dir / "rings" / "gpu-0.ring", RUNTIME)[0], 4) == (
        41,
    )


def test_a_pinned_upload_returns_before_a_pageable_one() -> None:
    device = emulated.Gpu("a100")
    tensor = torch.zeros(256, 3, 224, 224)  # 154 MB: 26 ms of staging

    def cpu_s(pinned: bool) -> float:
        source = emulated.pin_memory(tensor) if pinned else tensor
        device.synchronize()
        start = time.thread_time()
        device.upload(source, non_blocking=True)
        return time.thread_time() - start

    assert cpu_s(pinned=True) < 0.005
    assert cpu_s(pinned=False) >= 0.025


def test_uint8_images_cost_a_quarter_of_the_bus_and_a_small_kernel(run_dir: Path) -> None:
    device = emulated.Gpu("a100")
    model = device.resnet50()
    ring = run_dir / "rings" / "gpu-0.ring"
    model(device.upload(images_of()))
    as_float = len(records(ring, KERNEL))
    model(device.upload(images_of(dtype=np.uint8)))
    assert len(records(ring, KERNEL)) == 2 * as_float + 1
    sizes = [struct.unpack_from("<Q", copy, 8)[0] for copy in records(ring, MEMCPY)]
    assert sizes[0] == 4 * sizes[1]


def test_step_listeners_hear_every_step_and_cannot_break_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[tuple[int, int, int]] = []

    def broken(samples: int, start_ns: int, end_ns: int) -> None:
        raise ValueError("a listener that fails")

    def listen(samples: int, start_ns: int, end_ns: int) -> None:
        heard.append((samples, start_ns, end_ns))

    monkeypatch.setattr(emulated_gpu, "_step_listeners", [broken, listen])
    train(emulated.Gpu("h100"), 2)
    assert [samples for samples, _, _ in heard] == [BATCH, BATCH]
    assert heard[0][2] == heard[1][1]
    assert heard[1][2] - heard[1][1] >= 0.9e9 * 0.224 * BATCH / 400


def test_memory_runs_out_with_a_clear_error() -> None:
    device = emulated.Gpu("a100")
    model = device.resnet50()
    used = device.memory_used_bytes
    images = emulated.DeviceTensor(device, (4000, 3, 224, 224), "float32", None)
    with pytest.raises(MemoryError, match=r"Emulated .* out of memory"):
        model(images)
    assert device.memory_used_bytes == used


def test_misuse_is_told(run_dir: Path) -> None:
    device = emulated.Gpu("a100")
    assert "Emulated" in device.name and "MLPerf" in device.source
    with pytest.raises(ValueError, match="a100, h100"):
        emulated.Gpu("b200")
    assert [ring.name for ring in (run_dir / "rings").iterdir()] == ["gpu-0.ring"]
    with pytest.raises(TypeError):
        device.resnet50()(images_of())  # type: ignore[arg-type]  # not uploaded
    loss = emulated.CrossEntropyLoss()(device.resnet50()(device.upload(images_of(1))), None)
    loss.backward()
    with pytest.raises(RuntimeError, match="only once"):
        loss.backward()


def _use(device: Any, answers: Any) -> None:
    try:
        device.synchronize()
        answers.put("used")
    except RuntimeError as error:
        answers.put(str(error))


def test_a_forked_child_may_not_use_it() -> None:
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_use, args=(emulated.Gpu("a100"), answers))
    child.start()
    assert "fork" in answers.get(timeout=60)
    child.join()


def test_a_run_directory_that_cannot_be_written_does_not_break_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rings").write_text("in the way")
    monkeypatch.setenv("UNSTARVE_RUN_DIR", str(tmp_path))
    with pytest.warns(UserWarning, match="not recorded"):
        device = emulated.Gpu("a100")
    device.synchronize()
