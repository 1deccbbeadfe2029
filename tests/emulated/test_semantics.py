"""What CUDA's documentation promises of streams, events, copies, graphs and memory, held by an
emulated GPU. Each script of semantics/ tries many promises in one process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from emulation import PYTHON, Emulation
from measuring import measured

SCRIPTS = Path(__file__).parent / "semantics"


def promises(done_output: str) -> tuple[list[str], list[str]]:
    """Those that held, and those that did not."""
    lines = done_output.splitlines()
    held = [line[3:] for line in lines if line.startswith("ok ")]
    return held, [line[4:] for line in lines if line.startswith("BAD ")]


@pytest.mark.parametrize(
    ("script", "arguments", "options", "promised"),
    [
        ("asynchrony", (), {}, 30),
        ("copies", (), {}, 15),
        ("graphs", (), {}, 13),
        ("memory", ("native",), {}, 19),
        ("memory", ("expandable",), {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, 16),
        ("memory", ("async",), {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, 16),
        ("devices", (), {}, 18),
        ("runtime_calls", (), {}, 119),
        ("driver_calls", (), {}, 48),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_promises(
    script: str,
    arguments: tuple[str, ...],
    options: dict[str, str],
    promised: int,
    emulated: Callable[..., Emulation],
) -> None:
    machine = emulated(gpus=2 if script == "devices" else 1)

    def judge(done: subprocess.CompletedProcess[str]) -> None:
        held, broken = promises(done.stdout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        assert not broken
        assert len(held) == promised, done.stdout

    # Some say how long work on the emulated GPU takes, which it does in real time.
    command: list[str | Path] = [PYTHON, SCRIPTS / f"{script}.py", *arguments]
    measured(lambda: machine.run(*command, env=options, timeout=200), judge)
