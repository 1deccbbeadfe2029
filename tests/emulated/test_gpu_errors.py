"""Errors that a GPU reports (XID), and a GPU that is split by MIG: what unstarve and others say."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, UNSTARVE, machine, unstarve

# Trains some steps; then the GPU reports errors, and the job ends as it is told.
TRAIN = """
import os, sys, time, torch
how, *errors = sys.argv[1:]
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.zeros(320, 64), 8)
for step, batch in enumerate(data):
    model(batch.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 29:
        with open(os.environ["UNSTARVE_EMULATED_ERRORS"], "a") as file:
            file.write("".join(f"0 {xid}\\n" for xid in errors))
        if how == "abort":
            os.abort()
        time.sleep(1)  # whoever looks ten times a second has seen them before the next step
torch.cuda.synchronize()
"""

LISTEN = """
import os, sys, pynvml
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(1)
print(pynvml.nvmlDeviceGetSupportedEventTypes(gpu))
if not os.environ.get("UNSTARVE_EMULATED_ERRORS"):
    sys.exit()
file = open(os.environ["UNSTARVE_EMULATED_ERRORS"], "a", buffering=1)
file.write("1 13\\n")  # before anybody listens
events = pynvml.nvmlEventSetCreate()
pynvml.nvmlDeviceRegisterEvents(gpu, pynvml.nvmlEventTypeXidCriticalError, events)
file.write("0 48\\nnonsense\\n1 79\\n1 9")  # of the other GPU; not yet at its end
wait = getattr(pynvml, "nvmlEventSetWait_v2", None) or pynvml.nvmlEventSetWait
event = wait(events, 2000)
print(event.eventType, event.eventData)
try:
    wait(events, 30)
except pynvml.NVMLError_Timeout:
    print("timeout")
file.write("4\\n")
print(wait(events, 0).eventData)
pynvml.nvmlEventSetFree(events)
"""


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, Path]:
    monkeypatch.setenv("UNSTARVE_EMULATED_ERRORS", str(tmp_path / "errors"))
    (tmp_path / "train.py").write_text(TRAIN)
    out = tmp_path / "run"
    options = ["--emulate", "a100", "--out", out, "--json", tmp_path / "diagnosis.json"]
    job = [PYTHON, tmp_path / "train.py", *words]
    done = unstarve("run", *map(str, options), "--", *map(str, job))
    return done.returncode, done.stdout + done.stderr, out


def diagnosis_of(out: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((out.parent / "diagnosis.json").read_text())
    return answers


def test_an_error_that_a_job_survives_is_said_with_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text, out = run(tmp_path, monkeypatch, "go on", "94")
    assert code == 0, text
    words = " ".join(text.split())
    assert "unstarve: GPU 0 reported error XID 94 (contained memory error) " in words, "at once"
    assert "GPU 0 reported error XID 94 (contained memory error) after step" in words
    (error,) = diagnosis_of(out)["gpu_errors"]
    assert error["xid"] == 94
    assert error["count"] == 1
    assert error["after_steps"] == 30
    store = sqlite3.connect(out / "run.sqlite")
    assert store.execute("select idx, xid from gpu_error").fetchall() == [(0, 94)]
    counts = store.execute(
        "select value from sample join metric on metric.id = sample.metric_id"
        " where name = 'gpu.xid_errors' order by t_ns"
    ).fetchall()
    assert counts[0] == (0,)
    assert counts[-1] == (1,)


def test_an_error_that_ends_a_job_stands_in_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text, out = run(tmp_path, monkeypatch, "abort", "31", "43", "31")
    assert code == 134, text
    words = " ".join(text.split())
    assert "The job ended by SIGABRT after 29 steps" in words or "after 30 steps" in words
    assert "; GPU 0 reported XID 31 (GPU memory page fault)." in words
    errors = diagnosis_of(out)["gpu_errors"]
    assert [(each["xid"], each["count"]) for each in errors] == [(31, 2), (43, 1)]
    again = unstarve("report", str(out))
    assert "reported error XID 31" in " ".join(again.stdout.split())


def test_others_tools_hear_of_errors_too(tmp_path: Path) -> None:
    with machine("a100", "--gpus", "2") as emulation:
        silent = emulation.python(LISTEN)
        assert silent.split() == ["0"]
        emulation.environment["UNSTARVE_EMULATED_ERRORS"] = str(tmp_path / "errors")
        assert emulation.python(LISTEN).split("\n")[:4] == ["8", "8 79", "timeout", "94"]


MIG = """
import json, pynvml
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
answers = {"mode": pynvml.nvmlDeviceGetMigMode(gpu), "instances": []}
for i in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(gpu)):
    instance = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, i)
    is_instance = pynvml.nvmlDeviceIsMigDeviceHandle(instance)
    attributes = pynvml.nvmlDeviceGetAttributes(instance)
    answers["instances"].append({
        "name": pynvml.nvmlDeviceGetName(instance), "uuid": pynvml.nvmlDeviceGetUUID(instance),
        "slices": attributes.gpuInstanceSliceCount, "mib": attributes.memorySizeMB,
        "total": pynvml.nvmlDeviceGetMemoryInfo(instance).total,
        "is": getattr(is_instance, "value", is_instance),
        "by_uuid": pynvml.nvmlDeviceGetName(
            pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(instance))),
        "of": pynvml.nvmlDeviceGetUUID(
            pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance)),
    })
try:
    pynvml.nvmlDeviceGetUtilizationRates(gpu)
except pynvml.NVMLError_NotSupported:
    answers["utilization"] = "not supported"
answers["uuid"] = pynvml.nvmlDeviceGetUUID(gpu)
print(json.dumps(answers))
"""


def test_a_gpu_is_split_where_it_is_said_to_be() -> None:
    with machine("a100") as emulation:
        whole = json.loads(emulation.python(MIG))
        assert whole["mode"] == [0, 0]
        assert whole["instances"] == []
        assert "utilization" not in whole
        emulation.environment["UNSTARVE_EMULATED_MIG"] = "3,2,1"
        split = json.loads(emulation.python(MIG))
    assert split["mode"] == [1, 1]
    assert split["utilization"] == "not supported"
    assert [each["slices"] for each in split["instances"]] == [3, 2, 1]
    assert len({each["uuid"] for each in split["instances"]}) == 3
    for each in split["instances"]:
        assert each["total"] == each["mib"] << 20
        assert each["uuid"].startswith("MIG-")
        assert each["is"] == 1
        assert each["by_uuid"] == each["name"]
        assert each["of"] == split["uuid"]
    assert "MIG 3g.40gb" in split["instances"][0]["name"]


def doctor(environment: dict[str, str]) -> str:
    words = [str(UNSTARVE), "doctor", "--python", PYTHON]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return " ".join(done.stdout.split())


def test_the_doctor_tells_the_mode_and_the_instances() -> None:
    with machine("a100") as emulation:
        environment = emulation.environment
        assert "GPU 0 MIG off" in doctor(environment)
        environment["UNSTARVE_EMULATED_MIG"] = "3,1"
        uuid = json.loads(emulation.python(MIG))["instances"][1]["uuid"]
        environment["CUDA_VISIBLE_DEVICES"] = uuid
        text = doctor(environment)
    assert "GPU 0 MIG on, 2 instances" in text
    assert "GPU 0 instance 0 MIG-" in text
    assert f"GPU 0 instance 1 {uuid}, 1 of 7 slices, 10.6 GB (a job started here gets it)" in text
    assert "the GPU is in MIG mode" in text
    assert "none GPU 0 errors (XID) not_supported" in text


SECOND = "MIG-756e7374-6172-7665-2d65-6d7500020000"


@pytest.mark.parametrize("visible", [None, SECOND])
def test_a_run_on_an_instance_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None
) -> None:
    monkeypatch.setenv("UNSTARVE_EMULATED_MIG", "2,1")
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    (tmp_path / "job.py").write_text("import time; time.sleep(1.5)")
    out = tmp_path / "run"
    words = ["run", "--emulate", "a100", "--out", str(out), "--json", str(tmp_path / "d.json")]
    done = unstarve(*words, "--", PYTHON, str(tmp_path / "job.py"))
    text = " ".join(done.stderr.split())
    assert "GPU 0 is in MIG mode" in text
    name = "Emulated NVIDIA A100-SXM4-80GB MIG 1g.10gb"
    assert f"memory is that of {name if visible else 'the whole GPU'}" in text
    store = sqlite3.connect(out / "run.sqlite")
    assert store.execute(
        "select distinct absent from sample join metric on metric.id = sample.metric_id"
        " where name = 'gpu.utilization_ratio'"
    ).fetchall() == [("not_supported",)]
    (said,) = store.execute("select value from run where key = 'mig'").fetchone()
    instance = {"name": name, "uuid": SECOND} if visible else {}
    assert json.loads(said) == [{"gpu": 0, "instances": 2, **instance}]
    (total,) = store.execute("select total_memory_bytes from device").fetchone()
    assert (total < 11e9) == bool(visible)
