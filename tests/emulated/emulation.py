"""Runs scripts on an emulated GPU, for the tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from warm_python import Pool, uses_torch

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release"))
UNSTARVE = BUILD / "src/cli/unstarve"
# The interpreter that runs the jobs: one with a CUDA build of torch.
PYTHON = os.environ.get("UNSTARVE_EMULATED_PYTHON", sys.executable)


if not UNSTARVE.exists():
    raise FileNotFoundError(f"{UNSTARVE} is not built: run `make build`")


Done = subprocess.CompletedProcess[str]
#: Of this process; the session's fixture closes it (conftest.py).
WARM = Pool(PYTHON)


def run_to_its_end(
    words: list[str],
    env: Mapping[str, str],
    timeout: float,
    cwd: Path | None = None,
    fresh: bool = True,
) -> Done:
    """Runs it once; again, at most twice, where a thread of PyTorch's took Python's lock while
    Python ended. PyTorch 2.15 aborts then, with or without an emulated GPU (docs/known_gaps.md),
    which is rare: none of 85 jobs of two ranks that were run for it on two busy cores.
    """
    for attempt in range(3):
        done = run_fresh(words, env, timeout, cwd) if fresh else run_warm(words, env, timeout, cwd)
        if done.returncode == 0 or "terminate called without an active exc" not in done.stderr:
            break
        warnings.warn(f"{words}: PyTorch aborted at its end, {attempt + 1} times", stacklevel=2)
    return done


def run_fresh(words: list[str], env: Mapping[str, str], timeout: float, cwd: Path | None) -> Done:
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env=env,
        cwd=cwd,
        timeout=timeout,
        check=False,
    )


def run_warm(words: list[str], env: Mapping[str, str], timeout: float, cwd: Path | None) -> Done:
    with closing(WARM.start(words[1:], env, cwd or Path.cwd())) as child:
        return child.completed(timeout)


@dataclass
class Emulation:
    """An emulated machine: what a process needs to see its GPUs."""

    environment: dict[str, str]
    state: Path  # shared by its processes
    said: str = ""  # by `unstarve emulate`, once it has ended

    def run(
        self,
        *command: str | Path,
        timeout: float = 300,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        fresh: bool = False,
    ) -> Done:
        """Runs a command. A script that imports torch is run by a Python that has imported it
        already, unless a `fresh` one is asked for or would be in another state."""
        words = [str(word) for word in command]
        all_of_it = {**self.environment, **(env or {})}
        warm = words[0] == PYTHON and uses_torch(words[1:]) and WARM.fits(all_of_it)
        return run_to_its_end(words, all_of_it, timeout, cwd, fresh or not warm)

    def python(self, script: str, *arguments: str, timeout: float = 300) -> str:
        """What a script prints; it must end well."""
        done = self.run(PYTHON, "-c", script, *arguments, timeout=timeout)
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout


SHOW_ENVIRONMENT = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); input()"


@contextmanager
def machine(gpu: str, *options: str, run_dir: Path | None = None) -> Iterator[Emulation]:
    """An emulated machine as `unstarve emulate GPU OPTIONS` makes it, as long as the block lasts:
    the command's job only waits, others get its environment.
    """
    holder = subprocess.Popen(
        [str(UNSTARVE), "emulate", gpu, *options, "--", sys.executable, "-c", SHOW_ENVIRONMENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin
    assert holder.stdout
    emulation: Emulation | None = None
    try:
        shown = holder.stdout.readline()
        assert shown, holder.communicate(timeout=60)[1]
        environment: dict[str, str] = json.loads(shown)
        environment.pop("UNSTARVE_RUN_DIR", None)
        if run_dir:
            environment["UNSTARVE_RUN_DIR"] = str(run_dir)
        state = Path(environment["UNSTARVE_EMULATED_GPU"]).parent
        emulation = Emulation(environment, state)
        yield emulation
    finally:
        said = holder.communicate("\n", timeout=60)[1]
        if emulation:
            emulation.said = said


def unstarve(*arguments: str, env: Mapping[str, str] | None = None, timeout: float = 300) -> Done:
    """Runs the command as a user does."""
    return run_to_its_end(
        [str(UNSTARVE), *arguments], {**(env or os.environ), "NO_COLOR": "1"}, timeout
    )
