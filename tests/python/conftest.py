"""What all tests here rely on."""

import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PHOTOS = Path(__file__).resolve().parents[1] / "data" / "photos"

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them every
# program that they start; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve photographs in three classes."""
    for i, photo in enumerate(sorted(PHOTOS.glob("*.jpg"))[::5]):
        target = tmp_path / f"class{i % 3}" / photo.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(photo, target)  # some tests write over it
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def jobs_with_torch() -> Iterator[None]:
    """The server of `torch_jobs`, where a test that was collected may want it: no test's own."""
    torch_jobs = sys.modules.get("torch_jobs")
    if torch_jobs is not None:
        torch_jobs.start()
    yield
    if torch_jobs is not None:
        torch_jobs.stop()
