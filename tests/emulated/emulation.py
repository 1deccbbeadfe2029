"""Runs scripts on an emulated GPU, for the tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release"))
LIBRARIES = BUILD / "lib/emulated"
PROFILES = ROOT / "src/device/emulated/profile/data"
UNSTARVE = BUILD / "src/cli/unstarve"
# The interpreter that runs the jobs: one with a CUDA build of torch.
PYTHON = os.environ.get("UNSTARVE_EMULATED_PYTHON", sys.executable)


@dataclass
class Emulation:
    """An emulated machine: what a process needs to see its GPUs."""

    environment: dict[str, str]
    state: Path  # shared by its processes

    def run(
        self,
        *command: str | Path,
        timeout: float = 300,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**self.environment, **(env or {})},
            cwd=cwd,
            timeout=timeout,
            check=False,
        )

    def python(self, script: str, *arguments: str, timeout: float = 300) -> str:
        """What a script prints; it must end well."""
        done = self.run(PYTHON, "-c", script, *arguments, timeout=timeout)
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def find_profile(name: str) -> dict[str, Any]:
    """A profile's document by its name or one of its aliases, with what it is based on."""
    for path in sorted(PROFILES.glob("*.json")):
        document: dict[str, Any] = json.loads(path.read_text())
        if name != document["name"] and name not in document.get("aliases", []):
            continue
        if "based_on" in document:
            base = find_profile(document.pop("based_on"))
            for key, value in base.items():
                if isinstance(value, dict):
                    document[key] = value | document.get(key, {})
                else:
                    document.setdefault(key, value)
        return document
    raise KeyError(name)


def prepare(
    folder: Path, gpu: str = "a100", gpus: int = 1, run_dir: Path | None = None
) -> Emulation:
    """Settings, state and environment as `unstarve emulate` makes them, kept in `folder`."""
    state = folder / "emulated"
    (state / "rings").mkdir(parents=True)
    settings = state / "settings.json"
    settings.write_text(
        json.dumps(
            {
                "gpus": gpus,
                "profile": find_profile(gpu),
                "durations": "",
                "scale": 1.0,
                "state": str(state),
            }
        )
    )
    rings = run_dir / "rings" if run_dir else state / "rings"
    environment = dict(os.environ)
    environment.pop("UNSTARVE_RUN_DIR", None)
    environment |= {
        "UNSTARVE_EMULATED_GPU": str(settings),
        "UNSTARVE_EMULATED_LOG": str(state / "missing.log"),
        "UNSTARVE_EMULATED_RINGS": str(rings),
        "LD_AUDIT": str(LIBRARIES / "libunstarve_redirect.so"),
        "TRITON_LIBCUDA_PATH": str(LIBRARIES),
    }
    if run_dir:
        environment["UNSTARVE_RUN_DIR"] = str(run_dir)
    return Emulation(environment, state)
