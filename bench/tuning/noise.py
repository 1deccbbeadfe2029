#!/usr/bin/env python3
"""How often does `unstarve tune` take noise for a gain? Searches in which every lever does nothing.

    bench/tuning/noise.py --searches 14

Each search tunes a training on the CPU whose argument --nothing nobody reads: half, twice and four
times its value are three levers that do nothing. Prints what each seemed to gain, and last how many
of all were taken for gains, kept or proposed. At most 5 % are to be.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNSTARVE = ROOT / "build/release/src/cli/unstarve"
PYTHON = ROOT / ".venv/bin/python"

TRAIN = """
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--nothing", type=int)
parser.parse_args()
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
    torch.nn.Flatten(), torch.nn.Linear(16 * 64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.randn(4096, 3, 32, 32), torch.arange(4096) % 10)
while True:
    for images, labels in torch.utils.data.DataLoader(data, 32, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
"""


def search(folder: Path, seconds: float) -> dict[str, Any]:
    (folder / "train.py").write_text(TRAIN)
    done = subprocess.run(
        [
            *(str(UNSTARVE), "tune", "--trial-seconds", str(seconds), "--budget-minutes", "30"),
            *("--only", "nothing", "--arg", "nothing=--nothing", "--out", "tuned"),
            *("--json", "tuned.json", "--", str(PYTHON), "train.py", "--nothing", "8"),
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    found: dict[str, Any] = json.loads((folder / "tuned.json").read_text())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--searches", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=3, help="of each trial")
    options = parser.parse_args()
    levers = taken = 0
    for number in range(options.searches):
        with tempfile.TemporaryDirectory() as folder:
            found = search(Path(folder), options.seconds)
        row = []
        for lever in found["levers"]:
            gain = lever["speedup"]
            if "speedup" not in gain:
                continue
            levers += 1
            mistaken = lever["kept"] or lever["proposed"]
            taken += mistaken
            row.append(
                f"{lever['id']} {gain['speedup']:.3f} [{gain['low']:.3f}..{gain['high']:.3f}]"
                + (" TAKEN" if mistaken else "")
            )
        print(f"search {number + 1}, noise {found['noise_ratio']:.1%}: {', '.join(row)}")
        sys.stdout.flush()
    print(f"{taken} of {levers} levers that do nothing were taken for gains")
    return 0


if __name__ == "__main__":
    sys.exit(main())
