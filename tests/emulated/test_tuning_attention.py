"""Back ends of attention: which of them a survey finds to apply, and how one is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, ROOT, Emulation

HOOK = ROOT / "python/unstarve/hook"
JOB = """
import sys, torch
kind = sys.argv[1]
functional = torch.nn.functional
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(256, 3 * 256)
    def forward(self, words):
        queries, keys, values = self.into(words).view(8, 128, 3, 4, 64).permute(2, 0, 3, 1, 4)
        if kind == "none":
            return queries + keys + values
        return functional.scaled_dot_product_attention(queries, keys, values)
model = Net().cuda()
if kind == "own":
    torch.backends.cuda.enable_mem_efficient_sdp(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=kind != "float32"):
        loss = model(torch.randn(8, 128, 256, device="cuda")).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
cuda = torch.backends.cuda
print(cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled())
"""


def ran(
    machine: Emulation, folder: Path, kind: str, asked: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    (folder / "rings").mkdir(exist_ok=True)
    env = {"PYTHONPATH": str(HOOK), "UNSTARVE_RUN_DIR": str(folder)}
    env["UNSTARVE_TUNE"] = json.dumps(asked)
    done = machine.run(PYTHON, "-c", JOB, kind, env=env)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads((folder / "tune.json").read_text())
    return said, done.stdout


@pytest.mark.parametrize(
    ("kind", "flash", "efficient"),
    [
        ("bfloat16", "torch chooses it by itself", None),
        ("float32", "it cannot do what the job asks for", "torch chooses it by itself"),
        ("none", "nothing calls scaled_dot_product_attention", "nothing calls"),
        ("own", "the script chooses among them already", "the script chooses"),
    ],
)
def test_a_survey_knows_which_back_ends_could_do_it(
    emulated: Callable[..., Emulation],
    tmp_path: Path,
    kind: str,
    flash: str,
    efficient: str | None,
) -> None:
    said, _ = ran(emulated("a100"), tmp_path, kind, {"survey": True})
    reasons = said["why_not"]
    assert reasons["sdpa_flash"].startswith(flash), reasons
    if efficient is None:
        assert reasons["sdpa_efficient"] is None and reasons["sdpa_math"] is None
    else:
        assert reasons["sdpa_efficient"].startswith(efficient), reasons


@pytest.mark.parametrize(
    ("lever", "flags"),
    [("sdpa_efficient", "False True True"), ("sdpa_math", "False False True")],
)
def test_a_back_end_is_chosen_for_the_whole_job(
    emulated: Callable[..., Emulation], tmp_path: Path, lever: str, flags: str
) -> None:
    said, printed = ran(emulated("a100"), tmp_path, "bfloat16", {"levers": {lever: {}}})
    assert (said["applied"], said["refused"], printed) == ([lever], {}, flags + "\n")
