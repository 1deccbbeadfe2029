"""`unstarve pack` and `unstarve unpack` as a user calls them, interrupted and not."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import time
from pathlib import Path

import pytest
from command_line import PHOTOS, UNSTARVE
from PIL import Image


def command(*arguments: str | Path) -> list[str]:
    return [str(UNSTARVE), *map(str, arguments)]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=120
    )


def digest(folder: Path) -> str:
    """Of all names and bytes in a folder."""
    result = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            result.update(path.relative_to(folder).as_posix().encode() + b"\0")
            result.update(path.read_bytes())
    return result.hexdigest()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few hundred images in two classes, so that packing takes long enough to be killed."""
    root = tmp_path_factory.mktemp("pack") / "source"
    photos = sorted(path for path in PHOTOS.rglob("*") if path.suffix.lower() in {".jpg", ".jpeg"})
    for number in range(300):
        folder = root / ("ants" if number % 2 else "bees")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:04}.jpg").symlink_to(photos[number % len(photos)])
    return root


def test_pack_says_what_to_expect_and_what_came_out(source: Path, tmp_path: Path) -> None:
    done = run("pack", source, tmp_path / "shards", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert "to expect:" in done.stderr
    assert "300 images in 1 shard(s)" in done.stdout
    assert "next: unstarve bench" in done.stdout

    again = run("pack", source, tmp_path / "shards", "--threads", "2", "--json")
    assert again.returncode == 0, again.stderr
    result = json.loads(again.stdout)
    assert result["images"] == 300
    assert result["packed_now"] == 0
    assert result["coefficients"] + result["kept_as_bytes"] == 300
    assert result["verified"] is True
    assert result["source_bytes"] < result["shard_bytes"] < 1.5 * result["source_bytes"]


def test_a_killed_pack_goes_on_and_ends_with_the_same_bytes(source: Path, tmp_path: Path) -> None:
    arguments = ("--threads", "2", "--shard-bytes", "1MB")
    assert run("pack", source, tmp_path / "whole", *arguments).returncode == 0
    expected = digest(tmp_path / "whole")

    target = tmp_path / "killed"
    draw = random.Random(1)
    kills = 0
    for _ in range(20):
        packing = subprocess.Popen(
            command("pack", source, target, *arguments),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Killed at some point of the work, wherever that is on a busy machine.
        deadline = time.monotonic() + draw.uniform(0.0, 0.6)
        while packing.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        if packing.poll() is None:
            packing.kill()
            kills += 1
        if packing.wait() == 0:
            break
    done = run("pack", source, target, *arguments)
    assert done.returncode == 0, done.stderr
    assert digest(target) == expected, f"after {kills} kills"


def test_unpack_gives_identical_files_where_they_were_kept(source: Path, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    assert run("pack", source, shards, "--keep-original-bytes").returncode == 0
    done = run("unpack", shards, tmp_path / "back", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["identical"] == 300
    assert digest(tmp_path / "back") == digest(source)


def test_unpack_gives_jpegs_with_the_same_pixels(source: Path, tmp_path: Path) -> None:
    assert run("pack", source, tmp_path / "shards").returncode == 0
    done = run("unpack", tmp_path / "shards", tmp_path / "back")
    assert done.returncode == 0, done.stderr
    for path in sorted(source.rglob("*.jpg"))[::30]:
        packed = Image.open(tmp_path / "back" / path.relative_to(source))
        assert packed.tobytes() == Image.open(path).tobytes(), path


def test_errors_name_the_object_and_exit_with_2(source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.ush").write_bytes(b"x" * 1000)
    for arguments in (
        ("pack", "/no/such", tmp_path / "a"),
        ("pack", tmp_path / "empty", tmp_path / "a"),
        ("pack", source, source / "inside"),
        ("unpack", tmp_path / "empty", tmp_path / "b"),
        ("unpack", tmp_path / "odd.ush", tmp_path / "b"),
    ):
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert done.stderr.startswith("unstarve: "), arguments


def test_a_full_disk_is_exit_code_1_and_says_what_to_do(source: Path, tmp_path: Path) -> None:
    limit = ["bash", "-c", 'trap "" XFSZ; ulimit -f 1000; exec "$@"', "bash"]
    limited = subprocess.run(
        [*limit, *command("pack", source, tmp_path / "shards")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert limited.returncode == 1
    assert "samples-00000.ush" in limited.stderr
    done = run("pack", source, tmp_path / "shards")
    assert done.returncode == 0, done.stderr
