"""What the end of a loader holds up: nothing of Python's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unstarve
from PIL import Image, ImageFile

TASKS = Path("/proc/self/task")
# Of a thread's line in /proc: its CPU time, in hundredths of a second.
USER_TIME = 13
DECODING = 3  # of these: it is in the middle of a file that takes many more


@pytest.fixture
def folder_of_one_large_file(tmp_path: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (5000, 5000, 3), np.uint8)
    ImageFile.MAXBLOCK = max(ImageFile.MAXBLOCK, 1 << 26)
    Image.fromarray(noise).save(tmp_path / "large.jpg", quality=90)
    return tmp_path


def tasks() -> set[str]:
    return {task.name for task in TASKS.iterdir()}


def wait_until_one_decodes(others: set[str]) -> None:
    while True:
        for task in tasks() - others:
            name, fields = (TASKS / task / "stat").read_text().rsplit(")", 1)
            if "unstarve-feed" in name and int(fields.split()[USER_TIME - 2]) >= DECODING:
                return
        time.sleep(0.001)


def test_other_threads_run_while_a_loader_ends(folder_of_one_large_file: Path) -> None:
    """The end waits for the file that a thread is at. No thread is switched to unless the one that
    runs lets go of the interpreter: whatever another thread does in between, it does because the
    loader's end did."""
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.001)  # lets go

    others = tasks()
    loader = unstarve.ImageLoader(
        folder_of_one_large_file, 1, train=False, output="numpy", threads=1
    )
    batches = iter(loader)
    wait_until_one_decodes(others)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        ticker = threading.Thread(target=tick)
        ticker.start()
        while ticks == 0:
            time.sleep(0)
        before = ticks
        del batches, loader
        after = ticks
    finally:
        sys.setswitchinterval(interval)
        over.set()
        ticker.join()
    assert after > before


def test_a_process_ends_while_a_daemon_thread_loads(tmp_path: Path) -> None:
    """The thread wants the interpreter back while that is taken down."""
    for number in range(8):
        picture: Any = np.full((64, 64, 3), number, np.uint8)
        Image.fromarray(picture).save(tmp_path / f"{number}.jpg")
    script = """
        import sys, threading
        import unstarve

        begun = threading.Event()

        def consume():
            loader = unstarve.ImageLoader(sys.argv[1], 2, output="numpy", threads=1)
            while True:
                for batch in loader:
                    begun.set()

        threading.Thread(target=consume, daemon=True).start()
        begun.wait()
    """
    for _ in range(5):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
