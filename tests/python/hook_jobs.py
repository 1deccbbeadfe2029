"""Runs small jobs under the hook, and reads the rings that they leave (docs/formats/run.md)."""

import importlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch_jobs
from command_line import BUILD

HOOK = Path(__file__).resolve().parents[2] / "python" / "unstarve" / "hook"
LOOKS_LIBRARY = BUILD / "lib/libunstarve_looks.so"
ABSENT = -(2**63)
EVENTS = dict(
    enumerate(["process", "step", "loader", "wait", "fetch", "end", "sync", "stage", "stack"], 1)
)
EVENTS[11] = "host_work"
_FIELDS = {
    "process": ("pid", "ppid", "role"),
    "step": ("index", "samples", "source"),
    "loader": ("loader", "num_workers", "prefetch_factor", "batch_size", "flags"),
    "wait": ("loader", "batch", "ready", "samples", "ended"),
    "fetch": ("loader", "samples", "cpu_ns", "decode_ns", "collate_ns"),
    "end": ("exit",),
    "sync": (),
    "host_work": ("kind",),
    "stage": ("loader", "stage", "spent_ns", "amount", "threads"),
    "stack": ("stack", "period_ns", "late_ns"),
}


@contextmanager
def hook_module(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One of the hook's modules, in this process."""
    monkeypatch.syspath_prepend(str(HOOK))
    try:
        yield importlib.import_module(f"_unstarve_hook.{name}")
    finally:
        for loaded in [key for key in sys.modules if key.startswith("_unstarve_hook")]:
            del sys.modules[loaded]


@dataclass
class Ring:
    pid: int
    text: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    names: list[dict[str, Any]] = field(default_factory=list)  # of stacks

    @property
    def stacks(self) -> list[dict[str, Any]]:
        """The words of every look at a thread."""
        return [self.names[record["stack"]] for record in self.of("stack")]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["event"] == event]


def read_ring(path: Path) -> Ring:
    data = path.read_bytes()
    header = struct.unpack_from("<8sIIIIQQQqII", data)
    magic, version, kind, record_size, _, capacity, count, pid, _, text_size, _ = header
    assert (magic, version, kind, record_size) == (b"UNSTRING", 1, 1, 64)
    assert len(data) == 4096 + capacity * record_size
    ring = Ring(pid, json.loads(data[64 : 64 + text_size]))
    beside = Path(f"{path}.names")
    if beside.exists():
        ring.names = [json.loads(line) for line in beside.read_text().splitlines()]
    for number in range(max(0, count - capacity), count):
        values = struct.unpack_from("<HHIqq5q", data, 4096 + (number % capacity) * record_size)
        event = EVENTS[values[0]]
        named = zip(_FIELDS[event], (None if v == ABSENT else v for v in values[5:]), strict=False)
        times = {"thread": values[2], "start_ns": values[3], "end_ns": values[4]}
        ring.records.append({"event": event, **times, **dict(named)})
    return ring


@dataclass
class Job:
    process: subprocess.CompletedProcess[str]
    rings: list[Ring]

    @property
    def main(self) -> Ring:
        (ring,) = [ring for ring in self.rings if ring.text.get("role") == "main"]
        return ring

    @property
    def workers(self) -> list[Ring]:
        return [ring for ring in self.rings if ring.text.get("role") == "loader worker"]

    @property
    def errors(self) -> list[str]:
        return [error for ring in self.rings for error in ring.text.get("hook_errors", [])]


def environment(
    run_dir: Path | None = None, path: Sequence[Path] = (), **more: str
) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("UNSTARVE", "PYTHONPATH"))}
    if run_dir is not None:
        clean["UNSTARVE_RUN_DIR"] = str(run_dir)
        clean["UNSTARVE_LOOKS_LIBRARY"] = str(LOOKS_LIBRARY)
        path = (HOOK, *path)
    clean["PYTHONPATH"] = os.pathsep.join(map(str, path))
    return {**clean, **more}


def run_python(
    arguments: Sequence[object], env: dict[str, str], fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """`python ARGUMENTS`: a fresh one only where it is asked for, or where that makes a difference;
    otherwise a child of a server that has imported torch."""
    words = [str(word) for word in arguments]
    done = None if fresh else torch_jobs.run(words, env)
    if done is not None:
        return done
    command = [sys.executable, *words]
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=300, check=False
    )


def run_tuned(
    folder: Path, script: str, asked: dict[str, Any], *words: str, **env: str
) -> tuple[dict[str, Any], Job]:
    """`python train.py WORDS` with what UNSTARVE_TUNE asks for: what the hook says it did."""
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(script)
    env = {**env, "UNSTARVE_TUNE": json.dumps(asked)}
    job = run_job(folder, [folder / "train.py", *words], (), **env)
    ended = (job.process.returncode, job.errors)
    assert ended == (0, []), f"{ended}: {job.process.stderr}"
    said: dict[str, Any] = json.loads((folder / "tune.json").read_text())
    return said, job


def run_job(
    run_dir: Path, arguments: Sequence[object], path: Sequence[Path] = (), **env: str
) -> Job:
    """`python ARGUMENTS` under the hook, with the rings in run_dir."""
    return _watched(run_dir, arguments, environment(run_dir, path, **env), fresh=False)


def run_fresh_job(run_dir: Path, arguments: Sequence[object], **env: str) -> Job:
    """The same for what is about the start of the hook: torch is imported by the job itself."""
    return _watched(run_dir, arguments, environment(run_dir, (), **env), fresh=True)


def _watched(run_dir: Path, arguments: Sequence[object], env: dict[str, str], fresh: bool) -> Job:
    (run_dir / "rings").mkdir(parents=True, exist_ok=True)
    process = run_python(arguments, env, fresh)
    return Job(process, [read_ring(path) for path in sorted(run_dir.glob("rings/hook-*.ring"))])
