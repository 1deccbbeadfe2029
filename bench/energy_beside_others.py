#!/usr/bin/env python3
"""GPU energy of a training by unstarve, by Zeus and by CodeCarbon, in one run on an emulated A100.

Both others read NVML's counter at the ends of a window that the job opens after its first step;
unstarve takes the readings that lie in the training, and knows nothing of the window. CodeCarbon
looks for GPUs when it is imported, before which the job has to use its emulated one, and only where
there is a program `nvidia-smi`: the job gets one that does nothing.

    pip install --target /tmp/others zeus==0.16.0 codecarbon==3.3.2
    bench/energy_beside_others.py --others /tmp/others
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JOULES_PER_KWH = 3.6e6

JOB = """
import sys, time
sys.path.append(sys.argv[1])
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 1_000_000
    def __getitem__(self, index):
        time.sleep(0.0004)
        return torch.zeros(4096)

model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(6)]).cuda()
from codecarbon import OfflineEmissionsTracker
from zeus.monitor import ZeusMonitor
monitor = ZeusMonitor(gpu_indices=[0])
tracker = OfflineEmissionsTracker(
    country_iso_code="FRA", save_to_file=False, log_level="error", measure_power_secs=1
)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step, rows in enumerate(DataLoader(Slow(), batch_size=64)):
    if step == 0:
        tracker.start()  # it takes a second, which is no training yet
    if step == 1:
        tracker.flush()
        before = tracker._total_gpu_energy.kWh
        monitor.begin_window("training")
    loss = model(rows.cuda()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == int(sys.argv[2]):
        break
zeus = monitor.end_window("training").total_energy
tracker.stop()
print("joules", zeus, (tracker.final_emissions_data.gpu_energy - before) * 3.6e6)
"""


def joules(options: argparse.Namespace, folder: Path) -> tuple[float, float, float]:
    """By Zeus, by CodeCarbon, by unstarve."""
    (folder / "job.py").write_text(JOB)
    (folder / "nvidia-smi").write_text("#!/bin/sh\n")
    (folder / "nvidia-smi").chmod(0o755)
    command = [options.unstarve, "run", "--emulate", "a100", "--out", "run", "--json", "d.json"]
    command += ["--", options.python, "job.py", options.others, str(options.steps)]
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "build/release/python"))
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    said = [line for line in done.stdout.splitlines() if line.startswith("joules ")]
    if not said:
        sys.exit(f"the job did not end:\n{done.stdout}{done.stderr}")
    cost = json.loads((folder / "d.json").read_text())["cost"]
    zeus, codecarbon = map(float, said[0].split()[1:])
    return zeus, codecarbon, cost["training"]["kwh"] * JOULES_PER_KWH


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--others", required=True, help="a folder that both were installed into")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory(prefix="unstarve-zeus-") as name:
            zeus, codecarbon, ours = joules(options, Path(name))
        others = {"Zeus": zeus, "CodeCarbon": codecarbon}
        told = [f"{one} {by:.0f} J ({100 * (ours / by - 1):+.1f} %)" for one, by in others.items()]
        print(f"unstarve {ours:.0f} J, " + ", ".join(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
