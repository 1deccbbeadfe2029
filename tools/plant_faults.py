#!/usr/bin/env python3
"""Plants the faults of tests/faults one at a time and says which of them the tests see.

Each lies in a worktree of the last commit, in build/faults/tree, while the checks run that are to
see it; they have to pass there without it. What they printed is in build/faults/NAME.log.
    usage: tools/plant_faults.py [NAME...] [--list | --gate]
--gate: not these checks but `make test`, and where that passes `make check`.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import tomllib
from run_checks import FAILURE

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "faults"
TREE = FOLDER / "tree"
#: Targets of what the Python tests start and load.
FOR_PYTHON = ("unstarve", "unstarve_python", "unstarve_stand_ins", "unstarve_fake_cuda")
PRESETS = {"ctest": "release", "asan-ubsan": "asan-ubsan", "tsan": "tsan"}
#: A check that a fault keeps from ending has seen it.
LONGEST_S = {"pytest": 900, "ctest": 900, "asan-ubsan": 1800, "tsan": 1800, "check": 3600}
LONGEST_GATE_S = 4 * 3600
FIRST_LINE = re.compile(rf"{FAILURE.pattern}|^E  |^ERROR |^\s*\S+:\d+: \S|^\s*In \S+ line \d+:")
#: What tools/run_checks.py says of a whole check.
OF_A_CHECK = re.compile(r"^(ok|FAILED|no time) {2,}\S+ +\d")


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    breaks: str
    #: "ctest NAME", "asan-ubsan NAME", "tsan NAME", "pytest FILE", "check NAME"; in this order.
    seen_by: tuple[str, ...]

    def problem(self, root: Path) -> str:
        """Why it cannot be planted, or nothing."""
        path = root / self.file
        count = path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0
        if count != 1:
            return f"{self.file} has the old text {count} times"
        return "" if self.old != self.new else "it changes nothing"


@dataclass(frozen=True)
class Outcome:
    passed: bool
    first_line: str = ""


def all_faults(folder: Path = ROOT / "tests" / "faults") -> list[Fault]:
    return [
        Fault(name, **{**entry, "seen_by": tuple(entry["seen_by"])})
        for path in sorted(folder.glob("*.toml"))
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()
    ]


def commands_of(check: str) -> list[list[str]]:
    """What builds for a check, and the check."""
    kind, _, name = check.partition(" ")
    if kind == "check":
        return [[".venv/bin/python", "tools/run_checks.py", "--only", name]]
    if kind == "pytest":
        pytest = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", name]
        return [["scripts/build.sh", "release", *FOR_PYTHON], pytest]
    preset = PRESETS[kind]
    ctest = ["ctest", "--preset", preset, "--tests-regex", f"^{name}$"]
    return [["scripts/build.sh", preset, f"{name}_test"], ctest]


def run_check(check: str, log: Path) -> Outcome:
    return run(commands_of(check), log, LONGEST_S[check.partition(" ")[0]])


def run_gate(log: Path) -> Outcome:
    return run([["make", "test"], ["make", "check"]], log, LONGEST_GATE_S)


def run(commands: list[list[str]], log: Path, longest_s: float) -> Outcome:
    log.unlink(missing_ok=True)
    deadline = time.monotonic() + longest_s
    for command in commands:
        with log.open("a", encoding="utf-8") as output:
            process = subprocess.Popen(
                command,
                cwd=TREE,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            returned = process.wait(deadline - time.monotonic())
        except BaseException as error:
            end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                return Outcome(False, f"it does not end within {longest_s:.0f} s")
            raise
        if returned != 0:
            return Outcome(False, first_failure(log))
    return Outcome(True)


def environment() -> dict[str, str]:
    """That of `make test`, whatever build this process was started with."""
    ours = {name: value for name, value in os.environ.items() if name != "UNSTARVE_BUILD"}
    release = TREE / "build" / "release"
    ours["PATH"] = f"{release / 'src' / 'cli'}:{ours['PATH']}"
    return {**ours, "PYTHONPATH": str(release / "python")}


def end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def first_failure(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [line for line in lines if not OF_A_CHECK.match(line)]
    found = next((line for line in lines if FIRST_LINE.search(line)), lines[-1] if lines else "")
    return found.strip()[:160]


def make_tree() -> None:
    """The last commit's files; what was built there before stays."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    if (TREE / ".git").exists():
        subprocess.run(
            [
                "git",
                "-C",
                str(TREE),
                "checkout",
                "--quiet",
                "--force",
                "--detach",
                head.stdout.strip(),
            ],
            check=True,
        )
    else:
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(TREE)], check=True)
    if not (TREE / ".venv").exists():
        (TREE / ".venv").symlink_to((ROOT / ".venv").resolve())


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    path = TREE / fault.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(whole, encoding="utf-8")


class Planter:
    def __init__(self, gate: bool) -> None:
        self._gate = gate
        self._sound: dict[str, Outcome] = {}

    def is_caught(self, fault: Fault) -> bool:
        """Prints what became of it."""
        log = FOLDER / f"{fault.name}.log"
        started = time.monotonic()
        caught_by, line = (
            self._gate_sees(fault, log) if self._gate else self._checks_see(fault, log)
        )
        seconds = time.monotonic() - started
        verdict = f"caught by {caught_by}" if caught_by else "NOT CAUGHT"
        print(f"{verdict:<42} {seconds:7.1f} s  {fault.name}: {fault.breaks}")
        if line:
            print(f"    {line}")
        sys.stdout.flush()
        return bool(caught_by)

    def _gate_sees(self, fault: Fault, log: Path) -> tuple[str, str]:
        with planted(fault):
            outcome = run_gate(log)
        return ("", "") if outcome.passed else ("the gate", outcome.first_line)

    def _checks_see(self, fault: Fault, log: Path) -> tuple[str, str]:
        for check in fault.seen_by:
            if check not in self._sound:
                self._sound[check] = run_check(check, FOLDER / "without.log")
            if not self._sound[check].passed:
                sys.exit(f"{check} fails without a fault: {self._sound[check].first_line}")
            with planted(fault):
                outcome = run_check(check, log)
            if not outcome.passed:
                return check, outcome.first_line
        return "", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="of faults; all where none is named")
    parser.add_argument("--list", action="store_true", help="say what there is, plant nothing")
    parser.add_argument("--gate", action="store_true", help="run `make test` and `make check`")
    options = parser.parse_args()
    known = {fault.name: fault for fault in all_faults()}
    if unknown := [name for name in options.names if name not in known]:
        sys.exit(f"no fault named {', '.join(unknown)}; there are: {', '.join(known)}")
    chosen = [known[name] for name in options.names] or list(known.values())
    if options.list:
        for fault in chosen:
            print(f"{fault.name:<34} {', '.join(fault.seen_by):<60} {fault.breaks}")
        return 0
    make_tree()
    if wrong := [f"{fault.name}: {why}" for fault in chosen if (why := fault.problem(TREE))]:
        sys.exit("\n".join(wrong))
    planter = Planter(options.gate)
    caught = sum([planter.is_caught(fault) for fault in chosen])
    print(f"{caught} of {len(chosen)} caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
