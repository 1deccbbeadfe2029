"""Traces of several ranks of one job, given together."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from command_line import unstarve

STEPS = 10
MS = 1000  # microseconds


def trace_of(rank: int, ranks: int, wait_ms: float, compute_ms: float) -> dict[str, Any]:
    """Steps of 100 ms: a wait for the loader, compute, and an all-reduce until 5 ms before the end,
    in whose length the rank waits for the others.
    """
    process = 500 + rank
    events: list[dict[str, Any]] = []

    def add(category: str, name: str, start: float, length: float, **arguments: int) -> None:
        device = arguments.pop("device", None)
        where = {"pid": process, "tid": process} if device is None else {"pid": device, "tid": 7}
        args = {"args": {**arguments, "device": device or 0, "stream": 7}}
        event = {"ph": "X", "cat": category, "name": name, "ts": start, "dur": length}
        events.append({**event, **where, **args})

    for step in range(STEPS):
        start = 1000 + step * 100 * MS
        add("user_annotation", f"ProfilerStep#{step}", start, 100 * MS)
        wait = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        if wait_ms:
            add("user_annotation", wait, start, wait_ms * MS)
        at = start + wait_ms * MS
        add("cuda_runtime", "cudaLaunchKernel", at + 5, 5, correlation=2 * step)
        add("kernel", "gemm", at + 20, compute_ms * MS, correlation=2 * step, device=0)
        add("cuda_runtime", "cudaLaunchKernelExC", at + 12, 5, correlation=2 * step + 1)
        begin = at + 20 + compute_ms * MS
        nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        length = start + 95 * MS - begin
        add("kernel", nccl, begin, length, correlation=2 * step + 1, device=0)
        call = "cudaStreamSynchronize"
        add("cuda_runtime", call, at + 30, start + 95 * MS - at, correlation=1000 + step)
    info = {"backend": "nccl", "rank": rank, "world_size": ranks}
    return {"schemaVersion": 1, "distributedInfo": info, "traceEvents": events}


def write(folder: Path, *waits_and_compute: tuple[float, float]) -> list[str]:
    paths = []
    for rank, (wait, compute) in enumerate(waits_and_compute):
        path = folder / f"trace{rank}.json.gz"
        trace = trace_of(rank, len(waits_and_compute), wait, compute)
        path.write_bytes(gzip.compress(json.dumps(trace).encode()))
        paths.append(str(path))
    return paths


def test_the_rank_that_waits_for_its_loader_is_named(tmp_path: Path) -> None:
    paths = write(tmp_path, (0, 20), (0, 20), (60, 20))
    found = json.loads(unstarve("diagnose", "--json", *paths).stdout)
    assert found["input"]["file"] == paths[2]
    each = found["ranks"]["each"]
    assert [row["rank"] for row in each] == [0, 1, 2]
    assert [round(row["communication"], 2) for row in each] == [0.75, 0.75, 0.15]
    late = found["ranks"]["straggler"]
    assert late["at"] == 2
    assert abs(late["late_ratio"] - 0.6) < 0.01
    assert late["because"] == "input_wait"
    assert found["findings"][0]["cause"] == "input_wait"
    verdict = found["verdict"]
    assert verdict.startswith(
        "Rank 2 of 3 is late by 60 % of a step because it waits for its data loader"
    )
    assert "the other ranks wait for it in all-reduce" in verdict
    table = unstarve("diagnose", "--verbose", *paths).stdout
    assert "The ranks beside each other" in table


def test_a_rank_that_computes_longer_is_named(tmp_path: Path) -> None:
    found = json.loads(unstarve("diagnose", "--json", *write(tmp_path, (0, 30), (0, 90))).stdout)
    assert found["verdict"].startswith(
        "Rank 1 of 2 is late by 60 % of a step because its GPU computes longer"
    )
    assert "the other rank waits for it in all-reduce" in found["verdict"]
    # 60 ms of 100 are waited for: between 70 and 40 ms remain.
    assert "the job would be 1.89x faster, 1.43 to 2.50" in found["verdict"]


def test_ranks_that_wait_alike_are_one_report_without_a_late_one(tmp_path: Path) -> None:
    found = json.loads(unstarve("diagnose", "--json", *write(tmp_path, (30, 20), (30, 20))).stdout)
    assert "straggler" not in found["ranks"]
    assert len(found["ranks"]["each"]) == 2


def test_traces_of_different_jobs_stay_apart(tmp_path: Path) -> None:
    one = write(tmp_path, (0, 20), (60, 20))[0]
    done = unstarve("diagnose", "--json", one, one)
    assert done.stdout.count('"schema"') == 2
