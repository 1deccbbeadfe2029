"""`run --flops` of a job that trains on the CPU: its place under the CPU's roofs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import environment, unstarve

# A convolution in groups, attention, and linear layers of known sizes; the images of a loader.
BATCH, WIDTH, HEADS, TOKENS = 8, 32, 4, 64
JOB = f"""
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
batch, width, heads = {BATCH}, {WIDTH}, {HEADS}
torch.set_num_threads(1)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(4, width, 4, stride=4, groups=2)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        q, k, v = self.into(x).view(batch, -1, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        x = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(x.transpose(1, 2).flatten(2))
model = Model()
optimizer = torch.optim.AdamW(model.parameters())
for images, in DataLoader(TensorDataset(torch.randn(16 * batch, 4, 32, 32)), batch_size=batch):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=sys.argv[1] == "bfloat16"):
        loss = model(images).float().square().mean()
    loss.backward()
    optimizer.step()
"""
# The images ask for no gradient: of the convolution forward and weights. 2 products of each pair of
# tokens forward and 5 backward, by the fused kernel.
OPERATIONS = (
    2 * 2 * (BATCH * WIDTH * TOKENS) * (4 // 2 * 4 * 4)
    + 3 * 2 * BATCH * TOKENS * WIDTH * (3 * WIDTH + WIDTH)
    + (2 + 5) * 2 * BATCH * TOKENS * TOKENS * WIDTH
)


class Recorded:
    """A run, and roofs to place it under."""

    def __init__(self, folder: Path, dtype: str, *options: str) -> None:
        script = folder / "train.py"
        script.write_text(JOB)
        self.cache = folder / "cache"
        self.run = folder / "run"
        self.env = {**environment(), "XDG_CACHE_HOME": str(self.cache)}
        words = ["--no-live", "--out", str(self.run), *options, "--", sys.executable, str(script)]
        done = unstarve("run", *words, dtype, env=self.env)
        assert done.returncode == 0, done.stderr

    def keep(self, **roofs: float) -> None:
        """`unstarve roofline` says who this machine is; what it reaches is made up."""
        asked = ("roofline", "--only", "memory", "--seconds", "0.2", "--json")
        measured = unstarve(*asked, env=self.env)
        assert measured.returncode == 0, measured.stderr
        (file,) = (self.cache / "unstarve/roofline").glob("*.json")
        document = json.loads(file.read_text())
        document["roofs"] = [
            {
                "name": name.replace("__", "."),
                "value": value,
                "unit": "flop/s" if name.startswith("gemm") else "bytes/s",
                "spread_ratio": 0,
                "measured_s": 1,
                "conditions": {"threads": 2},
            }
            for name, value in roofs.items()
        ]
        document["absent"] = [{"name": "gemm.cpu.bfloat16", "reason": "made up"}]
        file.write_text(json.dumps(document))

    def report(self, *words: str) -> subprocess.CompletedProcess[str]:
        return unstarve("report", str(self.run), *words, env=self.env)

    def position(self) -> dict[str, Any]:
        done = self.report("--json", "-")
        assert done.returncode == 0, done.stderr
        position: dict[str, Any] = json.loads(done.stdout)["position"]
        return position

    def terms(self) -> dict[str, Any]:
        return {term["name"]: term for term in self.position()["terms"]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("cpu"), "float32", "--flops")


def test_operations_are_counted_and_without_roofs_nothing_is_claimed(recorded: Recorded) -> None:
    position = recorded.position()
    assert position["device"] == "cpu"
    assert position["flops"]["by_dtype"] == {"float32": OPERATIONS}
    assert position["flops"]["at_least"] is False
    assert position["flops"]["samples"] == BATCH
    terms = recorded.terms()
    # A CPU whose clock the kernel says has a peak that nobody needs to measure.
    if "absent" in terms["compute"]:
        assert "`unstarve roofline`" in terms["compute"]["reason"]
    else:
        assert terms["compute"]["roof"]["source"] == "specification"
    assert terms["h2d"]["reason"] == terms["launches"]["reason"] == "the job trains on the CPU"
    assert terms["loader"]["amount"] > 0


def test_terms_lie_under_the_roofs_that_are_kept(recorded: Recorded) -> None:
    recorded.keep(gemm__cpu__float32=50e9, memory__copy__2_threads=1e10)
    position = recorded.position()
    assert position["cpu"] != ""
    compute = recorded.terms()["compute"]
    assert compute["roof"] == {
        "name": "gemm.cpu.float32",
        "value": 50e9,
        "unit": "flop/s",
        "source": "measured",
    }
    assert compute["least_us"] == pytest.approx(1e6 * OPERATIONS / 50e9)
    assert position["mfu"]["measured"] == pytest.approx(compute["share"])
    # Whether operands of some hundred kilobytes fit into the caches is the machine's matter.
    assert "caches" in recorded.terms()["memory"].get("reason", "caches")
    assert any("1 of the 2 threads" in note for note in position["notes"])
    text = recorded.report("--verbose").stdout
    assert "Under the roofs: A step takes" in text
    assert "copies to GPU, launches: the job trains on the CPU" in text
    plot = recorded.report("--roofline").stdout
    assert "O the job: " in plot
    assert "float32: 50 GFLOP/s (measured)" in plot
    assert 'class="roofline"' in recorded.report("--html", "-").stdout


def test_what_is_above_its_roof_is_refused(recorded: Recorded) -> None:
    recorded.keep(gemm__cpu__float32=1e3, memory__copy__2_threads=1e10)
    assert "refused as wrong" in recorded.terms()["compute"]["reason"]
    assert "refused as wrong" in recorded.position()["mfu"]["measured"]["reason"]


def test_bfloat16_by_autocast_counts_as_such(tmp_path: Path) -> None:
    job = Recorded(tmp_path, "bfloat16", "--flops")
    assert job.position()["flops"]["by_dtype"] == {"bfloat16": OPERATIONS}
    job.keep(gemm__cpu__float32=1e15)
    compute = job.terms()["compute"]
    assert compute.get("reason", "made up").endswith("made up")


def test_a_job_that_was_not_counted_has_no_place(tmp_path: Path) -> None:
    job = Recorded(tmp_path, "float32")
    done = job.report("--json", "-")
    assert "position" not in json.loads(done.stdout)
    refused = job.report("--roofline")
    assert refused.returncode != 0
    assert "`unstarve run --flops`" in refused.stderr
