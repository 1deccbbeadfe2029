#!/usr/bin/env python3
"""Compiles sources one by one, and keeps nothing: an #include that is missing shows.

usage: tools/compile_alone.py [SOURCE...]   (names from the root; all of them where none is named)
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "alone"


def commands(wanted: set[str]) -> dict[str, list[str]]:
    """How each source is compiled; of those that several programs share, once."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        name = path.relative_to(ROOT).as_posix() if ROOT in path.parents else ""
        if not name.startswith("build/") and (name in wanted if wanted else name):
            words = shlex.split(entry["command"])
            found[name] = [*words[: words.index("-o")], "-fsyntax-only", str(path)]
    return found


def said(command: list[str]) -> str:
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="*")
    found = commands(set(parser.parse_args().sources))
    failed = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for text in pool.map(said, found.values()):
            if text:
                failed += 1
                print(text)
    print(f"{len(found)} sources compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
