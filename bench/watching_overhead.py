"""What watching costs a job: step time and CPU time with and without, in alternating runs.

    bench/watching_overhead.py                                     # the hook by itself
    bench/watching_overhead.py --unstarve build/release/unstarve   # all of `unstarve run`
    bench/watching_overhead.py --unstarve ... --step-ms 1 5 20 45  # steps of about that length

With --unstarve the job steps an emulated A100 over images that lie in its memory, so that the
device and not the loader sets the pace (in the short ones the host does); both runs are emulated.
Each runs for `--seconds`, in which the GPU is recorded for 1 s of 10, as it is after the first 10 s
of a run. Without, it loads an empty batch
and steps a tiny optimizer as fast as it can, and the least CPU time of many short stretches tells
what the hook adds to one wait, fetch and step. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOOK = ROOT / "python" / "unstarve" / "hook"

GPU_JOB = """
import json, sys, time, torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models

class Numbers(Dataset):
    def __len__(self):
        return 1 << 40
    def __getitem__(self, index):
        return index % 1000

torch.set_num_threads(1)
steps, kind, batch = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if kind == "mlp":
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(1000, 1000), torch.nn.ReLU())]
    model, shape = torch.nn.Sequential(*layers).cuda(), (1000,)
else:
    model, shape = getattr(models, kind)().cuda(), (3, 224, 224)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = torch.nn.CrossEntropyLoss()
times, cpu = [], time.thread_time_ns()
images = torch.zeros(batch, *shape, device="cuda")
for labels in DataLoader(Numbers(), batch_size=batch):
    loss = criterion(model(images), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
    times.append(time.monotonic_ns())
    if len(times) == 5:
        cpu = time.thread_time_ns()  # Warm from here on.
    if len(times) == steps + 5:
        break
cpu = time.thread_time_ns() - cpu
result = {"step_ms": (times[-1] - times[4]) / steps / 1e6, "cpu_us": cpu / steps / 1e3}
print("RESULT", json.dumps(result), flush=True)
"""

BARE_JOB = """
import json, sys, time, torch
from torch.utils.data import DataLoader

class Zeros:
    zeros = torch.zeros(3)
    def __len__(self):
        return 1 << 40
    def __getitem__(self, index):
        return self.zeros

torch.set_num_threads(1)
weights = torch.nn.Parameter(torch.zeros(3))
weights.grad = torch.zeros(3)
optimizer = torch.optim.SGD([weights], lr=0.1)
batches = iter(DataLoader(Zeros(), batch_size=2))
costs = []
for _ in range(int(sys.argv[1])):
    before = time.thread_time_ns()
    for _ in range(100):
        next(batches)
        optimizer.step()
    costs.append((time.thread_time_ns() - before) / 100)
print("RESULT", json.dumps({"step_ms": min(costs) / 1e6, "cpu_us": min(costs) / 1e3}))
"""


#: By about how long a step takes: the model and its batch.
SIZES = {1: ("mlp", 8), 5: ("resnet34", 8), 20: ("resnet18", 64), 45: ("resnet18", 150)}


def command_of(kind: str, args: argparse.Namespace, size: int, run_dir: Path) -> list[str]:
    unstarve = args.unstarve
    if unstarve is None:
        return [sys.executable, "-c", BARE_JOB, str(args.stretches)]
    model, batch = SIZES[size]
    steps = str(round(1e3 * args.seconds / size))
    job = [sys.executable, "-c", GPU_JOB, steps, model, str(batch)]
    if kind == "run":
        return [str(unstarve), "run", "--emulate", "a100", "--out", str(run_dir), "--", *job]
    return [str(unstarve), "emulate", "a100", "--", *job]


def measure(kind: str, command: Sequence[str], package: Path, run_dir: Path) -> dict[str, float]:
    path = [str(package)]
    env = {k: v for k, v in os.environ.items() if not k.startswith("UNSTARVE_")}
    env["UNSTARVE_CUPTI"] = "1000/10000"
    if kind == "hook":
        (run_dir / "rings").mkdir(parents=True)
        path.insert(0, str(HOOK))
        env["UNSTARVE_RUN_DIR"] = str(run_dir)
    env["PYTHONPATH"] = os.pathsep.join(path)
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            result: dict[str, float] = json.loads(line.removeprefix("RESULT "))
            return result
    raise SystemExit(f"the {kind} job gave no result (exit {done.returncode}):\n{done.stderr}")


def interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """Median of paired differences with a 95 % bootstrap interval."""
    draw = random.Random(1)
    medians = sorted(
        statistics.median(draw.choices(differences, k=len(differences))) for _ in range(2000)
    )
    return statistics.median(differences), medians[50], medians[1949]


def main() -> None:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--unstarve", type=Path, help="the program; without it, the hook alone")
    package = ROOT / "build" / "release" / "python"
    parser.add_argument("--package", type=Path, default=package, help="folder of the package")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10, help="of each run with --unstarve")
    parser.add_argument("--stretches", type=int, default=200, help="of the hook alone")
    parser.add_argument("--step-ms", type=int, nargs="+", default=[20], choices=list(SIZES))
    args = parser.parse_args()
    for size in args.step_ms:
        compare(args, size)


def compare(args: argparse.Namespace, size: int) -> None:
    """Rounds of both kinds, and what is between them."""
    watched = "hook" if args.unstarve is None else "run"
    step_ratios, cpu_us = [], []
    for number in range(args.rounds):
        results = {}
        kinds = ["plain", watched]
        for kind in kinds if number % 2 else reversed(kinds):
            with tempfile.TemporaryDirectory() as folder:
                run_dir = Path(folder) / "run"
                command = command_of(kind, args, size, run_dir)
                results[kind] = measure(kind, command, args.package, run_dir)
        plain_ms = results["plain"]["step_ms"]
        step_ratios.append(results[watched]["step_ms"] / plain_ms - 1)
        cpu_us.append(results[watched]["cpu_us"] - results["plain"]["cpu_us"])
        print(f"round {number + 1}: {json.dumps(results)}", flush=True)
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    if args.unstarve is not None:
        middle, low, high = (100 * value for value in interval(step_ratios))
        print(
            f"step time, run against plain: {middle:+.3f} % ({low:+.3f} to {high:+.3f}) of "
            f"{plain_ms:.1f} ms"
        )
    middle, low, high = interval(cpu_us)
    print(f"CPU time of the training thread: {middle:+.1f} us a step ({low:+.1f} to {high:+.1f})")


if __name__ == "__main__":
    main()
