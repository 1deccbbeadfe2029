"""Runs programs with the library that records through CUPTI, and reads what it wrote."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from device_rings import read_records, read_text
from emulation import BUILD, PYTHON, ROOT, Emulation

LIBRARY = BUILD / "lib/libunstarve_cupti.so"
HOOK = ROOT / "python/unstarve/hook"
WINDOW = 0x4D450002

Machine = Callable[..., Emulation]


@dataclass
class Window:
    number: int
    start_ns: int
    end_ns: int
    clock_error_ns: int
    records_lost: int


@dataclass
class Recorded:
    """A process that ended, and its ring; None where it left none."""

    process: subprocess.CompletedProcess[str]
    rings: list[Path]

    @property
    def ring(self) -> Path:
        (only,) = self.rings
        return only

    def windows(self) -> list[Window]:
        """Those that closed."""
        every = [
            Window(*struct.unpack_from("<IqqqQ", payload, 4))
            for kind, payload in read_records(self.ring)
            if kind == WINDOW
        ]
        return [window for window in every if window.end_ns]

    def devices(self) -> list[dict[str, object]]:
        devices: list[dict[str, object]] = json.loads(read_text(self.ring))["devices"]
        return devices


def environment(run_dir: Path, plan: str = "always") -> dict[str, str]:
    """What `unstarve run` gives a job, beside the emulated GPU."""
    (run_dir / "rings").mkdir(parents=True, exist_ok=True)
    return {
        "UNSTARVE_RUN_DIR": str(run_dir),
        "CUDA_INJECTION64_PATH": str(LIBRARY),
        "UNSTARVE_CUPTI": plan,
        "PYTHONPATH": str(HOOK),
    }


def record(
    machine: Emulation,
    run_dir: Path,
    script: str,
    plan: str = "always",
    fresh: bool = False,
    **more: str,
) -> Recorded:
    """Runs a script under the library and the hook."""
    env = {**environment(run_dir, plan), **more}
    process = machine.run(PYTHON, "-c", script, env=env, fresh=fresh)
    return Recorded(process, sorted((run_dir / "rings").glob("cupti-*.ring")))
