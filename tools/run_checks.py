#!/usr/bin/env python3
"""Runs every check that a change has to pass and says which failed.

All of them run even when one fails. What a check printed is in build/check/NAME.log. With --minutes
a check that has not ended by then is stopped, and it and those behind it count as skipped.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from source_files import project_files

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".venv" / "bin" / "python")
TAIL_LINES = 60
# What says where something failed: of gtest, of the sanitizers, of pytest and of the compilers. Of
# a suite's log the tail alone holds the other tests' names.
FAILURE = re.compile(
    r"\*\*\*(?:Failed|Timeout|Exception|Not Run)|\[  FAILED  \]|: Failure$|runtime error: "
    r"|^\S*(?:ERROR|WARNING|SUMMARY): \w+Sanitizer|^FAILED |\berror: "
)
LINES_AFTER_FAILURE = 8
FAILURE_LINES = 80


@dataclass(frozen=True)
class Check:
    name: str
    what: str
    commands: Callable[[], list[list[str]]]


def files_with(*suffixes: str) -> list[str]:
    paths = project_files(ROOT)
    return [p.relative_to(ROOT).as_posix() for p in paths if p.suffix in suffixes]


def preset_commands(preset: str, *test_presets: str) -> list[list[str]]:
    tests = [["ctest", "--preset", name] for name in test_presets]
    return [["scripts/build.sh", preset], *tests]


def python_commands() -> list[list[str]]:
    suites = ("python", "browser", "emulated", "installed", "starving")
    tests = [f"tests/{suite}" for suite in suites]
    folders = ["python", "examples", "tools", *tests, "bench"]
    typed = [name for name in folders if any((ROOT / name).rglob("*.py"))]
    return [
        [PYTHON, "-m", "ruff", "check", "."],
        [PYTHON, "-m", "ruff", "format", "--check", "."],
        [PYTHON, "-m", "mypy", *typed],
    ]


def format_commands() -> list[list[str]]:
    return [["clang-format", "--dry-run", "-Werror", *files_with(".h", ".cpp")]]


def shell_commands() -> list[list[str]]:
    return [["shellcheck", "-x", *files_with(".sh"), ".ci/run"]]


def tidy_commands() -> list[list[str]]:
    # clang-tidy reads this preset's commands and, since they say -Werror, fails on each warning of
    # clang too, its lock checker's among them; so the preset need not be compiled as well. Tests,
    # which clang-tidy leaves out, are compiled by clang with the same warnings for the sanitizers.
    return [
        ["scripts/build.sh", "clang-thread-safety", "--configure-only"],
        [PYTHON, "tools/run_clang_tidy.py"],
    ]


def layers_commands() -> list[list[str]]:
    return [[PYTHON, "tools/check_layers.py"], [PYTHON, "tools/check_python_layers.py"]]


def torch_commands() -> list[list[str]]:
    # The newest is what `make test` runs with.
    build = ["scripts/build.sh", "release"]
    test = "scripts/test_torch_version.sh"
    return [build, [test, "2.1"], [test, "2.5", "--emulated"], [test, "2.8"]]


def wheel_commands() -> list[list[str]]:
    tests = [PYTHON, "-m", "pytest", "-q", "tests/installed"]
    return [["scripts/build_wheel.sh", PYTHON], tests]


# The quick ones first, so that a slip shows within seconds.
CHECKS = (
    Check("layers", "no #include or import against the layers", layers_commands),
    Check("tidy", "sizes, banners, left-over notes", lambda: [[PYTHON, "tools/check_tidy.py"]]),
    Check("format", "clang-format", format_commands),
    Check("shell", "shellcheck", shell_commands),
    Check("python", "ruff and mypy", python_commands),
    Check(
        "cuda-abi",
        "declarations of CUDA's interfaces against NVIDIA's headers",
        lambda: [[PYTHON, "tools/check_cuda_abi.py"]],
    ),
    Check("wheel", "what pip installs, away from the checkout", wheel_commands),
    # These take the wheel that the check before has made.
    Check("torch-versions", "hook, drop-in, emulated GPU on older PyTorch", torch_commands),
    Check(
        "gcc-debug",
        "gcc with the standard library's assertions",
        lambda: preset_commands("debug", "debug"),
    ),
    Check(
        "asan-ubsan",
        "tests and fuzz corpora under AddressSanitizer and UBSan",
        lambda: preset_commands("asan-ubsan", "asan-ubsan"),
    ),
    Check(
        "tsan",
        "tests under ThreadSanitizer, the stress tests 20 times",
        lambda: preset_commands("tsan", "tsan", "tsan-stress"),
    ),
    # Half an hour where nothing of it is remembered; what it saw before it was stopped is.
    Check("clang-tidy", "clang-tidy, clang's warnings, its lock checker", tidy_commands),
)


class Outcome(Enum):
    PASSED = "ok"
    FAILED = "FAILED"
    OUT_OF_TIME = "no time"


def run(check: Check, log_folder: Path, deadline: float) -> Outcome:
    """Runs one check and prints its line; what it printed goes into its log."""
    log_path = log_folder / f"{check.name}.log"
    started = time.monotonic()
    log_path.unlink(missing_ok=True)
    outcome = Outcome.PASSED
    for command in check.commands():
        outcome = run_command(command, log_path, deadline)
        if outcome is not Outcome.PASSED:
            break
    seconds = time.monotonic() - started
    print(f"{outcome.value:<7} {check.name:<20} {seconds:6.1f} s  {check.what}")
    if outcome is Outcome.FAILED:
        lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(f"    {line}" for line in worth_reading(lines)))
        print(f"    (all of it: {log_path.relative_to(ROOT)})")
    sys.stdout.flush()
    return outcome


def worth_reading(lines: list[str]) -> list[str]:
    """The first lines that say what failed, each with what follows it, then the last lines."""
    first_of_tail = max(0, len(lines) - TAIL_LINES)
    found: list[str] = []
    shown = 0  # up to which line
    for number, line in enumerate(lines[:first_of_tail]):
        if not FAILURE.search(line) or len(found) >= FAILURE_LINES:
            continue
        if number > shown:
            found.append("...")
        end = min(number + 1 + LINES_AFTER_FAILURE, first_of_tail)
        found += lines[max(number, shown) : end]
        shown = end
    return [*found, *(["..."] if first_of_tail > shown else []), *lines[first_of_tail:]]


def run_command(command: list[str], log_path: Path, deadline: float) -> Outcome:
    left = deadline - time.monotonic()
    if left <= 0:
        return Outcome.OUT_OF_TIME
    with log_path.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command[:8])}{' ...' if len(command) > 8 else ''}\n")
        log.flush()
        try:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            log.write(f"cannot run {command[0]}: {error}\n")
            return Outcome.FAILED
        try:
            returned = process.wait(None if left == math.inf else left)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return Outcome.OUT_OF_TIME
            raise
    return Outcome.PASSED if returned == 0 else Outcome.FAILED


def chosen(names: str | None) -> list[Check]:
    if not names:
        return list(CHECKS)
    wanted = names.split(",")
    known = {check.name: check for check in CHECKS}
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"no check named {', '.join(unknown)}; there are: {', '.join(known)}")
    return [known[name] for name in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", help="names of checks, separated by commas")
    parser.add_argument("--minutes", type=float, default=math.inf, help="for all of them")
    options = parser.parse_args()
    checks = chosen(options.only)
    deadline = time.monotonic() + options.minutes * 60
    # Tools of the virtual environment (ruff, mypy) and of the system are found by name.
    os.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    log_folder = ROOT / "build" / "check"
    log_folder.mkdir(parents=True, exist_ok=True)
    outcomes = [run(check, log_folder, deadline) for check in checks]
    passed, failed, skipped = (outcomes.count(outcome) for outcome in Outcome)
    print(f"{passed} passed, {failed} failed{f', {skipped} skipped' if skipped else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
