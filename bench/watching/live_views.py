#!/usr/bin/env python3
"""CPU that views of a job on a terminal take: `unstarve top`, nvitop and W&B's LEET, in one job.

The job trains on an emulated A100, logs to W&B (offline) at each step, and starts the views itself
one after the other, so that all of them see its GPU: each on a terminal of 120 by 40, for so many
seconds, in an order that changes with each round.

    pip install --target /tmp/views nvitop==1.7.2
    bench/watching/live_views.py --nvitop /tmp/views
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

JOB = """
import fcntl, json, os, pty, select, signal, struct, subprocess, sys, termios, threading, time
import torch, wandb
from torch.utils.data import DataLoader, Dataset

seconds, rounds, unstarve, nvitop = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]

class Slow(Dataset):
    def __len__(self):
        return 10_000_000
    def __getitem__(self, index):
        time.sleep(0.0005)
        return torch.zeros(1024)

def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_s(int(child)) for child in children)

def measured(command, environment):
    parent, child = pty.openpty()
    fcntl.ioctl(parent, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    view = subprocess.Popen(command, stdin=child, stdout=child, stderr=child,
                            env={**os.environ, **environment, "TERM": "xterm-256color"},
                            start_new_session=True)
    os.close(child)
    drawn, begun, ends = 0, None, time.monotonic() + 3 + seconds
    while time.monotonic() < ends:
        if select.select([parent], [], [], 0.2)[0]:
            try:
                drawn += len(os.read(parent, 65536))
            except OSError:
                break
        if begun is None and time.monotonic() > ends - seconds:
            begun = cpu_s(view.pid)  # its start is not counted
    if view.poll() is not None:
        return None
    used = (cpu_s(view.pid) - begun) / seconds
    os.close(parent)
    os.killpg(view.pid, signal.SIGKILL)  # and what it started
    view.wait()
    return {"cores": used, "bytes": drawn}

run = wandb.init(project="p", mode="offline")
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
views = {
    "unstarve top": ([unstarve, "top"], {}),
    "nvitop": ([sys.executable, "-m", "nvitop", "-m", "full"], {"PYTHONPATH": nvitop}),
    "LEET": ([sys.executable, "-m", "wandb", "beta", "leet", os.path.dirname(run.dir)], {}),
}
found = []
def measure():
    time.sleep(10)
    for turn in range(rounds):
        names = list(views)
        for name in names[turn % 3:] + names[:turn % 3]:
            found.append((name, measured(*views[name])))
    over.set()
over = threading.Event()
threading.Thread(target=measure, daemon=True).start()
for rows in DataLoader(Slow(), batch_size=32):
    loss = model(rows.cuda()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    run.log({"loss": 1.0})
    if over.is_set():
        break
print("views " + json.dumps(found))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvitop", required=True, help="a folder that it was installed into")
    parser.add_argument("--seconds", type=float, default=20, help="of each view")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unstarve-views-") as name:
        (Path(name) / "job.py").write_text(JOB)
        words = [str(options.seconds), str(options.rounds), options.unstarve, options.nvitop]
        done = subprocess.run(
            [
                *[options.unstarve, "run", "--emulate", "a100", "--out", "run", "--no-live", "--"],
                *[options.python, "job.py", *words],
            ],
            cwd=name,
            env=dict(os.environ, PYTHONPATH=str(ROOT / "build/release/python")),
            capture_output=True,
            text=True,
            check=False,
        )
    said = [line for line in done.stdout.splitlines() if line.startswith("views ")]
    if not said:
        sys.exit(f"the job did not end:\n{done.stdout}{done.stderr}")
    found = json.loads(said[0].removeprefix("views "))
    for view in dict(found):
        told = [one for name, one in found if name == view]
        if None in told:
            print(f"{view:14} ended by itself")
            continue
        cores = [one["cores"] for one in told]
        written = statistics.median(one["bytes"] for one in told)
        print(
            f"{view:14} {100 * statistics.median(cores):5.2f} % of a core "
            f"({100 * min(cores):.2f} to {100 * max(cores):.2f}), {written / 1e3:.0f} kB drawn"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
