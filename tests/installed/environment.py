"""A virtual environment with the wheel in it, and how to run something there."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel, and an empty folder to work in."""

    bin: Path
    folder: Path

    def run(self, *command: str | Path, code: int = 0) -> str:
        """What a command prints, run with nothing of the checkout in its surroundings."""
        clean = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            env=clean,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stdout
        return done.stdout


def site_of(environment: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment / "lib" / version / "site-packages"


def install(wheel: Path, place: Path) -> Environment:
    environment = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "install", *options, str(wheel)], check=True, cwd=place)
    folder = place / "folder"
    folder.mkdir()
    return Environment(environment / "bin", folder)


def packages_of_this_python() -> list[str]:
    """Where the Python of the tests has its packages, the outer environment's included."""
    folders = [sysconfig.get_path("purelib"), *sys.path]
    return [path for path in dict.fromkeys(folders) if path.endswith("-packages")]
