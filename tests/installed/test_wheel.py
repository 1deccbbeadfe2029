"""What the wheel contains: all that it needs, and nothing that others could trip over."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from environment import made_wheel

#: glibc's own libraries; everything else is in the wheel.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libpthread|libdl|librt|ld-linux-x86-64)\.so\.\d+")


@pytest.fixture(scope="module")
def wheel() -> Path:
    return made_wheel()


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def readelf(path: Path, *options: str) -> str:
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def binaries(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]


def test_is_small_and_for_known_systems(wheel: Path) -> None:
    """auditwheel has given the name, or refused: glibc 2.36 is Debian 12's."""
    assert wheel.stat().st_size < 17e6
    named = re.search(r"manylinux_2_(\d+)_x86_64", wheel.name)
    assert named is not None and int(named[1]) <= 36, wheel.name


def test_has_types_and_licences_and_no_notes_for_developers(unpacked: Path) -> None:
    package = unpacked / "unstarve"
    assert (package / "py.typed").is_file()
    assert (package / "_native.pyi").is_file()
    libraries = [path.stem for path in (package / "licenses").glob("*.txt")]
    assert {"libjpeg-turbo", "sqlite3", "fmtlib", "versions"} <= set(libraries)
    assert not list(unpacked.rglob("__pycache__"))
    assert list(unpacked.rglob("README.md")) == [package / "demo" / "photos" / "README.md"]


def test_needs_no_library_but_the_c_library(unpacked: Path) -> None:
    found = binaries(unpacked)
    emulated = [path for path in found if path.parent.name == "emulated"]
    others = {path.name.split(".")[0] for path in found if path not in emulated}
    assert others == {"unstarve", "_native", "libunstarve_cupti", "libunstarve_looks"}
    assert {"libcuda.so.1", "libcudart.so.12", "libcudart.so.13"} <= {p.name for p in emulated}
    for path in found:
        needed = re.findall(r"Shared library: \[([^]]+)\]", readelf(path, "--dynamic"))
        brought = {"libunstarve_emulated_gpu.so"} if path in emulated else set()
        foreign = [name for name in needed if not SYSTEM_LIBRARIES.fullmatch(name)]
        assert set(foreign) <= brought, path


def test_gives_the_process_no_symbol_but_its_own(unpacked: Path) -> None:
    module = next((unpacked / "unstarve").glob("_native*.so"))
    symbol = re.compile(r"\s+\d+: \S+\s+\S+ \S+\s+(?:GLOBAL|WEAK|UNIQUE)\s+\S+\s+(\S+) (\S+)")
    found = [symbol.match(line) for line in readelf(module, "--dyn-syms").splitlines()]
    assert [one[2] for one in found if one and one[1] != "UND"] == ["PyInit__native"]
