"""Jobs that log into a tracker of others, and what that tracker's own reader finds afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import environment

#: Makes so many steps, or goes on until a file is there; a sample takes so long to make.
JOB = """
import os, sys, time, torch
from torch.utils.data import DataLoader, Dataset

ends, steps, pause_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

class Rows(Dataset):
    def __len__(self):
        return 1_000_000
    def __getitem__(self, index):
        time.sleep(pause_s)
        return torch.full((4,), index % 7 / 7)

{begin}
torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
made = 0
for rows in DataLoader(Rows(), batch_size={batch}):
    loss = model(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {log}
    made += 1
    if made == steps or os.path.exists(ends):
        break
{end}
print("made", made)
"""
BATCH = 4


@dataclass(frozen=True)
class Tracker:
    """Pieces of a job, and a script that prints what is stored (`Stored`) as JSON."""

    begin: str
    log: str
    end: str
    read: str


@dataclass(frozen=True)
class Stored:
    """In one folder: of each run whether it ended well, and the points of each key in order."""

    ended_well: list[bool]
    points: dict[str, list[tuple[int, float]]]
    tags: dict[str, str]

    @property
    def own(self) -> dict[str, list[tuple[int, float]]]:
        """The job's."""
        return {key: points for key, points in self.points.items() if not is_ours(key)}

    @property
    def ours(self) -> dict[str, list[tuple[int, float]]]:
        return {key: points for key, points in self.points.items() if is_ours(key)}


def is_ours(key: str) -> bool:
    return key.startswith("unstarve/")


MLFLOW = Tracker(
    begin="import mlflow\nmlflow.start_run()",
    log='mlflow.log_metric("loss", loss.item(), step=made)',
    end="mlflow.end_run()",
    read="""
import json, mlflow
client = mlflow.MlflowClient()
runs = client.search_runs([one.experiment_id for one in client.search_experiments()])
points = {}
for run in runs:
    for key in run.data.metrics:
        history = client.get_metric_history(run.info.run_id, key)
        points.setdefault(key, []).extend((one.step, one.value) for one in history)
ended = [run.info.status == "FINISHED" for run in runs]
tags = {name: text for run in runs for name, text in run.data.tags.items()}
print(json.dumps([ended, points, tags]))
""",
)

# Its store does not say whether a run goes on.
TRACKIO = Tracker(
    begin='import trackio\ntrackio.init(project="p", embed=False, auto_log_cpu=False)',
    log='trackio.log({"loss": loss.item()})',
    end="trackio.finish()",
    read="""
import json, trackio
from trackio.sqlite_storage import SQLiteStorage
runs = list(trackio.Api().runs("p"))
points = {}
for run in runs:
    for row in SQLiteStorage.get_logs("p", run.name, run_id=run.id):
        for key in row.keys() - {"step", "timestamp"}:
            points.setdefault(key, []).append((row["step"], row[key]))
print(json.dumps([[True for _ in runs], points, {}]))
""",
)

SWANLAB = Tracker(
    begin='import swanlab\nswanlab.init(project="p", mode="offline")',
    log='swanlab.log({"loss": loss.item()})',
    end="swanlab.finish()",
    read="""
import glob, json
from swanlab.proto.swanlab.record.v1.record_pb2 import Record
from swanlab.proto.swanlab.run.v1 import run_pb2
from swanlab.sdk.internal.core_python.store import DataStoreReader
ended, points = [], {}
for file in glob.glob("swanlog/run-*/run-*.swanlab"):
    reader = DataStoreReader()
    reader.open(file)
    ended.append(False)
    for stored in reader:
        record = Record.FromString(stored)
        if record.HasField("finish"):
            ended[-1] = record.finish.state == run_pb2.RUN_STATE_FINISHED
        if record.HasField("scalar") and not record.scalar.key.startswith("__"):
            one = record.scalar
            points.setdefault(one.key, []).append((one.step, one.value.number))
    reader.close()
print(json.dumps([ended, points, {}]))
""",
)

TRACKERS = {"MLflow": MLFLOW, "Trackio": TRACKIO, "SwanLab": SWANLAB}


def script_of(tracker: Tracker) -> str:
    return JOB.format(begin=tracker.begin, log=tracker.log, end=tracker.end, batch=BATCH)


def environment_in(folder: Path) -> dict[str, str]:
    """Each tracker stores below this folder, and asks nobody."""
    return environment() | {
        "HOME": str(folder),
        "TRACKIO_DIR": str(folder / "trackio"),
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING": "false",
        "SWANLAB_MODE": "offline",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }


def stored_in(folder: Path, tracker: Tracker) -> Stored:
    """As the tracker's own reader finds it, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", tracker.read],
        cwd=folder,
        env=environment_in(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    told: tuple[list[bool], dict[str, Any], dict[str, str]] = json.loads(
        done.stdout.splitlines()[-1]
    )
    ended, points, tags = told
    return Stored(ended, {k: [(s, v) for s, v in one] for k, one in points.items()}, tags)


def read_tracked(run: Path) -> dict[str, Any] | None:
    """What the watcher wrote last for the tracker, where it has."""
    try:
        told: dict[str, Any] = json.loads((run / "tracked.json").read_text())
    except FileNotFoundError:
        return None
    return told
