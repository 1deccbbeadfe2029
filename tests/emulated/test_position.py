"""`run --flops`: a job of known operations is placed under the roofs of the emulated GPU."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve
from recorded_runs import recorded

# Three linear layers: forward 2 x batch x in x out each, backward twice that, but for the gradient
# of the first one's input, which nobody asks for. float32 on the ordinary units, bfloat16 by
# autocast (tests/recordings/jobs/multiplies.py).
SIZES = (2048, 4096, 4096, 1024)
BATCH = 256
# Attention forward and backward (2 and 5 products of each pair of tokens, causal: half of them),
# its projections, and a convolution in groups; an optimizer, which multiplies no matrices.
WIDTH, TOKENS, SEQUENCES, CHANNELS = 256, 128, 4, 32
ATTENTION = f"""
import torch
from torch import nn
width, tokens, sequences, channels = {WIDTH}, {TOKENS}, {SEQUENCES}, {CHANNELS}
into, out = nn.Linear(width, 3 * width).cuda().half(), nn.Linear(width, width).cuda().half()
convolution = nn.Conv2d(channels, 2 * channels, 3, stride=2, groups=4).cuda()
layers = [*into.parameters(), *out.parameters(), *convolution.parameters()]
optimizer = torch.optim.AdamW(layers)
x = torch.zeros(sequences, tokens, width, device="cuda", dtype=torch.half)
images = torch.zeros(8, channels, 33, 33, device="cuda")
for step in range(9):
    optimizer.zero_grad()
    q, k, v = into(x).view(sequences, tokens, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
    y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    y = out(y.transpose(1, 2).reshape(sequences, tokens, width))
    (y.float().mean() + convolution(images).mean()).backward()
    optimizer.step()
"""
HALF = (
    (2 * 3 + 3) * 2 * SEQUENCES * TOKENS * WIDTH * WIDTH  # no gradient of x is asked for
    + (2 + 5) * 2 * SEQUENCES * TOKENS * TOKENS * WIDTH // 2
)
CONVOLVED = 2 * 2 * (8 * 2 * CHANNELS * 16 * 16) * (CHANNELS // 4 * 9)
FLOPS = sum(6 * BATCH * i * o for i, o in pairwise(SIZES)) - 2 * BATCH * SIZES[0] * SIZES[1]


def terms(position: dict[str, Any]) -> dict[str, Any]:
    return {term["name"]: term for term in position["terms"]}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def placed(run: Path, cache: Path) -> dict[str, Any]:
    """Where a run lies under the roofs that are kept in `cache`."""
    answer = run.parent / "placed.json"
    env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = unstarve("report", str(run), "--json", str(answer), env=env)
    assert done.returncode == 0, done.stderr
    position: dict[str, Any] = json.loads(answer.read_text())["position"]
    return position


def of_this_machine(run: Path, name: str = platform.node()) -> Path:
    """What is measured of this machine says nothing of another's run."""
    with closing(sqlite3.connect(run / "run.sqlite")) as store, store:
        store.execute("update run set value = ? where key = 'host'", (name,))
    return run


@pytest.mark.parametrize(
    ("run", "dtype"), [("multiplied", "float32"), ("multiplied_bf16", "bfloat16")]
)
def test_the_operations_of_a_step_are_those_of_its_layers(
    run: str, dtype: str, tmp_path: Path
) -> None:
    position = placed(of_this_machine(recorded(run, tmp_path)), tmp_path)
    assert position["flops"]["by_dtype"] == {dtype: pytest.approx(FLOPS, rel=0.01)}
    assert position["flops"]["step"] == 5
    assert position["flops"]["at_least"] is False
    compute = terms(position)["compute"]
    peak = {"float32": 19.5e12, "bfloat16": 312e12}[dtype]
    assert compute["roof"]["value"] == peak
    assert compute["roof"]["source"] == "specification"
    assert compute["least_us"] == pytest.approx(1e6 * FLOPS / peak, rel=0.01)
    assert 0 < position["mfu"]["specification"] <= 1
    assert terms(position)["launches"]["reason"].endswith("`unstarve roofline` does that")


def test_attention_and_convolutions_count_by_their_own_dtypes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ATTENTION)
    options = ["--emulate", "a100", "--no-live", "--flops", "--out", str(tmp_path / "run")]
    options += ["--json", str(tmp_path / "run.json")]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = unstarve("run", *options, "--", PYTHON, str(tmp_path / "train.py"), env=env)
    assert done.returncode == 0, done.stderr
    assert "Trace Observer" not in done.stderr, "torch's log is no part of the job's output"
    position = json.loads((tmp_path / "run.json").read_text())["position"]
    # torch multiplies matrices of float32 without TF32 by default, and convolves with it.
    assert position["flops"]["by_dtype"] == {"float16": HALF, "tf32": CONVOLVED}
    assert position["flops"]["not_counted"] == []


def test_roofs_of_the_emulated_gpu_are_said_to_be_modelled(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    words = ["roofline", "--emulate", "a100", "--only", "gpu", "--seconds", "2", "--python", PYTHON]
    done = unstarve(*words, env=env)
    assert done.returncode == 0, done.stderr
    run = of_this_machine(recorded("multiplied", tmp_path))
    position = placed(run, tmp_path)
    assert position["modelled"] is True
    of_gpu = [terms(position)[name] for name in ("compute", "memory", "h2d", "launches")]
    assert {term["roof"]["source"] for term in of_gpu} == {"modelled"}
    # The durations of an emulated GPU are a model of the same products.
    assert 0.5 < position["mfu"]["measured"] <= 1.02
    assert position["bound"] == "compute"
    copied = terms(position)["h2d"]["amount"]
    assert copied == pytest.approx(4 * BATCH * SIZES[0], rel=0.1)
    shown = unstarve("report", str(run), "--roofline", env=env)
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.splitlines()) <= 20
    assert "O the job: " in shown.stdout
    assert "(modelled)" in shown.stdout

    elsewhere = placed(of_this_machine(run, "elsewhere"), tmp_path)
    assert "another machine's" in elsewhere["notes"][-1]
    assert terms(elsewhere)["compute"]["roof"]["source"] == "specification"


def test_a_trace_has_no_place_under_this_machines_roofs(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [], "schemaVersion": 1}))
    shown = unstarve("report", str(trace), "--roofline")
    assert shown.returncode != 0
    assert shown.stdout == ""


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("multiplied_uncounted", "`unstarve run --flops`"),
        ("multiplied_short", "fewer than 6 steps"),
    ],
)
def test_nothing_is_counted_unasked_or_of_a_short_job(run: str, words: str, tmp_path: Path) -> None:
    position = placed(of_this_machine(recorded(run, tmp_path)), tmp_path)
    assert words in terms(position)["compute"]["reason"]
