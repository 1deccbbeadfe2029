#!/usr/bin/env python3
"""Builds and runs the C++ tests of some rooms of src/ with a preset.

usage: tools/test_rooms.py PRESET ROOM... [--tests TEST-PRESET...]
The test presets are run one after the other (default: the one named PRESET).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from affected import room_of

ROOT = Path(__file__).resolve().parent.parent


def folders_of(rooms: list[str], preset: str) -> list[str]:
    """The folders of the build that hold the programs of these rooms."""
    folders = [room if room in ("tests", "fuzz") else f"src/{room}" for room in rooms]
    build = ROOT / "build" / preset
    return [folder for folder in folders if (build / folder / "CTestTestfile.cmake").exists()]


def tests_of(rooms: list[str], preset: str, test_preset: str) -> list[str]:
    """The names of the tests whose programs belong to these rooms."""
    command = ["ctest", "--preset", test_preset, "--show-only=json-v1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ctest does not list the tests of {test_preset}: {done.stderr or done.stdout}")
    found = []
    for test in json.loads(done.stdout)["tests"]:
        program = Path(test.get("command", [""])[0])
        build = ROOT / "build" / preset
        if build in program.parents and room_of(program.relative_to(build).as_posix()) in rooms:
            found.append(test["name"])
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("preset")
    parser.add_argument("rooms", nargs="+")
    parser.add_argument("--tests", nargs="+", default=[])
    options = parser.parse_args()
    configured = subprocess.run(["scripts/build.sh", options.preset, "--configure-only"], cwd=ROOT)
    if configured.returncode != 0:
        return 1
    folders = folders_of(options.rooms, options.preset)
    if not folders:
        print(f"{options.preset} has no programs of {', '.join(options.rooms)}")
        return 0
    targets = [f"{folder}/all" for folder in folders]
    if subprocess.run(["scripts/build.sh", options.preset, *targets], cwd=ROOT).returncode != 0:
        return 1
    for test_preset in options.tests or [options.preset]:
        names = tests_of(options.rooms, options.preset, test_preset)
        if not names:
            print(f"{test_preset}: no tests of {', '.join(options.rooms)}")
            continue
        chosen = "|".join(re.escape(name) for name in names)
        command = ["ctest", "--preset", test_preset, "-j", "2", "-R", f"^({chosen})$"]
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
