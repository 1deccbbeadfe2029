"""A virtual environment with unstarve in it, and how to run something there.

It comes from the release build, as `cmake --install` puts it there, or, where the environment says
UNSTARVE_INSTALLED=wheel, from the wheel that scripts/build_wheel.sh made last.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Environment:
    """A virtual environment with unstarve, and an empty folder to work in."""

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


def made_wheel() -> Path:
    """What scripts/build_wheel.sh made last."""
    made = list((ROOT / "build" / "wheel" / "dist").glob("*.whl"))
    assert len(made) == 1, "run scripts/build_wheel.sh first"
    return made[0]


def install(place: Path) -> Environment:
    environment = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    if os.environ.get("UNSTARVE_INSTALLED") == "wheel":
        pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
        options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
        command = [*pip, "install", *options, str(made_wheel())]
    else:
        build = os.environ.get("UNSTARVE_BUILD", str(ROOT / "build" / "release"))
        component = ["--component", "unstarve", "--strip"]
        command = ["cmake", "--install", build, "--prefix", str(environment), *component]
    subprocess.run(command, check=True, cwd=place, stdout=subprocess.DEVNULL)
    folder = place / "folder"
    folder.mkdir()
    return Environment(environment / "bin", folder)


def packages_of_this_python() -> list[str]:
    """Where the Python of the tests has its packages, the outer environment's included."""
    folders = [sysconfig.get_path("purelib"), *sys.path]
    return [path for path in dict.fromkeys(folders) if path.endswith("-packages")]
