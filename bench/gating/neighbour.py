#!/usr/bin/env python3
"""Run a command beside a neighbour that comes and goes, as on a shared host.

The neighbour computes on some cores for a while and is away for a while, again and again; both
last 2 to 20 s, drawn by chance from --seed. The command's exit code is this program's.

    bench/gating/neighbour.py -- unstarve gate --base noisy.json --accept --reason rates \
        --runs 48 --seconds 4 -- python train.py
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import threading

SHORTEST_S, LONGEST_S = 2.0, 20.0


def come_and_go(cores: int, seed: int, ended: threading.Event) -> None:
    draw = random.Random(seed)
    while not ended.wait(draw.uniform(SHORTEST_S, LONGEST_S)):
        neighbours = [
            subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"])
            for _ in range(cores)
        ]
        ended.wait(draw.uniform(SHORTEST_S, LONGEST_S))
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=1, help="that the neighbour keeps busy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("command", nargs="+", help="after --")
    options = parser.parse_args()
    ended = threading.Event()
    neighbour = threading.Thread(target=come_and_go, args=(options.cores, options.seed, ended))
    neighbour.start()
    try:
        return subprocess.run(options.command, check=False).returncode
    finally:
        ended.set()
        neighbour.join()


if __name__ == "__main__":
    sys.exit(main())
