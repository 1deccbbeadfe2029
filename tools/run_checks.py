#!/usr/bin/env python3
"""Runs the checks that a change has to pass and says which failed.

All of them run even when one fails. What a check printed is in build/check/NAME.log. A check runs
where something that it looks at has changed since it last passed (tools/affected.py); with
--nightly or --only it looks at everything, and where it passed, .ci/passed names the commit for it.
A check that had to run and did not, for want of time, is a failure.
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

from affected import PASSED, Change, git, passed_commits
from source_files import project_files

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".venv" / "bin" / "python")
LOGS = ROOT / "build" / "check"
TAIL_LINES = 60
# What says where something failed: of gtest, of the sanitizers, of pytest and of the compilers. Of
# a suite's log the tail alone holds the other tests' names.
FAILURE = re.compile(
    r"\*\*\*(?:Failed|Timeout|Exception|Not Run)|\[  FAILED  \]|: Failure$|runtime error: "
    r"|^\S*(?:ERROR|WARNING|SUMMARY): \w+Sanitizer|^FAILED |\berror: "
)
LINES_AFTER_FAILURE = 8
FAILURE_LINES = 80
# Of each target, every night: long runs are `make fuzz`.
FUZZ_SECONDS = "20"
# Every night others, each for both commands: ten thousand are tools/try_mutations.py by itself.
MUTATIONS = "1000"


Commands = list[list[str]]


def everywhere(change: Change) -> bool:
    return True


def nightly_alone(change: Change) -> bool:
    return change.files is None


def where(*patterns: str) -> Callable[[Change], bool]:
    """Where a file of such a name has changed."""
    return lambda change: change.touches(*patterns)


@dataclass(frozen=True)
class Check:
    """`concerned`: whether a change may break it; `commands`: none where nothing is left to do."""

    name: str
    what: str
    commands: Callable[[Change], Commands]
    concerned: Callable[[Change], bool] = everywhere


def files_with(*suffixes: str) -> list[str]:
    paths = project_files(ROOT)
    return [p.relative_to(ROOT).as_posix() for p in paths if p.suffix in suffixes]


def room_commands(change: Change, preset: str, *test_presets: str) -> Commands:
    """The tests of the rooms that the change concerns."""
    rooms = sorted(change.rooms)
    tests = ["--tests", *test_presets] if test_presets else []
    return [[PYTHON, "tools/test_rooms.py", preset, *rooms, *tests]] if rooms else []


def python_commands(change: Change) -> Commands:
    suites = ("python", "browser", "emulated", "installed", "other_programs", "starving")
    tests = [f"tests/{suite}" for suite in suites]
    folders = ["python", "src", "examples", "tools", *tests, "tests/recordings", "bench"]
    typed = [name for name in folders if any((ROOT / name).rglob("*.py"))]
    return [
        [PYTHON, "-m", "ruff", "check", "."],
        [PYTHON, "-m", "ruff", "format", "--check", "."],
        [PYTHON, "-m", "mypy", *typed],
    ]


def format_commands(change: Change) -> Commands:
    return [["clang-format", "--dry-run", "-Werror", *files_with(".h", ".cpp")]]


def shell_commands(change: Change) -> Commands:
    return [["shellcheck", "-x", *files_with(".sh"), ".ci/run"]]


def tidy_commands(change: Change) -> Commands:
    # clang-tidy reads this preset's commands and, since they say -Werror, fails on each warning of
    # clang too, its lock checker's among them; so the preset need not be compiled as well. Tests,
    # which clang-tidy leaves out, are compiled by clang with the same warnings for the sanitizers.
    if change.files is None or change.touches("*.clang-tidy", "tools/run_clang_tidy.py"):
        sources = []
    elif change.alone:
        sources = ["--of", *change.alone]
    else:
        return []
    return [
        ["scripts/build.sh", "clang-thread-safety", "--configure-only"],
        [PYTHON, "tools/run_clang_tidy.py", *sources],
    ]


def alone_commands(change: Change) -> Commands:
    # A folder's sources are compiled as one unit elsewhere, where one may live on what another
    # includes.
    if not change.alone:
        return []
    return [
        ["scripts/build.sh", "alone", "--configure-only"],
        [PYTHON, "tools/compile_alone.py", *([] if change.files is None else change.alone)],
    ]


def layers_commands(change: Change) -> Commands:
    return [[PYTHON, "tools/check_layers.py"], [PYTHON, "tools/check_python_layers.py"]]


def torch_commands(change: Change) -> Commands:
    # The newest is what `make test` runs with.
    build = ["scripts/build.sh", "release"]
    test = "scripts/test_torch_version.sh"
    return [build, [test, "2.1"], [test, "2.5", "--emulated"], [test, "2.8"]]


def other_programs_commands(change: Change) -> Commands:
    return [["scripts/build.sh", "release"], ["scripts/test_other_programs.sh"]]


def installed_commands(change: Change) -> Commands:
    tests = [PYTHON, "-m", "pytest", "-q", "tests/installed/test_installed.py"]
    return [["scripts/build.sh", "release"], tests]


def wheel_commands(change: Change) -> Commands:
    tests = ["env", "UNSTARVE_INSTALLED=wheel", PYTHON, "-m", "pytest", "-q", "tests/installed"]
    return [["scripts/build_wheel.sh", PYTHON], tests]


def stories_commands(change: Change) -> Commands:
    tests = ["scripts/pytest.sh", "-m", "nightly", "tests/python", "tests/emulated"]
    return [["scripts/build.sh", "release"], ["env", "PYTHONPATH=build/release/python", *tests]]


def fuzz_commands(change: Change) -> Commands:
    return [["scripts/build.sh", "fuzz"], ["scripts/fuzz.sh", FUZZ_SECONDS]]


def mutations_commands(change: Change) -> Commands:
    tries = [PYTHON, "tools/try_mutations.py", "--count", MUTATIONS]
    return [["scripts/build.sh", "release", "unstarve"], tries]


# The quick ones first, so that a slip shows within seconds.
CHECKS = (
    Check("layers", "no #include or import against the layers", layers_commands),
    Check("tidy", "sizes, banners, left-over notes", lambda _: [[PYTHON, "tools/check_tidy.py"]]),
    Check(
        "language",
        "documents that are easy to read",
        lambda _: [[PYTHON, "tools/check_language.py"]],
    ),
    Check(
        "commits",
        "messages that say what and why",
        lambda _: [[PYTHON, "tools/check_commits.py"]],
    ),
    Check("format", "clang-format", format_commands),
    Check("shell", "shellcheck", shell_commands),
    Check("python", "ruff and mypy", python_commands),
    Check(
        "cuda-abi",
        "declarations of CUDA's interfaces against NVIDIA's headers",
        lambda _: [[PYTHON, "tools/check_cuda_abi.py"]],
        where(
            "src/device/*",
            "src/emulated/*",
            "src/base/cupti*",
            "tools/check_cuda_abi.py",
            "requirements/cuda*",
        ),
    ),
    Check("installed", "what `cmake --install` puts somewhere works there", installed_commands),
    Check("clang-tidy", "clang-tidy, clang's warnings, its lock checker", tidy_commands),
    Check("alone", "each source includes what it uses", alone_commands),
    Check(
        "asan-ubsan",
        "tests and fuzz corpora under AddressSanitizer and UBSan",
        lambda change: room_commands(change, "asan-ubsan"),
    ),
    Check(
        "tsan",
        "tests under ThreadSanitizer, the stress tests 20 times",
        lambda change: room_commands(change, "tsan", "tsan", "tsan-stress"),
    ),
    Check(
        "wheel",
        "what pip installs, away from the checkout",
        wheel_commands,
        where(
            *("pyproject.toml", "CMakeLists.txt", "src/*/CMakeLists.txt", "cmake/*"),
            *("scripts/build_wheel.sh", "scripts/fetch_dependencies.sh", "scripts/own_apt.sh"),
            *("requirements/wheel.txt", "requirements/bundled.txt", "requirements/build.txt"),
            "tests/installed/*",
        ),
    ),
    # These take the wheel that the check before has made.
    Check(
        "torch-versions",
        "hook, drop-in, emulated GPU on older PyTorch",
        torch_commands,
        where(
            *("python/*", "src/binding/*", "src/emulated/*", "requirements/torch-*"),
            *("scripts/test_torch_version.sh", "tools/cuda_stand_ins.py"),
        ),
    ),
    Check(
        "other-programs",
        "MLflow, Trackio, SwanLab, Prometheus and tmux beside us",
        other_programs_commands,
        where(
            *("src/sink/*", "src/serve/*", "src/report/live/*", "src/cli/console/*"),
            *("src/cli/commands/run.cpp", "src/cli/commands/live/*"),
            *("python/unstarve/hook/*", "tests/other_programs/*", "tests/python/command_line.py"),
            *("tests/python/dashboards.py", "scripts/test_other_programs.sh", "scripts/own_apt.sh"),
            "requirements/other-programs.txt",
        ),
    ),
    Check("stories", "tests that take long for what they show", stories_commands, nightly_alone),
    Check(
        "gcc-debug",
        "gcc with the standard library's assertions",
        lambda change: room_commands(change, "debug"),
        nightly_alone,
    ),
    Check(
        "conformance",
        "PyTorch's own tests of DataLoader",
        lambda _: [["scripts/conformance.sh"]],
        nightly_alone,
    ),
    Check("fuzz", f"every fuzz target for {FUZZ_SECONDS} s", fuzz_commands, nightly_alone),
    Check(
        "mutations",
        f"{MUTATIONS} recordings, changed at random, are read or refused",
        mutations_commands,
        nightly_alone,
    ),
)


class Outcome(Enum):
    PASSED = "ok"
    FAILED = "FAILED"
    OUT_OF_TIME = "no time"
    UNCONCERNED = "as was"  # nothing that it looks at has changed since it last passed


def run(check: Check, change: Change, deadline: float) -> Outcome:
    """Runs one check and prints its line; what it printed goes into its log."""
    log_path = LOGS / f"{check.name}.log"
    started = time.monotonic()
    log_path.unlink(missing_ok=True)
    commands = check.commands(change) if check.concerned(change) else []
    outcome = Outcome.PASSED if commands else Outcome.UNCONCERNED
    for command in commands:
        outcome = run_command(command, log_path, deadline)
        if outcome is not Outcome.PASSED:
            break
    seconds = time.monotonic() - started
    since = "on everything" if change.since is None else f"since {change.since[:12]}"
    print(f"{outcome.value:<7} {check.name:<20} {seconds:6.1f} s  {check.what}, {since}")
    if outcome in (Outcome.FAILED, Outcome.OUT_OF_TIME) and log_path.exists():
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


def remember(check: Check, commit: str) -> None:
    """Names the commit at which a check has passed on everything."""
    every = passed_commits(ROOT) | {check.name: commit}
    lines = [f"{c.name} {every[c.name]}\n" for c in CHECKS if c.name in every]
    (ROOT / PASSED).write_text("".join(lines), encoding="utf-8")


def clean_commit() -> str | None:
    """The commit that the files are of, if they are of one."""
    if git(ROOT, "status", "--porcelain", "--", ".", f":!{PASSED}") != "":
        return None
    return (git(ROOT, "rev-parse", "HEAD") or "").strip() or None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--only", help="names of checks, separated by commas; all that they look at"
    )
    parser.add_argument("--nightly", action="store_true", help="everything, whatever has changed")
    parser.add_argument("--minutes", type=float, default=math.inf, help="more is a failure")
    options = parser.parse_args()
    checks = chosen(options.only)
    everything = options.nightly or bool(options.only)
    commit = clean_commit() if everything else None
    deadline = time.monotonic() + options.minutes * 60
    # Tools of the virtual environment (ruff, mypy) and of the system are found by name.
    os.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes = []
    remembered = 0
    for check in checks:
        change = Change.since_commit(ROOT, None) if everything else Change.of(ROOT, check.name)
        outcomes.append(run(check, change, deadline))
        if commit and outcomes[-1] is Outcome.PASSED and commit == clean_commit():
            remember(check, commit)
            remembered += 1
    passed, failed, late, unconcerned = (outcomes.count(outcome) for outcome in Outcome)
    if unconcerned:
        print(f"{unconcerned} look at nothing that has changed; `make nightly` runs them")
    if everything:
        where_at = f"{commit[:12]} for {remembered} checks: commit it" if commit else "nothing new"
        why = "" if commit else ", since files differ from the last commit"
        print(f"{PASSED} names {where_at}{why}")
    print(f"{passed} passed, {failed + late} failed, 0 skipped")
    return 1 if failed or late else 0


if __name__ == "__main__":
    sys.exit(main())
